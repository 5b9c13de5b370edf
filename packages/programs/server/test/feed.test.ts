/** The feed of all sessions over HTTP: pages, the stream, and consumers and services that end in between. */
import { createClient, type schemas } from "@memfold/client"
import { EventLog } from "@memfold/core"
import { storeFile } from "@memfold/harness/storeFile"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { makeToken } from "../src/index.js"
import { ask, started, turn } from "./services.js"

it("is read page by page, waits where it is asked to, and goes on behind a position", async () => {
  const { url } = await started()
  const memory = createClient({ url })
  expect(await memory.feedPage()).toEqual({ events: [], after: null })
  await memory.append("one", turn(1))
  await memory.append("two", turn(2))
  const first = await memory.feedPage({ limit: 3 })
  expect(first.events.map(({ session, version }) => `${session} ${version}`)).toEqual([
    "one 1",
    "one 2",
    "two 1",
  ])
  const second = await memory.feedPage({ after: first.after! })
  expect(second.events.map(({ session, version }) => `${session} ${version}`)).toEqual(["two 2"])
  const waiting = memory.feedPage({ after: second.after!, wait: 30 })
  await memory.append("one", turn(3))
  expect((await waiting).events.map(({ version }) => version)[0]).toBe(3)
  const wrong = await ask(`${url}/v1/feed?after=nonsense`)
  expect(wrong.status).toBe(400)
  const stream = await ask(`${url}/v1/feed?after=nonsense`, { headers: { accept: "text/event-stream" } })
  expect(stream.status).toBe(wrong.status)
})

it("is followed over a consumer that ends and a service that starts again, and no event is missing", async () => {
  const store = storeFile()
  const first = await started({ store })
  const port = Number(new URL(first.url).port)
  const memory = createClient({ url: first.url })
  const writing = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, n) => memory.append(`chat-${(from + n) % 4}`, turn(from + n))),
    )
  const seen: Array<string> = []
  let position: string | undefined
  /** A consumer, which keeps the position of what is done, and ends behind so many events. */
  const consume = async (count: number, restart?: () => Promise<void>): Promise<void> => {
    let left = count
    for await (const fed of memory.feed(position === undefined ? {} : { after: position })) {
      seen.push(`${fed.session} ${fed.version}`)
      position = fed.position
      if (--left === 0) return
      if (left === Math.floor(count / 2)) await restart?.()
    }
  }
  await Promise.all([writing(0, 8), consume(5)])
  await writing(8, 10)
  await consume(13, async () => {
    await first.close()
    await started({ store, port })
  })
  await writing(10, 12)
  // Two events of each turn, and each of them once: the consumer has kept its position behind every one.
  await consume(24 - seen.length)
  for (let chat = 0; chat < 4; chat++) {
    const events = await memory.events(`chat-${chat}`)
    expect(events.map(({ version }) => `chat-${chat} ${version}`)).toEqual(
      seen.filter((one) => one.startsWith(`chat-${chat} `)),
    )
  }
})

it("shows a tenant its own sessions alone, by the names that it knows", async () => {
  const [acme, globex] = ["acme", "globex"].map((tenant) => makeToken({ tenant, rights: ["read", "write"] }))
  const { url } = await started({ tokens: [acme!.stored, globex!.stored] })
  const ofAcme = createClient({ url, token: acme!.token })
  const ofGlobex = createClient({ url, token: globex!.token })
  await ofGlobex.append("secret", turn(1), { owner: "ann" })
  await ofAcme.append("chat", turn(2), { owner: "bob" })
  await ofGlobex.append("secret", turn(3))
  const { events } = await ofAcme.feedPage()
  expect(JSON.stringify(events)).not.toMatch(/secret|globex|acme/)
  expect(new Set(events.map(({ session }) => session))).toEqual(new Set(["chat"]))
  for await (const fed of ofAcme.feed()) {
    expect(fed.session).toBe("chat")
    break
  }
})

it("has nothing of what the program notes about the store, and neither have lists of sessions", async () => {
  const store = storeFile()
  const { url } = await started({ store })
  const memory = createClient({ url })
  await memory.append("chat", turn(1))
  await memory.append("zoo", turn(2))
  await Effect.gen(function* () {
    const log = yield* SqliteEventLog.make({ filename: store.replace("sqlite:", "") })
    for (const prefix of Object.values(EventLog.noted))
      yield* log.append(`${prefix}x`, [{ time: 0, type: "Noted", schemaVersion: 1, data: "{}" }], {
        expectedVersion: 0,
        batchId: "b",
      })
  }).pipe(Effect.scoped, Effect.runPromise)
  const listed: Array<string> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const { body } = await ask(`${url}/v1/sessions?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`)
    const page = body as unknown as { sessions: ReadonlyArray<{ session: string }>; next: string | null }
    listed.push(...page.sessions.map(({ session }) => session))
    cursor = page.next
  }
  expect(listed).toEqual(["chat", "zoo"])
  const { events } = await memory.feedPage()
  expect(new Set(events.map(({ session }) => session))).toEqual(new Set(["chat", "zoo"]))
})

it("L19: answers with a page that is bounded by its text, and has all events page by page", async () => {
  const { url } = await started()
  const memory = createClient({ url })
  const content = "a word or so ".repeat(2 ** 17)
  for (let at = 0; at < 12; at++) await memory.append(`s${at % 3}`, { role: "user", content })
  const expected: Array<string> = []
  for (const name of ["s0", "s1", "s2"])
    for (let fromVersion = 1; ;) {
      const events = await memory.events(name, { fromVersion, limit: 1_000 })
      expect(JSON.stringify(events).length).toBeLessThan(2 ** 22 + content.length + 10_000)
      const last = events.at(-1)
      if (last === undefined) break
      expected.push(...events.map(({ session, version }) => `${session} ${version}`))
      fromVersion = last.version + 1
    }
  let mine: string | null = null
  const pages = [
    (after: string | null) => memory.feedPage({ limit: 1_000, ...(after !== null && { after }) }),
    async (after: string | null) => {
      const body = {
        limit: 1_000,
        ...(mine !== null && { turn: mine }),
        ...(after !== null && { done: after }),
      }
      const answer = await ask(`${url}/v1/feed/groups/g`, { method: "POST", body })
      const consumed = answer.body as unknown as typeof schemas.Consumed.Type
      mine = consumed.turn
      return consumed
    },
  ]
  for (const page of pages) {
    const found: Array<string> = []
    for (let after: string | null = null; ;) {
      const { events, after: next } = await page(after)
      if (events.length === 0) break
      // A page of 4 MiB, and the event that goes beyond it.
      expect(JSON.stringify(events).length).toBeLessThan(2 ** 22 + content.length + 10_000)
      found.push(...events.map(({ session, version }) => `${session} ${version}`))
      after = next
    }
    expect(found.toSorted()).toEqual(expected.toSorted())
  }
})
