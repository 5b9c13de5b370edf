import { Message, type Session } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { known, sessionOf } from "../../test/facts.js"
import { factId } from "../identity.js"
import type { Places } from "../places.js"
import { makeIndexes } from "./Indexes.js"
import { select } from "./recall.js"

type Facts = ReadonlyArray<Session.KnownFact>

const recall = (
  question: string | null,
  {
    own = [],
    user = null,
    scope = null,
  }: { readonly own?: Facts; readonly user?: Facts | null; readonly scope?: Facts | null },
  {
    state = sessionOf([]),
    most = { user: 20, scope: 10 },
    time = Number.POSITIVE_INFINITY,
    showPast = false,
    unconfirmedSessions = 100,
  } = {},
) => {
  const places: Places = {
    own: { log: "s", facts: own },
    user: user === null ? null : { log: "u", facts: user },
    scope: scope === null ? null : { log: "p", facts: scope },
  }
  const current = question === null ? null : Message.user(question)
  const asked = { time, total: state.total }
  const found = select(state, { current, asked, orLater: true }, places, makeIndexes(1_000), {
    mostUser: most.user,
    mostScope: most.scope,
    showPast,
    unconfirmedSessions,
  })
  return {
    user: found.user.map(({ id }) => id),
    scope: found.scope.map(({ id }) => id),
    texts: found.user.map(({ text }) => text),
  }
}

const profile = (id: string, text: string) => known(id, text, { layer: "user", kind: "profile" })
const preference = (id: string, text: string) => known(id, text, { layer: "user", kind: "preference" })
const instruction = (id: string, text: string) => known(id, text, { layer: "user", kind: "instruction" })

describe("select", () => {
  it("puts what always holds first, whatever the question is, and then what fits it", () => {
    const own = [
      preference("tea", "Likes: green tea"),
      instruction("french", "Answer in French"),
      profile("name", "Name: Ada"),
      preference("tabs", "Prefers: tabs over spaces"),
      profile("place", "Lives in: Graz"),
    ]
    expect(recall("Which tea do I want?", { own }).user).toEqual(["name", "place", "french", "tea"])
    expect(recall("Something else entirely", { own }).user).toEqual(["name", "place", "french"])
  })

  it("keeps within its limits: the newest of what always holds, and who the user is before what they ask", () => {
    const own = [
      profile("p1", "Name: Ada"),
      instruction("i1", "Answer in French"),
      profile("p2", "Lives in: Graz"),
      instruction("i2", "Answer briefly"),
      preference("tea", "Likes: tea"),
    ]
    expect(recall("tea", { own }, { most: { user: 1, scope: 1 } }).user).toEqual(["p2"])
    expect(recall("tea", { own }, { most: { user: 3, scope: 1 } }).user).toEqual(["p1", "p2", "i2"])
    expect(recall("tea", { own }, { most: { user: 5, scope: 1 } }).user).toEqual([
      "p1",
      "p2",
      "i1",
      "i2",
      "tea",
    ])
    expect(recall("tea", { own }, { most: { user: 0, scope: 0 } })).toMatchObject({ user: [], scope: [] })
  })

  it("orders by relevance, the newer first among equals, the same every time", () => {
    const scope = [
      known("old", "How to deploy → run the script"),
      known("none", "Bread → flour and water"),
      known("new", "How to deploy → run the script"),
      known("best", "deploy deploy to staging"),
    ]
    expect(recall("deploy to staging", { scope }).scope).toEqual(["best", "new", "old"])
    expect(recall("deploy to staging", { scope }, { most: { user: 1, scope: 2 } }).scope).toEqual([
      "best",
      "new",
    ])
  })

  it("takes the newest, oldest first, where there is no question or none with a word in it", () => {
    const scope = [known("a", "one thing"), known("b", "another thing"), known("c", "a third thing")]
    for (const question of [null, "", "👍", "what is that?", "好的，谢谢"]) {
      expect(recall(question, { scope }, { most: { user: 1, scope: 2 } }).scope).toEqual(["b", "c"])
    }
  })

  it("works for Chinese as for English", () => {
    const scope = [
      known("db", "数据库怎么备份 → 每天凌晨用脚本备份到对象存储"),
      known("tea", "推荐一种绿茶 → 龙井"),
      known("deploy", "如何部署到测试环境 → 运行部署脚本"),
    ]
    expect(recall("备份的脚本放在哪", { scope }).scope[0]).toBe("db")
    expect(recall("想喝绿茶", { scope }).scope).toEqual(["tea"])
  })

  it("searches a long message at its beginning and its end", () => {
    const scope = [known("start", "zebra"), known("middle", "giraffe"), known("end", "lion")]
    const padding = "filler words ".repeat(400)
    expect(recall(`zebra ${padding} giraffe ${padding} lion`, { scope }).scope.toSorted()).toEqual([
      "end",
      "start",
    ])
  })

  it("merges the own log and the shared one: a newer fact of the same key stands for the older", () => {
    const own = [profile("own", "Name: Ada"), { ...profile("key", "Lives in: Graz"), key: "place" }]
    const user = [
      { ...profile("newer", "Lives in: Vienna"), key: "place", time: 5 },
      { ...known("stray", "of another layer"), time: 6 },
    ]
    expect(recall("x", { own, user }).user).toEqual(["own", "newer"])
  })

  it("shows what is true at the time, and marks what is no longer true if it is to be shown", () => {
    const at = (fact: Session.KnownFact, validFrom: number, validUntil?: number): Session.KnownFact => ({
      ...fact,
      validFrom,
      ...(validUntil === undefined ? {} : { validUntil }),
      sources: [{ session: "s", event: 1, quote: fact.text }],
    })
    const day = (date: string) => Date.parse(date)
    const own = [
      at(preference("green", "Likes: green tea"), day("2024-01-01"), day("2024-06-01")),
      at(preference("black", "Likes: black tea"), day("2024-06-01")),
      at(preference("later", "Likes: iced tea"), day("2026-01-01")),
      at(profile("graz", "Lives in: Graz"), day("2023-01-01"), day("2024-03-01")),
      at(profile("vienna", "Lives in: Vienna"), day("2024-03-01")),
    ]
    const recalled = (date: string, showPast: boolean) =>
      recall("Which tea do I like?", { own }, { time: day(date), showPast }).texts
    expect(recalled("2024-02-01", false)).toEqual(["Lives in: Graz", "Likes: green tea"])
    expect(recalled("2025-01-01", false)).toEqual(["Lives in: Vienna", "Likes: black tea"])
    expect(recalled("2025-01-01", true)).toEqual([
      "Lives in: Vienna",
      "Likes: black tea",
      "Likes: green tea (no longer true since 2024-06-01)",
    ])
  })

  it("leaves out what nobody has said again for many sessions, unless it fits or was confirmed", () => {
    const saidIn = (fact: Session.KnownFact, time: number, ...sessions: ReadonlyArray<string>) => ({
      ...fact,
      time,
      sources: sessions.map((session) => ({ session, event: 1, quote: fact.text })),
    })
    const own = [
      saidIn(profile("old", "Works in: Graz"), 1, "a"),
      { ...saidIn(profile("judged", "Name: Ada"), 1, "a"), confirmed: true },
      saidIn(profile("again", "Lives in: Linz"), 2, "a", "d"),
      saidIn(instruction("b", "Answer in French"), 3, "b"),
      saidIn(profile("c", "Has: a cat"), 4, "c"),
      saidIn(profile("d", "Has: a dog"), 5, "d"),
    ]
    const recalled = (unconfirmedSessions: number, question: string | null = "What is new?") =>
      recall(question, { own }, { unconfirmedSessions }).user
    expect(recalled(4)).toEqual(["old", "judged", "again", "c", "d", "b"])
    expect(recalled(3)).toEqual(["judged", "again", "c", "d", "b"])
    expect(recalled(2)).toEqual(["judged", "again", "c", "d"])
    expect(recalled(2, null)).toEqual(["judged", "again", "c", "d"])
    // It is left out, and not forgotten.
    expect(recalled(2, "Who else works there?")).toEqual(["judged", "again", "c", "d", "old"])
    // A session is as old as what was said in it last.
    const back = [...own, saidIn(preference("back", "Likes: tea"), 6, "b")]
    expect(recall("What is new?", { own: back }, { unconfirmedSessions: 2 }).user).toContain("b")
  })

  it("leaves out what the scope learned from messages that are still raw here", () => {
    const messages = [Message.user("a"), Message.assistant("b"), Message.user("c"), Message.assistant("d")]
    const raw = sessionOf(messages)
    const elsewhere = sessionOf(messages, { session: "other" })
    const here = known(factId("scope", 0, { from: 0, to: 2 }, raw), "deploy here", { from: 0, to: 2 })
    const there = known(factId("scope", 0, { from: 0, to: 2 }, elsewhere), "deploy there", { from: 0, to: 2 })
    const facts = { own: [here], scope: [there] }
    expect(recall("deploy", facts, { state: raw }).scope).toEqual([there.id])
    expect(recall("deploy", facts, { state: { ...raw, coveredTo: 2 } }).scope.toSorted()).toEqual(
      [here.id, there.id].toSorted(),
    )
    // After a clear, the messages it came from are not shown any more.
    expect(recall("deploy", facts, { state: { ...raw, clears: 1 } }).scope).toHaveLength(2)
  })
})
