/** The feed of all sessions: every record once, in an order that has no gaps, however the appends come (L12). */
import type { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { type LogKit, readAll } from "../input.js"

type Feed = NonNullable<EventLog.Service["feed"]>

/** A store without a feed has none of these laws; whether it has one is asked where its laws are registered. */
const feedOf = (log: EventLog.Service): Feed => {
  must(log.feed !== undefined, () => "the store has no feed; register its laws with `feed: false`")
  return log.feed!
}

/** Reads on to what is the end now; the position behind the last record. */
const drain = (
  feed: Feed,
  into: Array<EventLog.LogRecord>,
  limit: number,
  from?: string,
): Effect.Effect<string | undefined, EventLog.LogError> =>
  Effect.flatMap(feed({ after: from, limit }), (page) => {
    must(page.length <= limit, () => `a page has ${page.length} records, at most ${limit} were asked for`)
    for (const { record } of page) into.push(record)
    const last = page.at(-1)
    return last === undefined ? Effect.succeed(from) : drain(feed, into, limit, last.position)
  })

/** The feed ends here once everything is committed; a database may show the last appends a moment later. */
const drainAll = (
  feed: Feed,
  into: Array<EventLog.LogRecord>,
  limit: number,
  count: number,
  from?: string,
): Effect.Effect<string | undefined, EventLog.LogError> =>
  drain(feed, into, limit, from).pipe(
    Effect.tap(() => Effect.promise(() => new Promise<void>((resolve) => void setTimeout(resolve, 0)))),
    Effect.flatMap((position) => {
      must(into.length <= count, () => `the feed has ${into.length} records, ${count} were appended`)
      return into.length < count ? drainAll(feed, into, limit, count, position) : Effect.succeed(position)
    }),
  )

const ofSession = (records: ReadonlyArray<EventLog.LogRecord>, session: string) =>
  records.filter((record) => record.session === session)

const batches = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 })

const allOfParallelAppends = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L12",
    name: "the feed has every record of parallel appends once, and each session in its order",
    explanation:
      "Writers append to several sessions at the same time, and readers read the feed meanwhile, page by page. Each\n" +
      "reader gets every record that the logs have, once, and the records of a session from version 1 without a gap.",
    numRuns: Math.min(numRuns, 30),
    arbitrary: fc.record({
      writers: fc.array(fc.record({ sizes: batches, rows: fc.boolean() }), {
        minLength: 1,
        maxLength: 6,
      }),
      limits: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
    }),
    holds: (log, { writers, limits }) =>
      Effect.gen(function* () {
        const feed = feedOf(log)
        const write = ({ sizes, rows }: (typeof writers)[number], writer: number) =>
          Effect.gen(function* () {
            let version = 0
            for (const [position, size] of sizes.entries()) {
              yield* log.append(`s${writer}`, numbered(size, writer * 100 + version), {
                expectedVersion: version,
                batchId: `b${position}`,
                ...(rows ? { projections: [{ kind: "notes", rows: [{ key: "k", data: "d" }] }] } : {}),
              })
              version += size
            }
          })
        const count = writers.flatMap(({ sizes }) => sizes).reduce((one, other) => one + other)
        const reading = (limit: number) =>
          Effect.gen(function* () {
            const found: Array<EventLog.LogRecord> = []
            yield* drainAll(feed, found, limit, count)
            return found
          })
        const readers = yield* Effect.forEach(limits, (limit) => Effect.fork(reading(limit)))
        yield* Effect.all(writers.map(write), { concurrency: "unbounded", discard: true })
        for (const found of yield* Fiber.join(Fiber.all(readers)))
          for (const writer of writers.keys())
            same(
              ofSession(found, `s${writer}`),
              yield* readAll(log, `s${writer}`),
              () => `session s${writer} in the feed`,
            )
      }),
  })

const goesOnFromAnyPosition = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L12",
    name: "a reader of the feed goes on from any position",
    explanation:
      "Behind the position of a record comes all that had not come up to it, also when more has been appended, and what is\n" +
      "no position of the store is refused.",
    numRuns: Math.min(numRuns, 20),
    arbitrary: fc.record({ before: batches, after: batches, at: fc.nat() }),
    holds: (log, { before, after, at }) =>
      Effect.gen(function* () {
        const feed = feedOf(log)
        let [one, other, total] = [0, 0, 0]
        const append = (sizes: ReadonlyArray<number>, name: string) =>
          Effect.forEach(sizes, (size, position) =>
            Effect.gen(function* () {
              const isOne = position % 2 === 0
              yield* log.append(isOne ? "one" : "other", numbered(size), {
                expectedVersion: isOne ? one : other,
                batchId: `${name}${position}`,
              })
              if (isOne) one += size
              else other += size
              total += size
            }),
          )
        yield* append(before, "b")
        const first: Array<EventLog.LogRecord> = []
        const end = yield* drainAll(feed, first, 3, total)
        const page = yield* feed({ limit: 1_000 })
        const read = page.map(({ record }) => record)
        yield* append(after, "a")
        const rest: Array<EventLog.LogRecord> = []
        yield* drainAll(feed, rest, 2, total - first.length, end)
        const from = at % first.length
        const again: Array<EventLog.LogRecord> = []
        yield* drainAll(feed, again, 4, total - from - 1, page[from]!.position)
        // Stores over several servers have no order between sessions.
        for (const session of ["one", "other"]) {
          same(ofSession(read, session), ofSession(first, session), () => "one page, and several")
          same(
            ofSession([...read.slice(0, from + 1), ...again], session),
            yield* readAll(log, session),
            () => `session ${session}, up to record ${from} and behind it`,
          )
          same(
            ofSession([...first, ...rest], session),
            yield* readAll(log, session),
            () => `session ${session}, before and after more was appended`,
          )
        }
        const refused = yield* Effect.either(feed({ after: "x", limit: 1 }))
        must(refused._tag === "Left", () => "a position that is none was taken")
      }),
  })

const nothingOfWhatIsGone = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L15",
    name: "the feed has nothing of what was deleted or rewritten",
    explanation:
      "The records of a deleted session are not in the feed any more, and a rewritten record has its new data. A session\n" +
      "that begins again is in it from its first version, behind what was read.",
    numRuns: Math.min(numRuns, 20),
    arbitrary: fc.record({
      sizes: batches,
      again: fc.integer({ min: 1, max: 4 }),
      readFirst: fc.boolean(),
    }),
    holds: (log, { sizes, again, readFirst }) =>
      Effect.gen(function* () {
        const feed = feedOf(log)
        const count = sizes.reduce((one, other) => one + other)
        let version = 0
        for (const [position, size] of sizes.entries()) {
          for (const session of ["gone", "kept"])
            yield* log.append(session, numbered(size), {
              expectedVersion: version,
              batchId: `b${position}`,
            })
          version += size
        }
        const before: Array<EventLog.LogRecord> = []
        const position = readFirst ? yield* drainAll(feed, before, 3, 2 * count) : undefined
        yield* log.delete("gone")
        yield* log.rewrite("kept", [{ version: 1, schemaVersion: 1, data: '{"new":1}' }], numbered(1), {
          expectedVersion: count,
          batchId: "rewrites",
        })
        yield* log.append("gone", numbered(again, 50), { expectedVersion: 0, batchId: "b0" })
        const found: Array<EventLog.LogRecord> = []
        yield* drainAll(feed, found, 2, again + 1 + (readFirst ? 0 : count), position)
        same(ofSession(found, "gone"), yield* readAll(log, "gone"), () => "the session that began again")
        same(
          ofSession(found, "kept"),
          yield* readAll(log, "kept", { fromVersion: readFirst ? count + 1 : 1 }),
          () => "the session that was rewritten",
        )
      }),
  })

const endsBehindAllThatIsThere = ({ law, numRuns }: LogKit): Law =>
  law({
    id: "L12",
    name: "behind the end of the feed is what comes from then on",
    explanation:
      "A reader that begins at the end gets nothing of what is there, and all that is appended afterwards, to sessions that\n" +
      "are there and to new ones, also when sessions are deleted in between.",
    numRuns: Math.min(numRuns, 20),
    arbitrary: fc.record({
      before: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
      deletes: fc.boolean(),
    }),
    holds: (log, { before, deletes }) =>
      Effect.gen(function* () {
        const feed = feedOf(log)
        if (log.feedEnd === undefined) return
        for (const [at, size] of before.entries())
          yield* log.append(`s${at}`, numbered(size), { expectedVersion: 0, batchId: "b" })
        const read: Array<EventLog.LogRecord> = []
        // What is committed is in the feed a moment later.
        yield* drainAll(
          feed,
          read,
          3,
          before.reduce((one, other) => one + other, 0),
        )
        const end = yield* log.feedEnd
        must((end === null) === (before.length === 0), () => "the feed has an end where it has a record")
        if (deletes && before.length > 0) yield* log.delete(`s${before.length - 1}`)
        const added = ["s0", "new"]
        for (const session of added) {
          const head = yield* log.head(session)
          yield* log.append(session, numbered(2, 50), {
            expectedVersion: head?.version ?? 0,
            batchId: "later",
          })
        }
        const found: Array<EventLog.LogRecord> = []
        yield* drainAll(feed, found, 2, 4, end ?? undefined)
        for (const session of added) {
          const all = yield* readAll(log, session)
          same(ofSession(found, session), all.slice(-2), () => `session ${session}, behind the end`)
        }
      }),
  })

/** The laws of the feed, for stores that have one. */
export const feedLaws = (kit: LogKit): ReadonlyArray<Law> =>
  kit.options.feed === false
    ? []
    : [allOfParallelAppends, goesOnFromAnyPosition, nothingOfWhatIsGone, endsBehindAllThatIsThere].map(
        (lawOf) => lawOf(kit),
      )
