/** Data are replaced in place: all of it or none, and nothing else of the session changes. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { listed, type LogKit, readAll } from "../input.js"

/** A store without `replace` has none of these laws; whether it has one is asked where its laws are registered. */
const replaceOf = (log: EventLog.Service): NonNullable<EventLog.Service["replace"]> => {
  must(log.replace !== undefined, () => "the store has no `replace`; register its laws with `replace: false`")
  return log.replace!
}

/** What a session is, beside its records. */
const around = (log: EventLog.Service, session: string) =>
  Effect.all({
    head: log.head(session),
    rows: log.projections.get(session, "snapshot"),
    list: Effect.map(listed(log), (all) => all.find((info) => info.session === session)),
  })

export const replaceLaws = ({ law, options }: LogKit): ReadonlyArray<Law> =>
  options.replace === false
    ? []
    : [
        law({
          id: "L12",
          name: "data are replaced in place, all or nothing, at the last record of the session",
          explanation:
            "Data, schema versions and checksums of some records are new, and a checksum goes where none is given. Times, types, batch\n" +
            "ids, the head, the list, the rows and other sessions stay. At any other position, and where there is no session,\n" +
            "nothing is replaced. An append behind it goes on, and what was replaced is put back as it was.",
          arbitrary: fc.record({
            batches: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
            which: fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1, maxLength: 5 }),
            data: fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => JSON.stringify(text)),
            checksum: fc.option(fc.nat({ max: 2 ** 32 - 1 }), { nil: undefined }),
            off: fc.integer({ min: -2, max: 2 }).filter((off) => off !== 0),
          }),
          holds: (log, { batches, which, data, checksum, off }) =>
            Effect.gen(function* () {
              const replace = replaceOf(log)
              const checked = (record: EventLog.NewRecord) => ({ ...record, checksum: 7 })
              let [version, batchId] = [0, ""]
              for (const [at, size] of batches.entries()) {
                const [first, ...rest] = numbered(size, version + 1)
                batchId = `b${at}`
                for (const session of ["s", "other"])
                  yield* log.append(session, [checked(first), ...rest.map(checked)], {
                    expectedVersion: version,
                    batchId,
                  })
                version += size
              }
              for (const session of ["s", "other"])
                yield* log.projections.put(session, { version, batchId }, [
                  { kind: "snapshot", rows: [{ key: "", data: "a row" }] },
                ])
              const before = yield* readAll(log, "s")
              const beside = yield* around(log, "s")
              const others = yield* readAll(log, "other")
              const versions = [...new Set(which.map((one) => (one % version) + 1))]
              const replaced = versions.map((one): EventLog.RewrittenRecord => ({
                version: one,
                schemaVersion: 1,
                data: one % 2 === 0 ? data : JSON.stringify(`${one}`),
                ...(checksum === undefined ? {} : { checksum }),
              }))
              const elsewhere = [
                ["s", { version: Math.max(version + off, 0), batchId }],
                ["s", { version, batchId: "elsewhere" }],
                ["nobody", { version, batchId }],
              ] as const
              for (const [session, at] of elsewhere)
                same(
                  yield* Effect.either(replace(session, replaced, at)).pipe(
                    Effect.map((done) => (done._tag === "Left" ? done.left._tag : "replaced")),
                  ),
                  "VersionConflict",
                  () => `the answer at ${JSON.stringify(at)} of ${session}`,
                )
              same(yield* readAll(log, "s"), before, () => "the records after a refusal")
              yield* replace("s", replaced, { version, batchId })
              const after = before.map((record) => {
                const change = replaced.find((one) => one.version === record.version)
                const { checksum: _checksum, ...rest } = record
                return change === undefined ? record : { ...rest, ...change }
              })
              same(yield* readAll(log, "s"), after, () => "the records afterwards")
              same(yield* around(log, "s"), beside, () => "head, rows and list afterwards")
              same(yield* readAll(log, "other"), others, () => "another session")
              const back = before.filter((record) => versions.includes(record.version))
              yield* replace("s", back, { version, batchId })
              same(yield* readAll(log, "s"), before, () => "the records that were put back")
              yield* log.append("s", numbered(1), {
                expectedVersion: version,
                lastBatchId: batchId,
                batchId: "on",
              })
              same((yield* log.head("s"))?.version, version + 1, () => "the version of an append behind it")
            }),
        }),
      ]
