import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { withMemory } from "@memfold/harness/engine"
import { Keep, Memory, Message, type Recall, Reranker, Strategy, SummaryMode, Trigger } from "../index.js"

const strategy = Strategy.make({
  name: "none",
  when: Trigger.never,
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.drop,
})

const words = ["parcel", "depot", "Graz", "dana", "invoice", "blue"]
const sentence = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 })
  .map((one) => one.join(" "))
const conversation = fc.array(sentence, { minLength: 2, maxLength: 40 })

/** What a search finds with a reranker, or without one. */
const search = (
  texts: ReadonlyArray<string>,
  query: string,
  tokens: number,
  reranker: Reranker.Service | null,
): Promise<Recall.Recalled> =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append(
      "s",
      texts.map((text, at) => Message.user(text, { time: at * 60_000 })),
    )
    return yield* memory.recall("s", query, { tokens })
  }).pipe(
    Effect.provide(
      withMemory({ strategy, compaction: { mode: "off" } }).pipe(
        Layer.provide(Layer.succeed(Reranker.Reranker, reranker)),
      ),
    ),
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.runPromise,
  )

const giving = (scores: (texts: ReadonlyArray<string>) => unknown): Reranker.Service => ({
  name: "given",
  rerank: (_query, texts) => Effect.sync(() => scores(texts) as ReadonlyArray<number>),
})

/** What does not depend on when it was stored. */
const shown = ({ messages, text, tokens }: Recall.Recalled) => ({
  text: text.replaceAll(/^\(.*\)$/gmu, ""),
  tokens,
  messages: messages.map(({ time: _time, ...one }) => one),
})

const byRank = ({ messages }: Recall.Recalled) =>
  messages.toSorted((one, other) => one.rank! - other.rank!).map(({ index }) => index)

describe("a reranker", () => {
  it("of equal scores, of none that can be used, and one that fails or is late, changes nothing", () =>
    fc.assert(
      fc.asyncProperty(
        conversation,
        sentence,
        fc.integer({ min: 20, max: 400 }),
        fc.constantFrom<Reranker.Service>(
          giving((texts) => texts.map(() => 0.5)),
          giving((texts) => texts.slice(1).map((_, at) => at)),
          giving((texts) => texts.map((_, at) => (at === 0 ? Number.NaN : at))),
          giving(() => null),
          giving(() => {
            throw new Error("thrown")
          }),
          { name: "failing", rerank: () => Effect.fail(new Error("failed")) },
          { name: "late", timeout: 1, rerank: () => Effect.never },
        ),
        async (texts, query, tokens, reranker) => {
          const plain = await search(texts, query, tokens, null)
          expect(shown(await search(texts, query, tokens, reranker))).toEqual(shown(plain))
        },
      ),
      { numRuns: often(40, 400) },
    ))

  it("neither adds nor loses a message, and puts them in the order of its scores", () =>
    fc.assert(
      fc.asyncProperty(
        conversation,
        sentence,
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 40, maxLength: 40 }),
        fc.integer({ min: 1, max: 50 }),
        async (texts, query, scores, maxTexts) => {
          let asked: ReadonlyArray<string> = []
          const reranker = {
            ...giving((given) => {
              asked = given
              return given.map((_, at) => scores[at]!)
            }),
            maxTexts,
          }
          const plain = byRank(await search(texts, query, 10_000, null))
          const found = await search(texts, query, 10_000, reranker)
          expect(shown(found)).toEqual(shown(await search(texts, query, 10_000, reranker)))
          const ordered = byRank(found)
          expect(ordered.toSorted()).toEqual(plain.toSorted())
          // What it was not asked about keeps its place.
          expect(ordered.slice(maxTexts)).toEqual(plain.slice(maxTexts))
          expect(asked.length).toBeLessThanOrEqual(maxTexts)
          const expected = plain
            .slice(0, asked.length)
            .map((index, at) => ({ index, score: scores[at]! }))
            .toSorted((one, other) => other.score - one.score)
          if (asked.length > 1)
            expect(ordered.slice(0, asked.length)).toEqual(expected.map(({ index }) => index))
        },
      ),
      { numRuns: often(40, 400) },
    ))

  it("gets the query and the start of each message, and a context that recalls by itself asks none", async () => {
    const asked: Array<readonly [string, ReadonlyArray<string>]> = []
    const reranker: Reranker.Service = {
      name: "seen",
      maxCharacters: 12,
      rerank: (query, texts) => {
        asked.push([query, texts])
        return Effect.succeed(texts.map((_, at) => at))
      },
    }
    await search(["the parcel is in Graz", "blue", "a parcel for dana"], "where is the parcel", 500, reranker)
    expect(asked).toEqual([["where is the parcel", expect.arrayContaining(["the parcel i", "a parcel for"])]])
    await Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append(
        "s",
        ["the parcel is in Graz", "ok", "where is the parcel?"].map((text) => Message.user(text)),
      )
      yield* memory.context("s", { recall: {} })
    }).pipe(
      Effect.provide(
        withMemory({ strategy, compaction: { mode: "off" } }).pipe(
          Layer.provide(Layer.succeed(Reranker.Reranker, reranker)),
        ),
      ),
      Effect.runPromise,
    )
    expect(asked).toHaveLength(1)
  })
})
