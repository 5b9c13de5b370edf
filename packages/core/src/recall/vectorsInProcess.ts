/** The vector index in the process. It is bounded, and ends with the process. */
import { Effect, Stream } from "effect"
import { amount, checkArguments } from "../options/OptionGroup.js"
import {
  type Entry,
  type Extent,
  isSameExtent,
  type Near,
  type Service,
  VectorIndexError,
} from "@memfold/log/VectorIndex"

interface Vectors {
  place: Extent
  /** By version. */
  readonly entries: Map<number, Entry>
  /** How many numbers its vectors have together. */
  size: number
}

const sizeOf = ({ pieces }: Entry): number => pieces.reduce((sum, { vector }) => sum + vector.length, 0)

const product = (one: Float32Array, other: Float32Array): number => {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!
  return sum
}

/**
 * Makes a vector index in the process.
 *
 * @param options - `capacity`: how many numbers to keep, of all vectors together. 16,000,000 by default, which take 64 MB: some
 *   10,000 messages with 1,536 numbers each. The sessions that were searched least recently are dropped for others, and are
 *   embedded again when they are searched. A session that is larger by itself is searched by words alone.
 * @throws InvalidOption: the capacity is no number
 *
 * @example
 * ```ts
 * import { Recall, VectorIndex } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const small = Layer.sync(VectorIndex.VectorIndex, () => Recall.vectorsInProcess({ capacity: 1_000_000 }))
 * ```
 */
export const vectorsInProcess = ({ capacity = 16_000_000 } = {}): Service => {
  checkArguments("Recall.vectorsInProcess", { capacity: amount }, { capacity })
  /** The least recently used first. */
  const sessions = new Map<string, Vectors>()
  let size = 0

  const used = (session: string): Vectors | null => {
    const vectors = sessions.get(session)
    if (vectors === undefined) return null
    sessions.delete(session)
    sessions.set(session, vectors)
    return vectors
  }
  const drop = (session: string): void => {
    size -= sessions.get(session)?.size ?? 0
    sessions.delete(session)
  }
  const remove = (vectors: Vectors, version: number): void => {
    const entry = vectors.entries.get(version)
    if (entry === undefined) return
    vectors.entries.delete(version)
    vectors.size -= sizeOf(entry)
    size -= sizeOf(entry)
  }

  return {
    place: (session) => Effect.sync(() => used(session)?.place ?? null),
    write: (session, { expected, place, anew, forget, entries }) =>
      Effect.suspend(() => {
        const before = used(session)
        if (!isSameExtent(before?.place ?? null, expected)) return Effect.succeed(false)
        const stays = !anew && before !== null && before.place.space === place.space
        const added = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
        if ((stays ? before.size : 0) + added > capacity) {
          const detail = `it is full: its vectors take more than ${capacity} numbers; give a larger capacity, or an index in a file`
          return Effect.fail(new VectorIndexError({ session, operation: "write", detail }))
        }
        if (!stays) drop(session)
        const vectors: Vectors = stays ? before : { place, entries: new Map(), size: 0 }
        vectors.place = place
        for (const version of forget) remove(vectors, version)
        for (const entry of entries) {
          remove(vectors, entry.version)
          vectors.entries.set(entry.version, entry)
          vectors.size += sizeOf(entry)
          size += sizeOf(entry)
        }
        sessions.set(session, vectors)
        for (const oldest of sessions.keys()) {
          if (size <= capacity || oldest === session) break
          drop(oldest)
        }
        return Effect.succeed(true)
      }),
    nearest: (session, { space, vector, before, limit }) =>
      Effect.sync(() => {
        const vectors = used(session)
        if (vectors === null || vectors.place.space !== space) return []
        const near: Array<Near> = []
        for (const { index, version, pieces } of vectors.entries.values()) {
          if (index >= before) continue
          for (const piece of pieces)
            near.push({ index, version, offset: piece.offset, similarity: product(vector, piece.vector) })
        }
        return near
          .toSorted(
            (one, other) =>
              other.similarity - one.similarity || other.index - one.index || one.offset - other.offset,
          )
          .slice(0, limit)
      }),
    forget: (session, version) =>
      Effect.sync(() => {
        const vectors = sessions.get(session)
        if (version === undefined) drop(session)
        else if (vectors !== undefined) remove(vectors, version)
      }),
    load: (session) =>
      Effect.sync(() => {
        const vectors = sessions.get(session)
        if (vectors === undefined) return null
        const entries = [...vectors.entries.values()].map(({ index, version, digest }) => ({
          index,
          version,
          digest,
        }))
        return {
          place: vectors.place,
          entries: entries.toSorted((one, other) => one.version - other.version),
        }
      }),
    sessions: Stream.suspend(() => Stream.fromIterable([...sessions.keys()])),
  }
}
