/** Imports of transcripts as the built program does them: all conversations, damage, files that grow, large ones, and what is left out. */
import { appendFileSync, openSync, readFileSync, writeFileSync, writeSync, closeSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder, lines } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("import-transcripts")
const sample = (name: string) => join(fileURLToPath(new URL("transcripts", import.meta.url)), name)
const storeIn = (name: string) => `sqlite:${join(folder, name)}`

const bring = (path: string, store: string, ...more: ReadonlyArray<string>) =>
  memfold("import", "--from", "transcript", path, "--store", store, ...more)

const said = async (store: string, session: string) => {
  const { out } = await memfold("context", session, "--store", store, "--json")
  return lines(out)
}

const entry = (uuid: string, type: "user" | "assistant", text: string, parentUuid: string | null) =>
  JSON.stringify({
    type,
    uuid,
    parentUuid,
    message: {
      role: type,
      content: [{ type: "text", text }],
      ...(type === "assistant" ? { id: `msg_${uuid.slice(0, 1)}` } : {}),
    },
  })

describe("an export of several conversations", () => {
  it("is imported as a whole with --all, and what is not imported is named", async () => {
    const store = storeIn("all.db")
    const ran = await bring(sample("chatgpt.json"), store, "--all", "--json")
    expect(ran.code).toBe(0)
    expect(lines(ran.out)).toMatchObject([
      {
        session: expect.stringMatching(/^chatgpt-/),
        messages: 7,
        unread: [{ place: "conversation 1", why: "nothing is said in it" }, { place: "conversation 3" }],
      },
      { messages: 2, unread: [] },
    ])
    const shown = await bring(sample("chatgpt.json"), "memory:", "--all")
    expect(shown.out).toContain("not imported: conversation 1: nothing is said in it")
    expect(shown.out).toContain("not imported: conversation 3: a branch that was left; --pick 3 imports it")
  })

  it("names the others where one of them is imported", async () => {
    const ran = await bring(sample("chatgpt.json"), "memory:")
    expect(ran.out).toContain("conversation 2: --pick 2 imports it, --all every conversation")
  })

  it("keeps its sessions when the next export has more conversations, in another order", async () => {
    const store = storeIn("grown-export.db")
    const talk = (id: string, ...turns: ReadonlyArray<string>) => ({
      conversation_id: id,
      mapping: Object.fromEntries(
        turns.map((text, at) => [
          `${id}${at}`,
          {
            parent: at === 0 ? null : `${id}${at - 1}`,
            message: {
              author: { role: at % 2 === 0 ? "user" : "assistant" },
              content: { content_type: "text", parts: [text] },
            },
          },
        ]),
      ),
    })
    const path = file("conversations.json", [talk("a", "Hello", "Hi")])
    await bring(path, store, "--all")
    file("conversations.json", [talk("b", "New"), talk("a", "Hello", "Hi", "And?", "Well.")])
    const again = await bring(path, store, "--all", "--json")
    expect(again).toMatchObject({ code: 0, err: "" })
    expect(lines(again.out)).toMatchObject([
      { session: "conversations-b", messages: 1, continued: false },
      { session: "conversations-a", messages: 4, continued: true, events: 2 },
    ])
    expect(lines((await memfold("verify", "--store", store, "--json")).out)).toMatchObject([{ findings: 0 }])
  })
})

describe("a file that grew", () => {
  it("is continued by a second import, event by event, and message by message where the last one has grown", async () => {
    const store = storeIn("grown.db")
    const path = join(folder, "running.jsonl")
    writeFileSync(path, [entry("a1", "user", "One", null), entry("b1", "assistant", "Two", "a1")].join("\n"))
    expect((await bring(path, store)).code).toBe(0)
    // The answer goes on in another line, and another question comes.
    appendFileSync(
      path,
      `\n${entry("b2", "assistant", "and more", "b1")}\n${entry("c1", "user", "Three", "b2")}`,
    )
    const second = await bring(path, store)
    expect(second).toMatchObject({ code: 0, err: "" })
    expect(second.out).toContain("continues the import of before")
    appendFileSync(path, `\n${entry("d1", "assistant", "Four", "c1")}`)
    expect(await bring(path, store)).toMatchObject({ code: 0, err: "" })
    expect((await bring(path, store)).out).toContain("already imported")
    const texts = JSON.stringify(await said(store, "running"))
    for (const text of ["One", "Two", "and more", "Three", "Four"]) expect(texts).toContain(text)
    expect(lines((await memfold("verify", "--store", store, "--json")).out)).toMatchObject([{ findings: 0 }])
  })

  it("is continued with the summaries that its program wrote since", async () => {
    const store = storeIn("compacted.db")
    const whole = readFileSync(sample("claude-code.jsonl"), "utf8").trimEnd().split("\n")
    const path = join(folder, "session.jsonl")
    const cut = whole.findIndex((line) => line.includes("compact_boundary"))
    writeFileSync(path, whole.slice(0, cut).join("\n"))
    await bring(path, store)
    writeFileSync(path, whole.join("\n"))
    const again = await bring(path, store, "--json")
    expect(lines(again.out).at(-1)).toMatchObject({ continued: true, messages: 10, coveredTo: 8 })
    expect(lines((await memfold("verify", "--store", store, "--json")).out)).toMatchObject([{ findings: 0 }])
  })

  it("is refused where the session has gone on in another way", async () => {
    const store = storeIn("other.db")
    const path = file("other.json", [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
    ])
    await bring(path, store)
    file("other.json", [{ role: "user", content: "Something else" }])
    const refused = await bring(path, store)
    expect(refused.code).toBe(2)
    expect(refused.err).toContain("--session")
  })
})

describe("damage", () => {
  const rows = [
    entry("a", "user", "One", null),
    entry("b", "assistant", "Two", "a"),
    entry("c", "user", "Three", "b"),
  ]
  it.each([
    ["a line that is cut", 2, [rows[0], rows[1]!.slice(0, 40), rows[2]]],
    ["NUL bytes", 3, [rows[0], rows[1], "\0\0\0\0", rows[2]]],
    ["the last line of a running session", 4, [...rows, rows[0]!.slice(0, 30)]],
    [
      "an entry that cannot be read",
      2,
      [rows[0], JSON.stringify({ type: "user", uuid: "x", message: { role: "user", content: 5 } }), rows[2]],
    ],
  ])("is named by its line, and the rest is taken with --skip-damaged: %s", async (name, line, content) => {
    const path = join(folder, `${name.replaceAll(" ", "-")}.jsonl`)
    writeFileSync(path, content.join("\n"))
    const refused = await bring(path, "memory:")
    expect(refused).toMatchObject({ code: 2, out: "" })
    expect(refused.err).toContain(`:${line}: `)
    expect(refused.err).toContain("--skip-damaged takes the rest")
    const taken = await bring(path, "memory:", "--skip-damaged", "--json")
    expect(taken).toMatchObject({ code: 0, err: "" })
    expect(lines(taken.out).at(-1)).toMatchObject({
      messages: content.length - 1,
      unread: [{ first: `line ${line}` }],
    })
  })

  it("is left out by replay and lab, too, if they are asked to", async () => {
    const path = join(folder, "damaged.jsonl")
    writeFileSync(path, [rows[0], "{", rows[1], rows[2]].join("\n"))
    const replayed = await memfold("replay", path, "--skip-damaged", "--json")
    expect([replayed.code, lines(replayed.out).at(-1)]).toMatchObject([0, { messages: 3 }])
    expect(replayed.err).toContain("not read: line 2: not JSON")
    expect(await memfold("lab", path, "--policy", "window")).toMatchObject({ code: 2 })
    expect(await memfold("lab", path, "--policy", "window", "--skip-damaged")).toMatchObject({ code: 0 })
  })

  it("within an export that was cut off leaves the whole conversations before it", async () => {
    const path = join(folder, "cut.json")
    const text = readFileSync(sample("chatgpt.json"), "utf8")
    writeFileSync(path, text.slice(0, text.length - 200))
    expect((await bring(path, "memory:", "--all")).err).toContain("--skip-damaged takes the rest")
    const taken = await bring(path, "memory:", "--all", "--skip-damaged", "--json")
    expect(lines(taken.out)[0]).toMatchObject({ messages: 7 })
  })
})

it("says of old conversations that a rule of retention counts their own time", async () => {
  const store = storeIn("old.db")
  const path = file("old.json", [{ role: "user", content: "Hello", time: "2024-02-03T04:05:06Z" }])
  expect((await bring(path, store)).out).toContain(
    "Nobody has spoken here since 2024-02-03: a rule of memfold archive",
  )
  expect(lines((await bring(path, storeIn("old-2.db"), "--json")).out)).toMatchObject([
    { lastSpoken: "2024-02-03T04:05:06.000Z" },
  ])
})

describe("a large file", () => {
  /** Writes a file of so many MiB. */
  const large = (name: string, mib: number, head: string, row: (at: number) => string, end: string) => {
    const path = join(folder, name)
    const fd = openSync(path, "w")
    writeSync(fd, head)
    let at = 0
    for (let size = 0; size < mib * 2 ** 20; at++) size += writeSync(fd, row(at))
    writeSync(fd, end)
    closeSync(fd)
    return { path, count: at }
  }

  it("is read line by line, with its progress, beyond the limit of a file", async () => {
    const copy = "x".repeat(200_000)
    const { path, count } = large(
      "large.jsonl",
      5,
      "",
      (at) =>
        `${JSON.stringify({
          type: at % 2 === 0 ? "user" : "assistant",
          uuid: `u${at}`,
          parentUuid: at === 0 ? null : `u${at - 1}`,
          message: { role: at % 2 === 0 ? "user" : "assistant", content: `text ${at}` },
          toolUseResult: copy,
        })}\n`,
      "",
    )
    const ran = await bring(path, "memory:", "--input-limit", "1", "--json")
    expect(ran.code).toBe(0)
    expect(ran.err).toContain("100% of")
    expect(lines(ran.out).at(-1)).toMatchObject({ messages: count, unread: [] })
  })

  it("is read conversation by conversation if it is an export", async () => {
    const { path, count } = large(
      "export.json",
      3,
      "[",
      (at) =>
        `${at === 0 ? "" : ","}${JSON.stringify({ conversations: [{ from: "human", value: `question ${at} ${"long ".repeat(2_000)}` }] })}`,
      "]",
    )
    const ran = await bring(path, storeIn("large.db"), "--all", "--input-limit", "1", "--json")
    expect(ran.code).toBe(0)
    expect(lines(ran.out)).toHaveLength(count)
    expect(lines(ran.out)[2]).toMatchObject({ session: "export-2", messages: 1 })
    const one = await bring(path, "memory:", "--pick", "7", "--input-limit", "1", "--json")
    expect(lines(one.out)).toMatchObject([{ session: "export-7", messages: 1 }])
    const cut = join(folder, "export-cut.json")
    writeFileSync(cut, readFileSync(path, "utf8").slice(0, -40))
    expect((await bring(cut, "memory:", "--all", "--input-limit", "1")).err).toContain(
      "--skip-damaged takes the rest",
    )
  })
})
