import { EchoSummarizer, InMemoryEventLog, Message, Summarizer } from "@memfold/core"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Chunk, Effect, Option, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { type EndStep, type MessageStep, replay, type ReplayOptions } from "./replay.js"

const run = async (options: Partial<ReplayOptions> & Pick<ReplayOptions, "messages">) => {
  const all = await Effect.runPromise(
    replay({
      session: "s",
      source: "test",
      strategy: RollingBuffer(),
      summarizer: EchoSummarizer.make(),
      ...options,
    }).pipe(Stream.runCollect, Effect.provide(InMemoryEventLog.layer)),
  )
  const steps = Chunk.toReadonlyArray(all)
  return { steps: steps.slice(0, -1) as ReadonlyArray<MessageStep>, end: steps.at(-1) as EndStep }
}

const chat = (count: number, options: (index: number) => Message.Options = () => ({})) =>
  Array.from({ length: count }, (_, index) => {
    const say = index % 2 === 0 ? Message.user : Message.assistant
    return say(`message ${index} of the conversation, some words long`, options(index))
  })

describe("replay", () => {
  it("sums over the model calls what was sent and what would have been", async () => {
    const messages = chat(4)
    const { end } = await run({ messages })
    const [first, second, third] = [...end.state.uncovered].map(({ tokens }) => tokens)
    // Two assistant messages: the first was asked with one message, the second with three.
    const sent = first! + (first! + second! + third!)
    expect(end.totals).toMatchObject({ messages: 4, compactions: 0, tokensIfRaw: sent, tokensSent: sent })
  })

  it("finishes each compaction before the next message, and counts the summarizer's work", async () => {
    const { steps, end } = await run({ messages: chat(20) })
    const compacted = steps.filter(({ outcomes }) => outcomes.length > 0).map(({ index }) => index)
    expect(compacted).toEqual([8, 13, 18])
    expect(end.totals).toMatchObject({ compactions: 3, summarizerCalls: 3 })
    expect(end.totals.tokensSent).toBeLessThan(end.totals.tokensIfRaw)
  })

  it("goes by the messages' times, never back, and stands still without them", async () => {
    const hour = 3_600_000
    const strategy = SlidingWindow({ tailKeepSize: 1, contextSize: 10 })
    const times = [0, 1, 0.5, undefined, 3]
    const messages = chat(5, (index) =>
      times[index] === undefined ? {} : { time: 1e12 + times[index] * hour },
    )
    const { steps } = await run({ messages, strategy })
    const at = steps.flatMap(({ outcomes }) =>
      outcomes.map((one) => one._tag === "Committed" && one.started.reason),
    )
    expect(at).toEqual(["cooldown", "cooldown"])
    expect(steps.map(({ outcomes }) => outcomes.length)).toEqual([0, 1, 0, 0, 1])
  })

  it("does not take a recorded prompt's size for one of its own", async () => {
    const messages = chat(6, (index) => (index % 2 === 1 ? { usage: { input: 1_000_000, output: 12 } } : {}))
    const { end } = await run({ messages })
    expect(end.state.reported).toBeNull()
    expect([...end.state.uncovered][1]?.tokens).toBe(12)
  })

  it("goes on when the summarizer fails, and its time limit runs by the real clock", async () => {
    const failing: Summarizer.Service = {
      name: "failing",
      summarize: ({ session }) =>
        Effect.sleep("1 millis").pipe(
          Effect.zipRight(new Summarizer.SummarizerError({ session, reason: "refused", detail: "will not" })),
        ),
    }
    const { steps, end } = await run({ messages: chat(10), summarizer: failing })
    expect(steps[8]?.outcomes).toMatchObject([{ _tag: "Failed", error: { reason: "refused" } }])
    expect(end.totals).toMatchObject({ compactions: 0, summarizerCalls: 1, messages: 10 })
    expect(end.context.messages).toHaveLength(10)
  })

  it("goes on where an earlier replay of the same transcript ended, and takes nothing twice", async () => {
    const messages = chat(12)
    const both = await Effect.runPromise(
      Effect.gen(function* () {
        const once = (part: ReadonlyArray<Message.Message>, source: string) =>
          replay({
            session: "s",
            source,
            messages: part,
            strategy: RollingBuffer(),
            summarizer: EchoSummarizer.make(),
          }).pipe(
            Stream.runLast,
            Effect.map((end) => Option.getOrThrow(end) as EndStep),
          )
        const killed = yield* once(messages.slice(0, 7), "file")
        const again = yield* once(messages, "file")
        const other = yield* once(messages.slice(0, 2), "another file")
        return { killed, again, other }
      }).pipe(Effect.provide(InMemoryEventLog.layer)),
    )
    expect(both.killed.totals).toMatchObject({ messages: 7, skipped: 0 })
    expect(both.again.totals).toMatchObject({ messages: 5, skipped: 7, compactions: 1 })
    expect(both.again.state.total).toBe(12)
    expect(both.other.state.total).toBe(14)
  })

  it("that has ended is noticed without being replayed: only its last message is looked at again", async () => {
    const messages = chat(300)
    const once = replay({
      session: "s",
      source: "file",
      messages,
      strategy: RollingBuffer(),
      summarizer: EchoSummarizer.make(),
    }).pipe(
      Stream.runCollect,
      Effect.map((all) => Chunk.toReadonlyArray(all)),
    )
    const [first, again] = await Effect.runPromise(
      Effect.all([once, once]).pipe(Effect.provide(InMemoryEventLog.layer)),
    )
    const [before, after] = [first.at(-1) as EndStep, again.at(-1) as EndStep]
    expect(first).toHaveLength(301)
    expect(again).toHaveLength(2)
    expect(again[0]).toMatchObject({ _tag: "Message", index: 299, outcomes: [] })
    expect(after.totals).toMatchObject({ messages: 0, skipped: 300, compactions: 0, summarizerCalls: 0 })
    expect(after.context).toEqual(before.context)
  })
})
