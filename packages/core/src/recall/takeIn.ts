/** Takes into a vector index what the log of a session has and the index has not: messages, redactions and clears. */
import { Effect } from "effect"
import { eachEvent } from "./eachEvent.js"
import type { EmbedderError, Service as Embedder } from "./Embedder.js"
import type { IndexError, Source } from "./FullTextIndex.js"
import { gapsBefore, isCleared } from "../session/branches.js"
import { embeddedText, piecesOf, spaceOf, type TextPiece } from "./pieces.js"
import type { Change, Extent, Service as VectorIndex, VectorIndexError } from "@memfold/log/VectorIndex"

/** The errors of taking in: of the log, of the index, and of the embedder. */
export type TakeInError = IndexError | VectorIndexError | EmbedderError

export type Embed = (
  texts: ReadonlyArray<string>,
) => Effect.Effect<ReadonlyArray<Float32Array>, EmbedderError>

/** What a log has to take in of a session. */
type Log = Pick<Source, "session" | "gaps" | "events">

/** How often it begins again because another process changed the index, or because the index is of another log. */
const mostAttempts = 8

/** Pieces are embedded and written in batches of this many, or of the embedder's `maxTexts` if that is more. */
const leastPieces = 64

interface Text {
  readonly index: number
  readonly version: number
  readonly digest: number
  readonly pieces: ReadonlyArray<TextPiece>
}

interface ReadTexts extends Pick<Change, "anew" | "forget" | "place"> {
  readonly texts: ReadonlyArray<Text>
  readonly isPart: boolean
}

/** The start of a log, from which everything is taken in. */
const start = (space: string): Extent => ({ space, version: 0, event: "" })

/** Reads the events behind a place, until there are enough messages to embed; `null` if the log is another one. */
const readOn = (
  place: Extent,
  { gaps, events }: Log,
  embedder: Pick<Embedder, "maxTexts" | "maxCharacters">,
): Effect.Effect<ReadTexts | null, IndexError> =>
  Effect.gen(function* () {
    const most = Math.max(embedder.maxTexts ?? 0, leastPieces)
    const texts = new Map<number, Text>()
    const forget: Array<number> = []
    let [anew, count, isPart] = [place.version === 0, 0, false]
    let { version, event } = place
    let isSame = version === 0
    yield* eachEvent(events({ fromVersion: Math.max(version, 1) }), (recorded) => {
      if (recorded.version === place.version) isSame = recorded.id === place.event
      if (!isSame) return false
      if (recorded.version !== version + 1) return true
      if (count >= most) {
        isPart = true
        return false
      }
      version = recorded.version
      event = recorded.id
      const what = recorded.event
      if (what._tag === "SessionCleared" && isCleared(gaps, version)) {
        anew = true
        texts.clear()
        count = 0
      } else if (what._tag === "MessageRedacted") {
        forget.push(what.version)
        texts.delete(what.version)
      } else if (what._tag === "MessageAppended") {
        const found = embeddedText(what.message)
        const pieces = found === null ? [] : piecesOf(found.text, embedder)
        if (found !== null && pieces.length > 0)
          texts.set(version, { index: what.index, version, digest: found.digest, pieces })
        count += pieces.length
      }
      return true
    })
    if (!isSame) return null
    return { anew, forget, texts: [...texts.values()], place: { ...place, version, event }, isPart }
  })

const entriesOf = (texts: ReadonlyArray<Text>, embed: Embed) =>
  Effect.gen(function* () {
    const all = texts.flatMap(({ pieces }) => pieces)
    const vectors = all.length === 0 ? [] : yield* embed(all.map(({ text }) => text))
    let at = 0
    return texts.map(({ pieces, ...rest }) => ({
      ...rest,
      pieces: pieces.map(({ offset }) => ({ offset, vector: vectors[at++]! })),
    }))
  })

/**
 * Takes in everything that the log of a session has, in parts: what was written stays if the embedder fails later.
 *
 * A part names the place that it continues, so two processes do not write past each other. What was erased after its texts
 * were read is forgotten when the next part is read, before the embedder is asked for it: that comes before any search. If
 * the process ends before, it comes when a memory is opened (see {@link forgetErased}).
 */
export const takeIn = (
  index: VectorIndex,
  log: Log,
  { embedder, embed }: { readonly embedder: Embedder; readonly embed: Embed },
): Effect.Effect<void, TakeInError> =>
  Effect.gen(function* () {
    const { session } = log
    const space = spaceOf(embedder)
    for (let attempt = 0; attempt < mostAttempts;) {
      const before = yield* index.place(session)
      const known = before?.space === space ? before : start(space)
      const more = yield* readOn(known, log, embedder)
      const read = more ?? (yield* readOn(start(space), log, embedder))
      if (read === null) return
      const { texts, isPart, place, anew, forget } = read
      // Nothing has happened since.
      if (place.version === before?.version && known === before && !anew) return
      if (place.version === 0) return yield* index.forget(session)
      const isGone = before !== null && known === before && anew
      if (isGone) yield* index.forget(session)
      else if (before !== null)
        yield* Effect.forEach(forget, (version) => index.forget(session, version), { discard: true })
      const entries = yield* entriesOf(texts, embed)
      const expected = isGone ? null : before
      const written = yield* index.write(session, { expected, place, anew, forget, entries })
      if (!written) attempt++
      else if (!isPart && entries.length === 0) return
    }
  })

/**
 * Takes out of a vector index what the log of a session does not have any more: redacted messages, the messages before a
 * clear, and sessions that were deleted. It embeds nothing, so the place stays as it is.
 */
export const forgetErased = (
  index: VectorIndex,
  log: Omit<Log, "gaps">,
): Effect.Effect<void, IndexError | VectorIndexError> =>
  Effect.gen(function* () {
    const { session } = log
    const place = yield* index.place(session)
    if (place === null) return
    // Of a clear that was taken back, the next search makes the vectors again.
    const cleared = { ...log, gaps: gapsBefore(Number.MAX_SAFE_INTEGER) }
    const read = yield* readOn(place, cleared, { maxTexts: Number.POSITIVE_INFINITY })
    if (read === null || read.anew) return yield* index.forget(session)
    yield* Effect.forEach(read.forget, (version) => index.forget(session, version), { discard: true })
  })
