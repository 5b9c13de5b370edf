/** Sessions are independent of each other. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered, oddSessions, sessions } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { listed, type LogKit, readAll } from "../input.js"

/** Ids whose order depends on how they are compared. */
const similar = ["b", "a", "B", "10", "9", "ab", "é", "a b", "ﬁ", "𝕊"] as const

export const sessionLaws = ({ law, numRuns }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L12",
    name: "sessions with similar ids are kept apart",
    explanation:
      "A session has its own versions, batch ids and projection rows. Ids may contain any text, and may differ only in\n" +
      "case, blanks or accents.",
    arbitrary: fc.oneof(
      { weight: 8, arbitrary: sessions },
      { weight: 1, arbitrary: fc.constant(oddSessions) },
    ),
    holds: (log, ids) =>
      Effect.gen(function* () {
        const sizeOf = (position: number) => 1 + (position % 3)
        for (const [position, id] of ids.entries()) {
          yield* log.append(id, numbered(sizeOf(position), position * 10), {
            expectedVersion: 0,
            batchId: "c",
            projections: [{ kind: "snapshot", rows: [{ key: "a", data: `of ${position}` }] }],
          })
          yield* log.projections.put(id, { version: sizeOf(position), batchId: "c" }, [
            { kind: "notes", rows: [{ key: "b", data: `of ${position}` }] },
          ])
        }
        for (const [position, id] of ids.entries()) {
          const what = () => `session ${JSON.stringify(id).slice(0, 60)}`
          const found = yield* readAll(log, id)
          same(found.length, sizeOf(position), what)
          same([...new Set(found.map(({ session }) => session))], [id], what)
          same(found[0]?.data, `{"n":${position * 10}}`, what)
          same(yield* log.head(id), { version: sizeOf(position), batchId: "c" }, what)
          for (const [kind, key] of [
            ["snapshot", "a"],
            ["notes", "b"],
          ] as const)
            same(yield* log.projections.get(id, kind), [{ key, data: `of ${position}` }], what)
        }
        const names = (yield* listed(log)).map(({ session }) => session)
        same(names.toSorted(), ids.toSorted(), () => "the list of sessions")
      }),
  }),
  law({
    id: "L12",
    name: "sessions are listed by id, with their version and times",
    explanation:
      "The list is ordered by the code points of the id and has the times of the first and the last event. A page starts\n" +
      "behind any position in this order, whether a session is there or not, and has at most `limit` sessions.",
    arbitrary: fc.uniqueArray(fc.constantFrom(...similar), { maxLength: 8 }),
    holds: (log, ids) =>
      Effect.gen(function* () {
        for (const [position, id] of ids.entries()) {
          yield* log.append(id, numbered(1, position), { expectedVersion: 0, batchId: "c" })
          yield* log.append(id, numbered(2, position + 50), { expectedVersion: 1, batchId: "d" })
        }
        const expected = ids
          .map((session, position) => ({
            session,
            version: 3,
            createdTime: numbered(1, position)[0].time,
            updatedTime: numbered(1, position + 51)[0].time,
          }))
          .toSorted((one, other) => EventLog.compareSessionIds(one.session, other.session))
        same(yield* listed(log), expected, () => "the list of sessions")
        const times = new Map(expected.map(({ session, updatedTime }) => [session, updatedTime]))
        const positions = similar.map((session) => ({ session, updatedTime: times.get(session) ?? 1 }))
        for (const after of [undefined, ...positions]) {
          const behind = expected.filter(
            ({ session }) => after === undefined || EventLog.compareSessionIds(session, after.session) > 0,
          )
          for (const limit of [1, 3, 100]) {
            same(
              yield* log.list({ after, limit }),
              behind.slice(0, limit),
              () => `at most ${limit} sessions behind ${JSON.stringify(after)}`,
            )
          }
        }
      }),
  }),
  law({
    id: "L12",
    name: "600 sessions are listed",
    explanation:
      "Sessions are listed in pages. No session may be lost or doubled between two pages, of all or of an owner.",
    numRuns: Math.min(numRuns, 1),
    arbitrary: fc.constant(600),
    holds: (log, count) =>
      Effect.gen(function* () {
        const ids = Array.from({ length: count }, (_, number) => `session-${String(number).padStart(4, "0")}`)
        const description = { key: "", data: JSON.stringify({ owner: "ann", title: null }) }
        const projections = [{ kind: "description", rows: [description] }]
        const place = { expectedVersion: 0, batchId: "c", projections }
        const append = (id: string) => log.append(id, numbered(1), place)
        yield* Effect.forEach(ids.toReversed(), append, { concurrency: 20, discard: true })
        for (const owner of [undefined, "ann"]) {
          same(
            (yield* listed(log, owner)).map(({ session }) => session),
            ids,
            () => `the list of ${owner === undefined ? "all sessions" : "the owner's sessions"}`,
          )
        }
        same((yield* log.list({ limit: 1_000 })).length, count, () => "the sessions of a large page")
      }),
  }),
  law({
    id: "L15",
    name: "deleting removes all data of one session and of no other",
    explanation:
      "Records, projection rows and batch ids are gone. The session can start again at version 1 and reuse batch ids.\n" +
      "Appends decided on the deleted log are refused.",
    arbitrary: fc.record({ ids: sessions, size: fc.integer({ min: 2, max: 4 }) }),
    holds: (log, { ids, size }) =>
      Effect.gen(function* () {
        const [gone = "", ...others] = ids
        const row = { key: "", data: "{}", mark: "active" }
        const projections = [{ kind: "snapshot", rows: [row] }]
        for (const id of ids) {
          yield* log.append(id, numbered(size), { expectedVersion: 0, batchId: "c", projections })
        }
        same(yield* log.delete(gone), true, () => "deleting it")
        same(yield* log.delete(gone), false, () => "deleting it again")
        same(yield* readAll(log, gone), [], () => "what is read of it")
        same(yield* log.head(gone), null, () => "its head")
        same(yield* log.projections.get(gone, "snapshot"), [], () => "its rows")
        same((yield* listed(log)).length, others.length, () => "the number of sessions left")
        for (const id of others) {
          same((yield* readAll(log, id)).length, size, () => "the records of another session")
          same(yield* log.projections.get(id, "snapshot"), [row], () => "the rows of another session")
        }
        const stale = yield* Effect.either(
          log.append(gone, numbered(1), { expectedVersion: size, batchId: "d" }),
        )
        same(stale._tag, "Left", () => "an append decided on the deleted log")
        const anew = yield* log.append(gone, numbered(1, 7), { expectedVersion: 0, batchId: "c" })
        same(
          anew,
          { fromVersion: 1, version: 1, duplicate: false },
          () => "its first append after it was deleted",
        )
        same(
          (yield* readAll(log, gone)).map(({ data }) => data),
          ['{"n":7}'],
          () => "what is read of it then",
        )
        same(yield* log.projections.get(gone, "snapshot"), [], () => "its rows then")
      }),
  }),
]
