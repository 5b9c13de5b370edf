/**
 * Every strategy over real transcripts: each file of the folder whose format the command line reads is replayed,
 * and the laws are checked on what came of it. The folder is named by MEMFOLD_CORPUS; see `npm run test:corpus`.
 */
import {
  EchoSummarizer,
  EventLog,
  ExtractiveSummarizer,
  InMemoryEventLog,
  orphans,
  Verify,
} from "@memfold/core"
import { Effect, Either, Option, Stream } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join, relative } from "node:path"
import { describe, expect, it } from "vitest"
import { strategies } from "../src/parts.js"
import { type EndStep, replay } from "../src/replay/replay.js"
import { type Format, formats, parse } from "../src/transcript/Transcript.js"

const folder = process.env["MEMFOLD_CORPUS"]
if (folder === undefined) throw new Error("MEMFOLD_CORPUS names no folder; type npm run test:corpus -- DIR")

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((name) => join(folder, name))
  .filter((name) => [".json", ".jsonl", ".traj"].includes(extname(name)))
  .toSorted()

/** Settings small enough for real transcripts to be compacted often. */
const settings: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "sliding-window": { tailKeepSize: 8, contextSize: 40, compressionWindowSize: 5 },
  rounds: { fullContextTurns: 2, cachedContextTurns: 1 },
  "split-turn": { contextLimit: 4_000 },
  "rolling-buffer": { bufferSize: 4 },
}

interface Conversation {
  readonly name: string
  readonly messages: Parameters<typeof replay>[0]["messages"]
}

/** The conversations of a file: in the first format that reads it. */
const conversations = (file: string): ReadonlyArray<Conversation> => {
  const text = readFileSync(file, "utf8")
  const name = relative(folder, file)
  const read = (format: Format, pick?: number) =>
    Either.getRight(parse(text, { file, format, ...(pick === undefined ? {} : { pick }) }))
  for (const format of formats) {
    if (format === "tau-bench") {
      const found: Array<Conversation> = []
      for (let pick = 0; ; pick++) {
        const one = read(format, pick)
        if (Option.isNone(one)) break
        found.push({ name: `${name} #${pick}`, messages: one.value.messages })
      }
      if (found.length > 0) return found
    } else {
      const one = read(format)
      if (Option.isSome(one)) return [{ name, messages: one.value.messages }]
    }
  }
  return []
}

/** Replays and checks one conversation under one strategy; answers with its totals. */
const check = ({ messages }: Conversation, strategyName: string, summarizer = EchoSummarizer.make()) =>
  Effect.gen(function* () {
    const definition = strategies.get(strategyName)!
    const strategy = Either.getOrThrow(definition.resolve({ request: settings[strategyName] ?? {} }))
    const end = yield* replay({ session: "s", source: "", messages, strategy, summarizer }).pipe(
      Stream.runLast,
    )
    const { context, state, totals } = Option.getOrThrow(end) as EndStep
    expect(totals.messages).toBe(messages.length)
    expect(state.through + state.raw.length).toBe(messages.length)
    expect(orphans(context.messages)).toEqual([])
    expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
    return totals
  }).pipe(Effect.provide(InMemoryEventLog.layer))

const corpus = files.map((file) => ({ file, found: conversations(file) }))

it("has transcripts that can be read", () => {
  for (const { file, found } of corpus) {
    if (found.length === 0) console.log(`left out, no format of a conversation: ${relative(folder, file)}`)
  }
  expect(corpus.some(({ found }) => found.length > 0)).toBe(true)
})

for (const { file, found } of corpus.filter((one) => one.found.length > 0)) {
  describe(relative(folder, file), () => {
    for (const name of strategies.keys()) {
      it(`replays under ${name} and verifies clean`, () =>
        Effect.runPromise(
          Effect.gen(function* () {
            const totals = yield* Effect.forEach(found, (conversation) => check(conversation, name))
            const sum = (of: "messages" | "compactions") => totals.reduce((all, one) => all + one[of], 0)
            console.log(
              `${name}: ${found.length} × ${sum("messages")} messages, ${sum("compactions")} compactions`,
            )
          }),
        ))
    }

    it("can be summarized by the extractive summarizer", () =>
      Effect.runPromise(check(found[0]!, "rolling-buffer", ExtractiveSummarizer.make())))
  })
}
