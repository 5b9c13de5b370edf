/** The full-text index in a store, compared with the log that it is made from. */
import { Effect, Either, Stream } from "effect"
import { batchIdOf, decode } from "../event/EventCodec.js"
import type { LogError, Service as EventLog } from "../log/EventLog.js"
import type { StoredPart } from "../log/FullText.js"
import { encodePart, isOfOtherRules } from "../recall/partForm.js"
import { beginning, SessionIndex } from "../recall/SessionIndex.js"

const isSame = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  one.length === other?.length && one.every((byte, at) => byte === other[at])

/**
 * The versions at which stored parts of an index end that differ from those that the log has; `null` if the session was
 * written to meanwhile, or its log cannot be decoded: nothing can be compared then. An index that was made by other rules
 * for terms is left out, because the next search builds it again.
 */
export const differingParts = (
  log: EventLog,
  session: string,
): Effect.Effect<ReadonlyArray<number> | null, LogError> =>
  Effect.gen(function* () {
    const { fullText } = log
    const stored = fullText === undefined ? null : yield* fullText.load(session, [])
    if (fullText === undefined || stored === null || stored.parts.length === 0) return []
    if (stored.parts.some((part) => isOfOtherRules(session, part))) return []
    const differing: Array<number> = []
    const waiting: Array<StoredPart> = [...stored.parts]
    let index = new SessionIndex(beginning)
    let isWhole = true
    yield* Stream.runForEach(log.read(session), (record) =>
      Effect.gen(function* () {
        const decoded = decode(record)
        if (Either.isLeft(decoded) || record.version !== index.version + 1) {
          isWhole = false
          return
        }
        index.add(decoded.right)
        const [part] = waiting
        if (part?.version !== record.version) return
        waiting.shift()
        const batchId = batchIdOf(decoded.right)
        const { clears, from, versions, lengths, postings } = index
        const expected = encodePart(
          { session, version: record.version, batchId },
          { clears, from, versions, lengths, postings },
        )
        const buckets = yield* fullText.buckets(session, record.version)
        const same =
          part.batchId === batchId &&
          part.buckets === expected.buckets.length &&
          isSame(expected.head, part.head) &&
          buckets?.length === expected.buckets.length &&
          expected.buckets.every((bytes, at) => isSame(bytes, buckets[at]))
        if (!same) differing.push(record.version)
        index = new SessionIndex({
          version: record.version,
          lastId: decoded.right.id,
          clears,
          messages: from + lengths.length,
        })
      }),
    )
    const now = yield* fullText.load(session, [])
    const moved =
      now?.version !== stored.version ||
      now.rewrites !== stored.rewrites ||
      now.parts.length !== stored.parts.length ||
      now.parts.some(({ version }, at) => version !== stored.parts[at]?.version)
    if (moved || !isWhole) return null
    return [...differing, ...waiting.map(({ version }) => version)]
  })
