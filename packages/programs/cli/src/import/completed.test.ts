import { EchoSummarizer, Message, Summarizer, TokenCounter } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { said } from "@memfold/harness/engine"
import { completed } from "./completed.js"
import { eventsOf } from "./events.js"
import type { Consolidated } from "./programs.js"

const run = (state: Partial<Consolidated>, summarizer: Summarizer.Service = EchoSummarizer.make()) =>
  Effect.runPromise(
    completed(
      { messages: said(20), coveredTo: 8, time: null, text: null, ...state },
      { session: "s", summarizer },
    ),
  )

describe("a sliding window without the text of its summary (design 1)", () => {
  it("has it written once, by the summarizer that is named in the log", async () => {
    const asked: Array<Summarizer.Request> = []
    const summarizer: Summarizer.Service = {
      name: "watched",
      summarize: (request) => {
        asked.push(request)
        return Effect.succeed({ text: "so far" })
      },
    }
    const { state, leftOut } = await run({ time: 5 }, summarizer)
    expect(leftOut).toEqual([])
    expect(asked).toMatchObject([{ from: 0, to: 8, kind: "history", previous: undefined }])
    expect(asked[0]?.messages).toEqual(said(8))
    const { events } = eventsOf(state, { session: "s", now: 9, counter: TokenCounter.estimating })
    expect(events.find(({ event }) => event._tag === "SummaryCommitted")).toMatchObject({
      time: 5,
      event: { coveredTo: 8, summarizer: "watched", calls: 1, segments: [{ text: "so far" }] },
    })
  })

  it("has it written up to the start of a group, seen or not (L5)", async () => {
    const calling = Message.call([{ id: "1", name: "weather", arguments: "{}" }])
    const group = [...said(4), calling, Message.result({ id: "1", output: "rain, all day long" }), ...said(4)]
    const cut = await run({ messages: group, coveredTo: 5 })
    expect(cut.state.summaries).toMatchObject([{ text: "[0,4)", covers: [{ from: 0, to: 5 }] }])
    const dead = [...said(4), calling, ...said(4)]
    const gone = await run({ messages: dead, coveredTo: 5 })
    expect(gone.state.summaries).toMatchObject([{ text: "[0,5)" }])
  })

  it("takes the text that is given", async () => {
    const { state } = await run({ text: "given" })
    expect(state.summaries).toMatchObject([{ text: "given", status: "active" }])
    expect(state.summaries[0]).not.toHaveProperty("writtenBy")
  })

  it("has none before the first compaction", async () => {
    expect((await run({ coveredTo: 0 })).state.summaries).toEqual([])
  })

  it("stays raw where the summarizer fails, and the report says why (L8)", async () => {
    const failing: Summarizer.Service = {
      name: "failing",
      summarize: ({ session }) =>
        Effect.fail(new Summarizer.SummarizerError({ session, reason: "refused", detail: "it would not" })),
    }
    const { state, leftOut } = await run({}, failing)
    expect(state.summaries).toEqual([])
    expect(state.messages).toHaveLength(20)
    expect(leftOut).toMatchObject([
      {
        is: "left-out",
        notes: ["all messages stay uncovered: the summarizer failed (refused): it would not"],
      },
    ])
    const system = await run({ messages: [Message.system("Be kind."), ...said(4)], coveredTo: 1 })
    expect(system.leftOut).toMatchObject([
      { notes: ["all messages stay uncovered: there was nothing to summarize"] },
    ])
  })

  it("is written by the extractive summarizer without a model", async () => {
    const { state } = await run({}, ExtractiveSummarizer.make())
    expect(state.summaries[0]?.text).not.toBe("")
  })
})
