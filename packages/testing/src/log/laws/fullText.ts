/** A store that keeps full-text indexes keeps them as they are, and none of what was rewritten or deleted (L6, L15). */
import type { EventLog, FullTextIndex } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import type { LogKit } from "../input.js"

const session = fc.constantFrom("s", "t", "🎈")

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant("append" as const), session }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("write" as const),
      session,
      buckets: fc.array(fc.uint8Array({ maxLength: 6_000 }), { maxLength: 4 }),
      head: fc.uint8Array({ maxLength: 40 }),
      /** How many parts at the end it replaces. */
      replaced: fc.nat({ max: 3 }),
      wrong: fc.constantFrom("nothing", "nothing", "rewrites", "end", "batch"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("rewrite" as const), session, which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("delete" as const), session }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("drop" as const), session: fc.option(session) }) },
)

interface Kept {
  /** The batch id of each record. */
  batches: Array<string>
  rewrites: number
  parts: Array<FullTextIndex.NewPart>
}

/** Any hashes; which bucket each of them names depends on how many there are. */
const hashes = [0, 1, 2, 3, 4_294_967_295]

const checkIndex = (
  store: FullTextIndex.FullTextStore<EventLog.LogError>,
  name: string,
  kept: Kept | undefined,
) =>
  Effect.gen(function* () {
    const loaded = yield* store.load(name, hashes)
    const bytes = (data: Uint8Array | undefined) => (data === undefined ? null : [...data])
    same(
      loaded === null
        ? null
        : {
            version: loaded.version,
            rewrites: loaded.rewrites,
            parts: loaded.parts.map(({ version, batchId, buckets, head, found }) => ({
              place: [version, batchId, buckets],
              head: bytes(head),
              found: [...found].map(([bucket, data]) => [bucket, bytes(data)]).toSorted(),
            })),
          },
      kept === undefined
        ? null
        : {
            version: kept.batches.length,
            rewrites: kept.rewrites,
            parts: kept.parts.map(({ version, batchId, buckets, head }) => ({
              place: [version, batchId, buckets.length],
              head: bytes(head),
              found: [...new Set(buckets.length === 0 ? [] : hashes.map((hash) => hash % buckets.length))]
                .map((bucket) => [bucket, bytes(buckets[bucket])])
                .toSorted(),
            })),
          },
      () => `the index of ${name}`,
    )
    for (const { version, buckets } of kept?.parts ?? []) {
      same(
        (yield* store.buckets(name, version))?.map((data) => [...data]) ?? null,
        buckets.map((data) => [...data]),
        () => `the buckets of the part of ${name} that ends at ${version}`,
      )
    }
    must((yield* store.buckets(name, 1_000)) === null, () => "there is a part that nobody wrote")
  })

export const fullTextLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L15",
    name: "an index has nothing that was rewritten or deleted since the log was read for it",
    explanation:
      "For stores that keep full-text indexes. A part is stored whole, or not at all: if the session was rewritten since the\n" +
      "log was read, if another process has changed the index, or if the log is another one. A rewrite drops the parts with\n" +
      "the rewritten records and those after them, deleting a session drops its index, and other sessions keep theirs.",
    arbitrary: fc.array(step, { minLength: 1, maxLength: 25 }),
    holds: (log, steps) =>
      Effect.gen(function* () {
        const { fullText } = log
        if (fullText === undefined) return
        const sessions = new Map<string, Kept>()
        for (const [position, one] of steps.entries()) {
          const name = one.session
          const kept = name === null ? undefined : sessions.get(name)
          const batchId = `c${position}`
          if (one.act === "append") {
            const before = kept ?? { batches: [], rewrites: 0, parts: [] }
            yield* log.append(one.session, numbered(2), { expectedVersion: before.batches.length, batchId })
            before.batches.push(batchId, batchId)
            sessions.set(one.session, before)
          } else if (one.act === "delete") {
            yield* log.delete(one.session)
            sessions.delete(one.session)
          } else if (one.act === "drop") {
            yield* fullText.drop(...(one.session === null ? [] : [one.session]))
            for (const [other, { parts }] of sessions)
              if (one.session === null || other === one.session) parts.length = 0
          } else if (one.act === "rewrite") {
            if (kept === undefined) continue
            const version = (one.which % kept.batches.length) + 1
            yield* log.rewrite(one.session, [{ version, schemaVersion: 1, data: "{}" }], numbered(1), {
              expectedVersion: kept.batches.length,
              batchId,
            })
            kept.batches.push(batchId)
            kept.rewrites++
            kept.parts = kept.parts.filter((part) => part.version < version)
          } else {
            const end = kept?.parts.at(-1)?.version ?? 0
            const version = Math.max(kept?.batches.length ?? 1, 1)
            // A part replaces at least the one that ends where it does.
            const left = (kept?.parts ?? []).slice(0, -one.replaced || undefined)
            const stays = left.filter((part) => part.version < version)
            const part = {
              version,
              batchId: one.wrong === "batch" ? "another" : (kept?.batches[version - 1] ?? ""),
              head: one.head,
              buckets: one.buckets,
            }
            const place = {
              rewrites: (kept?.rewrites ?? 0) + (one.wrong === "rewrites" ? 1 : 0),
              end: one.wrong === "end" ? end + 1 : end,
              after: stays.at(-1)?.version ?? 0,
            }
            const written = yield* fullText.write(one.session, place, part)
            same(written, kept !== undefined && one.wrong === "nothing", () => "whether it was written")
            if (written && kept !== undefined) kept.parts = [...stays, part]
          }
          for (const name of ["s", "t", "🎈"]) yield* checkIndex(fullText, name, sessions.get(name))
        }
      }),
  }),
]
