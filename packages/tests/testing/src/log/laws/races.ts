/** Concurrent writers: the first one wins, nothing is lost, and a reader never sees part of a batch (L12: batches are atomic). */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { answerOf, type LogKit, readAll, versionOf } from "../input.js"

/** Checks that every batch is whole, contiguous and of the size it was appended with. */
const checkWhole = (
  records: ReadonlyArray<EventLog.LogRecord>,
  sizeOf: (commit: string) => number,
  who: string,
): void => {
  records.forEach(({ version }, position) => {
    must(version === position + 1, () => `${who} sees ${version} at place ${position + 1}`)
  })
  for (let from = 0; from < records.length;) {
    const commit = records[from]?.batchId ?? ""
    let to = from
    while (records[to]?.batchId === commit) to++
    must(
      to - from === sizeOf(commit),
      () => `${who} sees ${to - from} records of batch ${commit}, which has ${sizeOf(commit)}`,
    )
    from = to
  }
}

const pauses = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Effect.yieldNow(), { discard: true })

export const raceLaws = ({ law, numRuns }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L12",
    name: "of several writers at one version, exactly one succeeds",
    explanation:
      "If several writers append at the same version, one of them succeeds and all others get a VersionConflict.",
    arbitrary: fc.record({
      before: fc.nat({ max: 3 }),
      sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 8 }),
    }),
    numRuns: Math.min(numRuns, 50),
    holds: (log, { before, sizes }) =>
      Effect.gen(function* () {
        if (before > 0) yield* log.append("s", numbered(before), { expectedVersion: 0, batchId: "before" })
        const answers = yield* Effect.all(
          sizes.map((size, writer) =>
            answerOf(log.append("s", numbered(size), { expectedVersion: before, batchId: `w${writer}` })),
          ),
          { concurrency: "unbounded" },
        )
        const winners = answers.flatMap((answer, writer) => (answer === "VersionConflict" ? [] : [writer]))
        must(
          winners.length === 1,
          () => `${winners.length} of ${sizes.length} writers at version ${before} won`,
        )
        const found = (yield* readAll(log, "s", { fromVersion: before + 1 })).map(({ batchId }) => batchId)
        const [winner = 0] = winners
        same(
          found,
          Array.from({ length: sizes[winner] ?? 0 }, () => `w${winner}`),
          () => "what was written",
        )
      }),
  }),
  law({
    id: "L12",
    name: "concurrent writers that retry lose no event",
    explanation:
      "Several writers read the version, append, and try again after a conflict. In the end every batch is there\n" +
      "once and whole, and the batches of each writer are in order.",
    replay: "seed",
    numRuns: Math.min(numRuns, 50),
    arbitrary: fc.record({
      writers: fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }), {
        minLength: 2,
        maxLength: 4,
      }),
      scheduler: fc.scheduler(),
    }),
    describe: ({ writers, scheduler }) =>
      `batches by writer: ${JSON.stringify(writers)}\n${String(scheduler)}`,
    holds: (log, { writers, scheduler }) =>
      Effect.gen(function* () {
        const turn = (label: string) => Effect.promise(() => scheduler.schedule(Promise.resolve(), label))
        const write = (batchId: string, size: number): Effect.Effect<unknown, EventLog.LogError> =>
          Effect.gen(function* () {
            yield* turn(`${batchId} reads`)
            const expectedVersion = yield* versionOf(log, "s")
            yield* turn(`${batchId} writes at ${expectedVersion}`)
            return yield* log.append("s", numbered(size), { expectedVersion, batchId })
          }).pipe(Effect.catchTag("VersionConflict", () => write(batchId, size)))
        const all = writers.map((sizes, writer) =>
          Effect.forEach(sizes, (size, position) => write(`w${writer}.${position}`, size)),
        )
        const done = Effect.runPromise(Effect.all(all, { concurrency: "unbounded" }))
        yield* Effect.promise(() => scheduler.waitFor(done))
        const found = yield* readAll(log, "s")
        const sizeOf = (commit: string) => {
          const [writer, position] = commit.slice(1).split(".").map(Number)
          return writers[writer!]?.[position!] ?? 0
        }
        checkWhole(found, sizeOf, "a reader")
        const commits = [...new Set(found.map(({ batchId }) => batchId))]
        same(commits.length, writers.flat().length, () => "the number of batches")
        for (const [writer, sizes] of writers.entries()) {
          same(
            commits.filter((commit) => commit.startsWith(`w${writer}.`)),
            sizes.map((_, position) => `w${writer}.${position}`),
            () => `the batches of writer ${writer}`,
          )
        }
      }),
  }),
  law({
    id: "L12",
    name: "a reader never sees part of a batch",
    explanation: "A reader sees all records of a batch or none, also while others write.",
    numRuns: Math.min(numRuns, 50),
    arbitrary: fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      readers: fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 5 }),
    }),
    holds: (log, { sizes, readers }) =>
      Effect.gen(function* () {
        const sizeOf = (commit: string) => sizes[Number(commit.slice(1))] ?? 0
        const writing = Effect.gen(function* () {
          let expectedVersion = 0
          for (const [position, size] of sizes.entries()) {
            yield* log.append("s", numbered(size), { expectedVersion, batchId: `c${position}` })
            expectedVersion += size
          }
        })
        const reading = (pause: number, reader: number) =>
          Effect.gen(function* () {
            yield* pauses(pause)
            for (let look = 0; look < sizes.length; look++) {
              checkWhole(yield* readAll(log, "s"), sizeOf, `reader ${reader}`)
              const version = yield* versionOf(log, "s")
              const ends = sizes.map((_, position) =>
                sizes.slice(0, position + 1).reduce((one, other) => one + other),
              )
              must(
                [0, ...ends].includes(version),
                () => `the version is ${version}, in the middle of a batch`,
              )
              yield* pauses(1)
            }
          })
        yield* Effect.all([writing, ...readers.map(reading)], { concurrency: "unbounded", discard: true })
        checkWhole(yield* readAll(log, "s"), sizeOf, "a reader afterwards")
      }),
  }),
]
