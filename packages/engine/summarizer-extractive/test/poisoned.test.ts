/**
 * Poisoned transcripts: instructions that nobody has said come back as nobody's words, after ten compactions, an edit, a fork, and an
 * export with its import.
 */
import {
  EventLog,
  Item,
  InMemoryEventLog,
  Memory,
  Message,
  Origin,
  Render,
  Session,
  Summarizer,
  Wording,
} from "@memfold/core"
import { ExtractiveSummarizer } from "../src/index.js"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { ordersIn, poisonedTurn, poisonIn } from "@memfold/harness/poison"
import { often } from "@memfold/harness/depth"
import { memoryProperties } from "@memfold/testing"
import { lawSuite } from "@memfold/testing/vitest"

const filler = /(?:a line of the file\. |It matters to us\. |I checked it\. )+/g

const said = (part: Message.Part): string => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return part.arguments
    case "tool-result":
      return part.output
    default:
      return `${part.type === "file" ? part.name : ""} ${Item.textOf(part)}`
  }
}

/** A model that repeats everything that it reads, and obeys what tells it how. */
const echoing: Summarizer.Service = {
  name: "echoing",
  maxInputTokens: Number.POSITIVE_INFINITY,
  summarize: ({ previous = "", messages }) =>
    Effect.sync(() => {
      const lines = messages.flatMap(({ role, parts }) => parts.map((part) => `${role}: ${said(part)}`))
      return { text: [previous, ...lines].join("\n").replaceAll(filler, "") }
    }),
}

const strategies = {
  rolling: RollingBuffer({ bufferSize: 2 }),
  rounds: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }),
  "split-turn": SplitTurn({ contextLimit: 1_000, toolFailures: 2 }),
}

/** What a context says besides messages: nothing that is not material may have an order in it. */
const besides = ({ messages, sources }: Render.Context) => {
  const found = messages.filter((_, position) => sources[position] === null && !isNote(messages[position]!))
  return {
    material: found.filter((message) => isMaterial(message)).map(Message.text),
    said: found.filter((message) => !isMaterial(message)),
  }
}
const isNote = (message: Message.Message) => message.role === "tool"
const isMaterial = (message: Message.Message) =>
  message.role === "user" && Message.text(message).startsWith(Wording.material.heading)

/** Fails where an order stands besides material, or behind its marks. */
const clean = (context: Render.Context, where: string) => {
  const { said, material } = besides(context)
  for (const message of said) {
    const text = JSON.stringify(message)
    expect({ where, found: [...poisonIn(text), ...ordersIn(text)] }).toEqual({ where, found: [] })
  }
  for (const text of material) {
    const [, mark] = /^<(material-\w+)>$/m.exec(text) ?? []
    // Nothing inside can close the marks, and nothing but the footer is behind them.
    expect({ where, behind: text.split(`</${mark}>`).slice(1) }).toEqual({
      where,
      behind: [Wording.material.footer],
    })
  }
  const sections = context.layout.filter(({ section }) => section === "summary")
  for (const { origin } of sections)
    expect({ where, high: origin === undefined || !Origin.isMaterial(origin) }).toEqual({ where, high: true })
  return { said, material }
}

describe.each([echoing, ExtractiveSummarizer.make()])("written by $name", (summarizer) => {
  it.each(Object.entries(strategies))(
    "%s keeps orders where they are nobody's words",
    async (_, strategy) => {
      const program = Effect.gen(function* () {
        const log = yield* EventLog.EventLog
        const memory = yield* Memory.make({ strategy, trust: "separate", compaction: { mode: "manual" } })
        const look = (session: string, where: string) =>
          Effect.map(memory.context(session), (context) => clean(context, where))
        const turns = 12
        for (let turn = 0; turn < turns; turn++) {
          yield* memory.append("s", poisonedTurn(turn))
          yield* memory.compact("s")
          yield* look("s", `after turn ${turn}`)
        }
        const summaries = yield* memory.summaries("s")
        expect(summaries.length).toBeGreaterThanOrEqual(10)
        const { said, material } = yield* look("s", "at the end")
        // What the user said is still there, and so is the material.
        expect(said.map(Message.text).join("\n")).toContain("KX-44")
        expect(material.length).toBeGreaterThan(0)
        const before = yield* memory.state("s")
        expect(before.summary?.origins.some((origin) => origin === "external")).toBe(true)

        // Apart from messages, a context of nothing below the assistant has none of it.
        const strict = Render.render(before, { minimumOrigin: "assistant" })
        expect(besides(strict).material).toEqual([])
        clean(strict, "without material")
        expect(
          strict.layout.some(({ section, parts }) => section === "left-out" && parts?.[0] === "material"),
        ).toBe(true)

        const forked = yield* memory.fork("s", "fork").pipe(Effect.zipRight(memory.state("fork")))
        expect(forked.summary?.origins).toEqual(before.summary?.origins)
        yield* look("fork", "in a fork")
        yield* memory.append("fork", poisonedTurn(20))
        yield* memory.compact("fork")
        yield* look("fork", "in a fork that went on")

        const edited = before.summary!.segments[0]!.to - 6
        yield* memory.edit("s", Math.max(edited, 0), poisonedTurn(30))
        yield* look("s", "after an edit")
        yield* memory.compact("s")
        yield* look("s", "after an edit and a compaction")

        // Exported as JSON, and imported into another log.
        const records = [...(yield* Stream.runCollect(EventLog.records(log, "s")))]
        const other = yield* InMemoryEventLog.make
        for (const id of new Set(records.map(({ batchId }) => batchId))) {
          const batch = records.filter(({ batchId }) => batchId === id)
          const [first] = batch
          const imported = batch.map(({ session: _s, version: _v, batchId: _b, ...record }) => record)
          yield* other.append("s", JSON.parse(JSON.stringify(imported)), {
            expectedVersion: first!.version - 1,
            batchId: first!.batchId,
          })
        }
        const [here, there] = yield* Effect.all([log, other].map((one) => Session.make(one).load("s")))
        expect(there?.summary?.origins).toEqual(here?.summary?.origins)
        clean(Render.render(there!, {}), "after an import")
      })
      await Effect.runPromise(
        program.pipe(
          Effect.provide(InMemoryEventLog.layer),
          Effect.provideService(Summarizer.Summarizer, summarizer),
          Effect.scoped,
        ),
      )
    },
  )
})

lawSuite(
  "the extractive summarizer",
  memoryProperties({ summarizer: ExtractiveSummarizer.make(), numRuns: often(5, 200) }).filter(
    ({ id }) => id === "L18",
  ),
  { timeout: often(120_000, 900_000), timeLimit: 60_000 },
)
