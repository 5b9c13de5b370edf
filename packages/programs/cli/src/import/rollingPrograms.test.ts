/** Stores of rolling summaries as the older programs wrote them, good and bad. */
import { describe, expect, it } from "vitest"
import { type database, messagesColumns, rollingColumns } from "../../test/oldDatabases.js"
import { chat, oldFiles, outcome, read, withIds } from "../../test/oldFiles.js"

const { file, tables, transcript, wrong } = oldFiles()

describe("a store of rolling summaries", () => {
  const ids = (from: number, to: number) =>
    JSON.stringify(Array.from({ length: to - from }, (_, index) => `m${from + index}`))
  const summaries = (...rows: ReadonlyArray<ReadonlyArray<unknown>>) => ({ columns: rollingColumns, rows })
  const one = ["s1", "c", "so far", "active", 1_770_000_000_000, ids(0, 4)]
  const rows = (chat: string, count: number) =>
    withIds(count).map(({ id, role, content }, index) => [id, chat, role, content, 1_770_000_000_000 + index])

  it("has its messages in a table, in the order of their times", async () => {
    const old = tables("chat.db", {
      compressed_summaries: summaries(one),
      messages: { columns: messagesColumns, rows: rows("c", 8).toReversed() },
    })
    expect(await outcome("rolling", { file: old })).toEqual(["c", 4, 8])
    const { state } = await read("rolling", { file: old })
    expect(state.messages.map(({ time }) => time)).toEqual(rows("c", 8).map((row) => row[4]))
  })

  it("may name its columns otherwise", async () => {
    const old = tables("named.db", {
      compressed_summaries: {
        columns: "summaryId, conversationId, summary, status, messageIds",
        rows: [["s1", 7, "so far", "active", ids(0, 4)]],
      },
      messages: {
        columns: "message_id, conversation_id, role, body, timestamp, vector BLOB",
        rows: rows("7", 8).map((row) => [...row, Buffer.from([1, 2])]),
      },
    })
    expect(await outcome("rolling", { file: old })).toEqual(["7", 4, 8])
    const { state } = await read("rolling", { file: old })
    expect(state.messages[0]?.metadata).toEqual({ import: { message_id: "m0" } })
  })

  it("may have chats that have not been summarized yet", async () => {
    const old = tables("chats.db", {
      compressed_summaries: summaries(one),
      messages: { columns: messagesColumns, rows: [...rows("c", 8), ...rows("d", 3)] },
    })
    expect(await wrong("rolling", { file: old })).toContain("2 conversations; name one with --thread: c, d")
    expect(await outcome("rolling", { file: old, thread: "d" })).toEqual(["d", 0, 3])
  })

  it("takes its messages from a transcript with ids, where it has no table of them", async () => {
    const old = tables("lonely.db", { compressed_summaries: summaries(one) })
    expect(await wrong("rolling", { file: old })).toBe(
      'lonely.db: there is no table "messages"; give the messages with --messages',
    )
    const messages = transcript("ids.json", withIds(8))
    expect(await outcome("rolling", { file: old, messages })).toEqual(["c", 4, 8])
    const several = [withIds(3), { messages: withIds(8) }].map((one) => JSON.stringify(one)).join("\n")
    const picked = { ...transcript("several.json", several), pick: 1 }
    expect(await outcome("rolling", { file: old, messages: picked })).toEqual(["c", 4, 8])
    const bare = transcript("bare.json", chat(8))
    expect(await wrong("rolling", { file: old, messages: bare })).toContain("no message has an id")
  })

  it("that cannot be read says which table, column or row", async () => {
    const of = (name: string, given: Parameters<typeof database>[1]) =>
      wrong("rolling", { file: tables(name, given) })
    const messages = { columns: messagesColumns, rows: rows("c", 8) }
    const row = (position: number, value: unknown) => ({
      compressed_summaries: summaries(one.with(position, value as string)),
      messages,
    })
    expect(await of("status.db", row(3, "asleep"))).toContain(
      'status.db: summary "s1": its status is not one of',
    )
    expect(await of("nomessages.db", { ...row(0, "s"), messages: { columns: messagesColumns } })).toContain(
      "there are no messages",
    )
    expect(
      await of("nocolumn.db", {
        compressed_summaries: summaries(one),
        messages: { columns: "id, chat_id, role" },
      }),
    ).toBe('nocolumn.db: table "messages" has no column "content"; allowed: content, text, body')
    expect(await of("nostatus.db", { compressed_summaries: { columns: "id, chat_id, summary" } })).toContain(
      'no column "status"',
    )
    expect(
      await of("roles.db", {
        ...row(0, "s"),
        messages: { columns: messagesColumns, rows: [["m0", "c", "robot", "a secret", 1]] },
      }),
    ).toContain("roles.db: message 0 has an unknown role")
  })

  it("may be a JSON file, of one chat or of several", async () => {
    const summary = { id: "s1", summary: "so far", status: "active", message_ids: ["m0", "m1"] }
    const plain = file("plain.json", { messages: withIds(4), summaries: [summary] })
    expect(await outcome("rolling", { file: plain })).toEqual(["plain", 2, 4])
    expect(await wrong("rolling", { file: plain, thread: "c" })).toContain("leave --thread out")
    const two = file("two.json", {
      messages: [...withIds(4).map((one) => ({ ...one, chat_id: "c" })), { ...withIds(1)[0], chat_id: "d" }],
      summaries: [{ ...summary, chat_id: "c" }],
    })
    expect(await wrong("rolling", { file: two })).toContain("--thread: c, d")
    expect(await outcome("rolling", { file: two, thread: "c" })).toEqual(["c", 2, 4])
    const apart = file("apart.json", { summaries: [summary] })
    expect(await wrong("rolling", { file: apart })).toContain("no state of rolling summaries")
    const messages = transcript("apart-messages.json", withIds(4))
    expect(await outcome("rolling", { file: apart, messages })).toEqual(["apart", 2, 4])
  })
})
