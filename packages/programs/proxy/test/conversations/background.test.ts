/** Responses in the background, with the official client: asked for again and again, cancelled, and left by their process. */
import { InMemoryEventLog } from "@memfold/core"
import { type Answer, scripted } from "@memfold/strict-providers"
import { Effect } from "effect"
import type OpenAI from "openai"
import { afterEach, describe, expect, it, vi } from "vitest"
import { type ConversationServer, conversationServer, type Setting } from "./server.js"

const open: Array<ConversationServer> = []
const start = async (setting: Setting = {}): Promise<ConversationServer> => {
  const server = await conversationServer(setting)
  open.push(server)
  return server
}
/** Lets the model answer. */
const gates: Array<(answer: Answer) => void> = []
const gated = () => new Promise<Answer>((resolve) => void gates.push(resolve))
afterEach(async () => {
  vi.useRealTimers()
  for (const go of gates.splice(0)) go({ text: "late" })
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const model = "gpt-6.2-sol"
const asked = { model, input: "Graz?", background: true } as const

const statusOf = async ({ client }: ConversationServer, id: string) =>
  (await client.responses.retrieve(id)).status

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => expect.unreachable("it was not refused"),
    (thrown: unknown) => thrown as { status?: number; code?: unknown },
  )
  return { status: error.status, code: error.code }
}

describe.each(["responses", "chat"] as const)("over an upstream with %s", (api) => {
  it("is queued, under way, and then stored as every other one", async () => {
    const server = await start({ api, answer: gated })
    const { client, upstream } = server
    const { id: conversation } = await client.conversations.create()
    const accepted = await client.responses.create({ ...asked, conversation })
    expect(accepted).toMatchObject({ status: "queued", background: true, output: [] })
    const { id } = accepted
    await expect.poll(() => gates.length).toBe(1)
    expect(await statusOf(server, id)).toBe("in_progress")
    expect(await failure(client.responses.inputItems.list(id) as never)).toMatchObject({
      status: 409,
      code: "response_not_completed",
    })
    expect(await failure(client.responses.create({ model, conversation, input: "Linz?" }))).toMatchObject({
      status: 409,
      code: "conversation_locked",
    })
    gates[0]!({ text: "Rain." })
    await expect.poll(() => statusOf(server, id)).toBe("completed")
    const stored = await client.responses.retrieve(id)
    expect(stored).toMatchObject({
      output_text: "Rain.",
      background: true,
      conversation: { id: conversation },
    })
    expect((await client.responses.inputItems.list(id)).data).toHaveLength(1)
    expect((await client.conversations.items.list(conversation)).data).toHaveLength(2)
    // One that has ended stays as it is.
    expect(await client.responses.cancel(id)).toMatchObject({ status: "completed", output: stored.output })
    expect(upstream.refused).toEqual([])
    expect(JSON.stringify(upstream.received)).not.toContain("background")
  })

  it("streams to its client, and to one that comes later, from where it was", async () => {
    const server = await start({ api, answer: gated })
    const { client } = server
    const stream = await client.responses.create({ ...asked, stream: true })
    await expect.poll(() => gates.length).toBe(1)
    gates[0]!({ text: "It rains in Graz." })
    const events: Array<OpenAI.Responses.ResponseStreamEvent> = []
    for await (const event of stream) events.push(event)
    const { response } = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()])
    expect(response).toMatchObject({ status: "completed", background: true })
    const { id } = response
    const again = async (after: number) => {
      const found: Array<OpenAI.Responses.ResponseStreamEvent> = []
      for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after }))
        found.push(event)
      return found
    }
    expect((await again(2))[0]!.sequence_number).toBe(3)
    // The numbers of a stored response are its own; its end is told in any case.
    expect((await again(99)).map(({ type }) => type)).toEqual(["response.completed"])
    const second = await client.responses.create(asked)
    await expect.poll(() => gates.length).toBe(2)
    const following = await client.responses.retrieve(second.id, { stream: true, starting_after: 0 })
    gates[1]!({ text: "Sun." })
    const followed: Array<OpenAI.Responses.ResponseStreamEvent> = []
    for await (const event of following) followed.push(event)
    expect(followed.map(({ sequence_number: number }) => number)).toEqual(followed.map((_, at) => at + 1))
    expect(followed[0]!.type).toBe("response.queued")
    expect(followed.at(-1)!.type).toBe("response.completed")
  })

  it("is cancelled: the upstream is told, and nothing is stored", async () => {
    const server = await start({ api, answer: gated })
    const { client } = server
    const { id: conversation } = await client.conversations.create()
    const { id } = await client.responses.create({ ...asked, conversation })
    await expect.poll(() => gates.length).toBe(1)
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" })
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: "cancelled" })
    expect(await statusOf(server, id)).toBe("cancelled")
    gates[0]!({ text: "Rain." })
    await server.settled()
    expect((await client.conversations.items.list(conversation)).data).toEqual([])
    const types: Array<string> = []
    for await (const { type } of await client.responses.retrieve(id, { stream: true })) types.push(type)
    expect(types).toEqual(["response.failed"])
    await client.responses.delete(id)
    expect(await failure(client.responses.retrieve(id))).toMatchObject({ status: 404 })
  })
})

describe("a response in the background", () => {
  it("with a key is accepted once", async () => {
    const server = await start({ answer: gated })
    const { client, upstream } = server
    const ask = (input: string) =>
      client.responses.create({ ...asked, input }, { headers: { "Idempotency-Key": "k1" } })
    const first = await ask("Graz?")
    await expect.poll(() => gates.length).toBe(1)
    expect(await ask("Graz?")).toMatchObject({ id: first.id, status: "in_progress" })
    expect(await failure(ask("Linz?"))).toMatchObject({ status: 409, code: "idempotency_key_reused" })
    gates[0]!({ text: "Rain." })
    await server.settled()
    expect(await ask("Graz?")).toMatchObject({ id: first.id, output_text: "Rain." })
    expect(await failure(ask("Linz?"))).toMatchObject({ status: 409 })
    expect(upstream.received).toHaveLength(1)
  })

  it("fails with what the upstream did, and leaves nothing in the conversation", async () => {
    const server = await start({ answer: scripted([{ text: "no", cut: 0 }, { text: "Rain." }]) })
    const { client } = server
    const { id: conversation } = await client.conversations.create()
    const ended = async (more: object) => {
      const { id } = await client.responses.create({ ...asked, conversation, ...more } as typeof asked)
      await server.settled()
      return await client.responses.retrieve(id)
    }
    expect(await ended({})).toMatchObject({
      status: "failed",
      error: { code: "upstream_unreachable" },
    })
    expect(await ended({ nonsense: true })).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: expect.stringContaining("400") as string },
    })
    expect((await client.conversations.items.list(conversation)).data).toEqual([])
    expect((await ended({})).output_text).toBe("Rain.")
    expect((await client.conversations.items.list(conversation)).data).toHaveLength(2)
  })

  it("deleted under way is no more, and neither is its log", async () => {
    const server = await start({ answer: gated })
    const { client } = server
    const { id } = await client.responses.create(asked)
    await expect.poll(() => gates.length).toBe(1)
    await client.responses.delete(id)
    expect(await failure(client.responses.retrieve(id))).toMatchObject({ status: 404 })
    gates[0]!({ text: "Rain." })
    await server.settled()
    expect(await Effect.runPromise(server.log.list({ limit: 10 }))).toEqual([])
  })

  it("has failed when its process gives up, and the others know it at once", async () => {
    const log = await Effect.runPromise(InMemoryEventLog.make)
    const first = await start({ log, answer: gated })
    const second = await start({ log })
    const { id } = await first.client.responses.create(asked)
    await expect.poll(() => gates.length).toBe(1)
    await first.stop()
    expect(await second.client.responses.retrieve(id)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: expect.stringContaining("has ended") as string },
    })
  })

  it("is known in every process, which notices when the one that answers it has ended", async () => {
    const log = await Effect.runPromise(InMemoryEventLog.make)
    const first = await start({ log, answer: gated })
    const second = await start({ log })
    const { id } = await first.client.responses.create(asked)
    const { id: other } = await first.client.responses.create(asked)
    await expect.poll(() => gates.length).toBe(2)
    expect(await statusOf(second, id)).toBe("in_progress")
    expect(
      await failure(second.client.responses.retrieve(id, { stream: true }) as Promise<unknown>),
    ).toMatchObject({ status: 409, code: "response_in_progress" })
    // Another process can only ask for it to be cancelled: an answer that came first counts.
    expect((await second.client.responses.cancel(id)).status).toBe("in_progress")
    gates[0]!({ text: "Rain." })
    await expect.poll(() => statusOf(second, id)).toBe("cancelled")
    // The first process says nothing for a minute: for the others, it has ended.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 })
    expect(await second.client.responses.retrieve(other)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: expect.stringContaining("has ended") as string },
    })
    vi.useRealTimers()
    gates[1]!({ text: "Sun." })
    await expect.poll(() => statusOf(second, other)).toBe("completed")
  })
})
