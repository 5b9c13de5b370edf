/** Conversations with the official client: their metadata, their items, and what a restart leaves. */
import { type EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { scripted } from "@memfold/strict-providers"
import { Effect, Stream } from "effect"
import type OpenAI from "openai"
import { afterEach, describe, expect, it } from "vitest"
import { type ConversationServer, conversationServer, type Setting } from "./server.js"

const open: Array<ConversationServer> = []
const start = async (setting: Setting = {}): Promise<ConversationServer> => {
  const server = await conversationServer(setting)
  open.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

/** What lets the appends go on that wait. */
const waiting: Array<() => void> = []

/** A log whose first append to a chain waits. */
const behind = (log: EventLog.Service): EventLog.Service => ({
  ...log,
  append: (session, events, options) =>
    session.startsWith("chain_") && waiting.length === 0
      ? Effect.zipRight(
          Effect.promise(() => new Promise<void>((resolve) => void waiting.push(resolve))),
          log.append(session, events, options),
        )
      : log.append(session, events, options),
})

const said = (text: string): OpenAI.Responses.ResponseInputItem => ({
  type: "message",
  role: "user",
  content: text,
})

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error as { status: number; code: string; param: string; error: unknown } | undefined
}

/** The texts of all items of a conversation, oldest first. */
const texts = async ({ client }: ConversationServer, id: string): Promise<ReadonlyArray<unknown>> => {
  const found: Array<unknown> = []
  for await (const item of client.conversations.items.list(id, { order: "asc", limit: 3 }))
    found.push(item.type === "message" ? (item.content[0] as { text: string }).text : item.type)
  return found
}

describe("a conversation", () => {
  it("has metadata, which an update replaces, until it is deleted", async () => {
    const { client } = await start()
    const created = await client.conversations.create({ metadata: { topic: "weather" } })
    expect(created).toMatchObject({ object: "conversation", metadata: { topic: "weather" } })
    expect(created.id).toMatch(/^conv_/)
    expect(await client.conversations.retrieve(created.id)).toEqual(created)
    const updated = await client.conversations.update(created.id, { metadata: { topic: "rain" } })
    expect(updated).toEqual({ ...created, metadata: { topic: "rain" } })
    expect(await client.conversations.retrieve(created.id)).toEqual(updated)
    expect(await client.conversations.delete(created.id)).toEqual({
      id: created.id,
      object: "conversation.deleted",
      deleted: true,
    })
    for (const work of [
      () => client.conversations.retrieve(created.id),
      () => client.conversations.update(created.id, { metadata: {} }),
      () => client.conversations.items.list(created.id),
      () => client.conversations.items.create(created.id, { items: [said("?")] }),
      () => client.conversations.delete(created.id),
      () => client.conversations.retrieve("conv_unknown"),
    ])
      expect(await failure(work())).toMatchObject({ status: 404, code: "conversation_not_found" })
  })

  it("refuses more metadata than the API takes, and writes nothing", async () => {
    const { client, log } = await start()
    const pairs = (count: number, key = "k", value = "v") =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${key}${at}`, value]))
    const accepted = pairs(16, "k".repeat(62), "é".repeat(512))
    expect((await client.conversations.create({ metadata: accepted })).metadata).toEqual(accepted)
    for (const metadata of [
      pairs(17),
      pairs(1, "k".repeat(64)),
      pairs(1, "k", "v".repeat(513)),
      { k: 7 },
      [],
      "k",
    ])
      expect(await failure(client.conversations.create({ metadata: metadata as never }))).toMatchObject({
        status: 400,
        param: "metadata",
      })
    expect(await Effect.runPromise(log.list({ limit: 10 }))).toHaveLength(1)
  })

  it("takes at most 20 items at once, all or none, and gives each an id", async () => {
    const server = await start()
    const { client } = server
    const many = (count: number) => Array.from({ length: count }, (_, at) => said(`number ${at}`))
    const { id } = await client.conversations.create({ items: many(20) })
    const added = await client.conversations.items.create(id, { items: many(20) })
    expect(new Set(added.data.map((item) => item.id)).size).toBe(20)
    expect(added).toMatchObject({ object: "list", has_more: false, first_id: added.data[0]!.id })
    expect(await failure(client.conversations.items.create(id, { items: many(21) }))).toMatchObject({
      status: 400,
      param: "items",
    })
    expect(await failure(client.conversations.create({ items: many(21) }))).toMatchObject({ status: 400 })
    expect(
      await failure(
        client.conversations.items.create(id, { items: [said("one"), { type: "function_call" } as never] }),
      ),
    ).toMatchObject({ status: 400 })
    expect(await texts(server, id)).toHaveLength(40)
  })

  it("lists its items page by page, in both orders", async () => {
    const { client } = await start()
    const items: ReadonlyArray<OpenAI.Responses.ResponseInputItem> = [
      said("Weather in Graz?"),
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "rain" },
      { type: "message", role: "assistant", content: "It rains." },
      said("And in Linz?"),
    ]
    const { id } = await client.conversations.create({ items: [...items] })
    const all = await client.conversations.items.list(id, { limit: 100, order: "asc" })
    expect(all.data.map(({ type }) => type)).toEqual(items.map(({ type }) => type))
    expect(all.data[1]).not.toHaveProperty("encrypted_content")
    expect(all.data[4]).toMatchObject({
      content: [{ type: "output_text", text: "It rains." }],
      status: "completed",
    })
    for (const order of ["asc", "desc"] as const) {
      const pages: Array<string> = []
      for await (const item of client.conversations.items.list(id, { limit: 2, order })) pages.push(item.id!)
      const expected = all.data.map((item) => item.id!)
      expect(pages).toEqual(order === "asc" ? expected : expected.toReversed())
    }
    const shown = await client.conversations.items.list(id, { include: ["reasoning.encrypted_content"] })
    expect(shown.data.find(({ type }) => type === "reasoning")).toMatchObject({ encrypted_content: "gAAA" })
    for (const item of all.data)
      expect(await client.conversations.items.retrieve(item.id!, { conversation_id: id })).toEqual(item)
    const wrong: ReadonlyArray<OpenAI.Conversations.ItemListParams> = [
      { limit: 0 },
      { limit: 101 },
      { order: "up" as never },
    ]
    for (const query of wrong)
      expect(await failure(client.conversations.items.list(id, query) as never)).toMatchObject({
        status: 400,
      })
    expect(await failure(client.conversations.items.list(id, { after: "msg_x" }) as never)).toMatchObject({
      status: 404,
    })
    expect(
      await failure(client.conversations.items.retrieve("msg_x", { conversation_id: id })),
    ).toMatchObject({ status: 404, code: "item_not_found" })
  })

  it("goes on without an item that is deleted, whose text is gone from the log", async () => {
    const server = await start({ answer: scripted([{ thinking: "Hm.", text: "Rain." }, { text: "Sun." }]) })
    const { client } = server
    const { id } = await client.conversations.create({ items: [said("my secret is 4471"), said("Hello.")] })
    const response = await client.responses.create({ model: "m", conversation: id, input: "Graz?" })
    const { data } = await client.conversations.items.list(id, { order: "asc" })
    expect(await client.conversations.items.delete(data[0]!.id!, { conversation_id: id })).toMatchObject({
      id,
    })
    const message = response.output.find(({ type }) => type === "message")!
    await client.conversations.items.delete(message.id!, { conversation_id: id })
    expect(await texts(server, id)).toEqual(["Hello.", "Graz?", "reasoning"])
    const stored = JSON.stringify(await Effect.runPromise(Stream.runCollect(server.memory.events(id))))
    expect(stored).not.toContain("4471")
    expect(stored).not.toContain("Rain.")
    await client.responses.create({ model: "m", conversation: id, input: "Linz?" })
    expect(server.upstream.refused).toEqual([])
    expect(await failure(client.conversations.items.delete("msg_x", { conversation_id: id }))).toMatchObject({
      status: 404,
    })
  })

  it("is there again in another process over the store, with its responses", async () => {
    const log = await Effect.runPromise(InMemoryEventLog.make)
    const first = await start({ log, answer: scripted([{ text: "Rain." }]) })
    const { id } = await first.client.conversations.create({ metadata: { topic: "weather" } })
    const answered = await first.client.responses.create({ model: "m", conversation: id, input: "Graz?" })
    const alone = await first.client.responses.create({ model: "m", input: "Linz?" })
    const second = await start({ log, answer: scripted([{ text: "Sun." }]) })
    expect((await second.client.conversations.retrieve(id)).metadata).toEqual({ topic: "weather" })
    expect(await texts(second, id)).toEqual(["Graz?", "Rain."])
    expect((await second.client.responses.retrieve(answered.id)).output_text).toBe("Rain.")
    const next = await second.client.responses.create({
      model: "m",
      previous_response_id: alone.id,
      input: "Wels?",
    })
    expect(next.output_text).toBe("Sun.")
    // The second process has read where its answer goes when the first one writes there.
    const third = await start({ log: behind(log), answer: scripted([{ text: "Fog." }]) })
    const slow = third.client.responses.create({ model: "m", previous_response_id: next.id, input: "Both?" })
    await expect.poll(() => waiting.length).toBe(1)
    const ask = { model: "m", previous_response_id: next.id, input: "Both?" }
    const quick = await first.client.responses.create(ask)
    waiting[0]!()
    for (const { id: one } of [quick, await slow])
      expect((await first.client.responses.inputItems.list(one)).data).toHaveLength(5)
  })

  it("sends its context upstream, and not its whole history, once it was compacted", async () => {
    const server = await start({
      answer: scripted([{ text: "an answer of ordinary length, as answers are" }]),
    })
    const { client, memory, upstream } = server
    const { id } = await client.conversations.create()
    for (let turn = 0; turn < 20; turn++)
      await client.responses.create({
        model: "m",
        conversation: id,
        input: `question ${turn} of ordinary length, as questions are, with a few more words`,
      })
    const outcome = await Effect.runPromise(memory.compact(id))
    expect(outcome).toMatchObject({ _tag: "Committed" })
    await client.responses.create({ model: "m", conversation: id, input: "the last one" })
    const sent = upstream.received.at(-1)!.body["input"] as ReadonlyArray<unknown>
    expect(sent.length).toBeLessThan(10)
    expect(upstream.refused).toEqual([])
    expect(await texts(server, id)).toHaveLength(42)
    const page = await Effect.runPromise(memory.messages(id, { limit: 1 }))
    expect(Message.text(page.messages[0]!)).toContain("an answer")
  })
})
