/** A session is opened with what the other methods answer (L6): a store that answers all of it at once answers the same. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, same } from "../../law/Law.js"
import { type LogKit, sameRows } from "../input.js"

const summaryRow = (id: string, version: number, status: "active" | "superseded") => ({
  key: id,
  data: JSON.stringify({
    version,
    id,
    status,
    supersededBy: null,
    coveredTo: version,
    total: version,
    text: `it's 单词 🎈 "${id}"\n`,
    turnPrefix: status === "active" ? null : "the first part",
    tokens: 3,
    time: 1_700_000_000_000,
  }),
  ...(status === "active" ? { mark: "active" } : {}),
})

/** The session, as the other methods have it. */
const inParts = (log: EventLog.Service, session: string, limit: number) =>
  Effect.gen(function* () {
    const head = yield* log.head(session)
    const [snapshot = null] = yield* log.projections.get(session, "snapshot", { keys: [""] })
    const range = { fromVersion: Number(snapshot?.mark ?? 1), toVersion: Number.MAX_SAFE_INTEGER }
    return {
      head,
      snapshot,
      active: yield* log.projections.get(session, "summary", { mark: "active" }),
      page: yield* log.read(session, { ...range, reverse: false, limit }),
      isMarked: head === null ? (yield* log.head(EventLog.markOf(session))) !== null : undefined,
    }
  })

export const openingLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L6",
    name: "what a session is opened with is what the log has",
    explanation:
      "A store that has `open` answers the head, the snapshot, the active summary and a page as `head`, `projections.get` and\n" +
      "`read` do. The page begins with the version that is the mark of the snapshot. A session that does not exist has\n" +
      "nothing, and the answer says whether a mark of an archive has its name.",
    arbitrary: fc.record({
      count: fc.integer({ min: 2, max: 9 }),
      summaries: fc.subarray(["first", "second"] as const),
      isMarked: fc.boolean(),
      large: fc.boolean(),
    }),
    holds: (log, { count, summaries, isMarked, large }) =>
      Effect.gen(function* () {
        const open = EventLog.openingOf(log)
        if (open === undefined) return
        /** Sessions by the mark of their snapshot. */
        const marks = { none: null, unmarked: undefined, "it's 🎈": "1", midway: "2", newest: String(count) }
        for (const [at, [session, mark]] of Object.entries(marks).entries()) {
          for (const [version, record] of numbered(count, at * 10).entries())
            yield* log.append(session, [large ? { ...record, data: "🎈".repeat(2 ** 19) } : record], {
              expectedVersion: version,
              batchId: `c${version}`,
            })
          yield* log.projections.put(session, { version: count, batchId: `c${count - 1}` }, [
            ...(mark === null ? [] : [{ kind: "snapshot", rows: [{ key: "", data: `of ${at}`, mark }] }]),
            { kind: "snapshot", rows: [{ key: "a", data: "another" }] },
            {
              kind: "summary",
              rows: summaries.map((id, version) =>
                summaryRow(id, version + 1, id === "second" ? "active" : "superseded"),
              ),
            },
          ])
        }
        for (const session of isMarked ? ["none", "archived"] : [])
          yield* log.append(EventLog.markOf(session), numbered(1), { expectedVersion: 0, batchId: "m" })
        for (const session of [...Object.keys(marks), "archived", "nobody"])
          for (const limit of [1, 3, 512]) {
            const { active: rows, isMarked: isThere, ...found } = yield* open(session, limit)
            const { active, isMarked: isMarkThere, ...expected } = yield* inParts(log, session, limit)
            same(isThere ?? isMarkThere, isMarkThere, () => `whether ${session} has a mark`)
            same(found, expected, () => `what ${session} is opened with`)
            sameRows("summary", rows ?? [], active, () => `the active summary that ${session} is opened with`)
          }
      }),
  }),
]
