/** The laws of vector indexes, as properties. */
import type { VectorIndex } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import * as fc from "fast-check"
import { type Law, makeLaw, must, same } from "../law/Law.js"
import { type VectorIndexPropertiesOptions, withIndex } from "./input.js"

const sessions = ["s", "t", "🎈"]
const dimensions = 4

/** Vectors of small whole numbers, so that several have the same similarity, made 1 long. */
const vector = fc
  .array(fc.integer({ min: -2, max: 2 }), { minLength: dimensions, maxLength: dimensions })
  .map((list) => {
    const numbers = list.every((value) => value === 0) ? [1, 0, 0, 0] : list
    const length = Math.hypot(...numbers)
    return Float32Array.from(numbers, (value) => value / length)
  })

const message = fc.record({
  digest: fc.nat({ max: 0xffff_ffff }),
  vectors: fc.array(vector, { minLength: 1, maxLength: 3 }),
})

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("write" as const),
      session: fc.constantFrom(...sessions),
      space: fc.constantFrom("one", "one", "one", "two"),
      messages: fc.array(message, { maxLength: 5 }),
      anew: fc.boolean(),
      forget: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
      wrong: fc.constantFrom("nothing", "nothing", "nothing", "version", "event", "none"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("forget" as const),
      session: fc.constantFrom(...sessions),
      version: fc.option(fc.nat({ max: 20 })),
    }),
  },
)

const query = fc.record({ vector, before: fc.nat({ max: 12 }), limit: fc.integer({ min: 1, max: 6 }) })

/** What is kept of a session, by the book. */
interface Expected {
  place: VectorIndex.Extent
  entries: Map<number, VectorIndex.Entry>
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Does a step with the index and by the book. */
const doStep = (index: VectorIndex.Service, book: Map<string, Expected>, one: Step, position: number) =>
  Effect.gen(function* () {
    const kept = book.get(one.session)
    if (one.act === "forget") {
      yield* index.forget(one.session, ...(one.version === null ? [] : [one.version]))
      if (one.version === null) book.delete(one.session)
      else kept?.entries.delete(one.version)
      return
    }
    const drops = one.anew || kept?.place.space !== one.space
    const from = drops ? 0 : (kept?.place.version ?? 0)
    const place = { space: one.space, version: from + one.messages.length + 1, event: `e${position}` }
    const entries = one.messages.map(({ digest, vectors }, at) => ({
      index: from + at,
      version: from + at + 1,
      digest,
      pieces: vectors.map((vector, piece) => ({ offset: 100 * piece, vector })),
    }))
    const now = kept?.place ?? null
    const expected =
      one.wrong === "none"
        ? null
        : now === null || one.wrong === "nothing"
          ? now
          : { ...now, ...(one.wrong === "version" ? { version: now.version + 1 } : { event: "another" }) }
    const { anew, forget } = one
    const written = yield* index.write(one.session, { expected, place, anew, forget, entries })
    same(written, expected === now, () => "whether it was written")
    if (!written) return
    const left = drops ? new Map<number, VectorIndex.Entry>() : new Map(kept?.entries)
    for (const version of forget) left.delete(version)
    for (const entry of entries) left.set(entry.version, entry)
    book.set(one.session, { place, entries: left })
  })

const product = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0)

/** Vectors of SIMD units and of JavaScript differ in their last digits. */
const tolerance = 1e-4

const checkNearest = (
  near: ReadonlyArray<VectorIndex.Near>,
  kept: Expected | undefined,
  asked: VectorIndex.NearestRequest,
): void => {
  const all = [...(kept?.entries.values() ?? [])].flatMap(({ index, version, pieces }) =>
    index >= asked.before || kept?.place.space !== asked.space
      ? []
      : pieces.map(({ offset, vector }) => ({
          place: `${index} ${version} ${offset}`,
          similarity: product(vector, asked.vector),
        })),
  )
  same(near.length, Math.min(all.length, asked.limit), () => "how many pieces are near")
  const similarities = new Map(all.map(({ place, similarity }) => [place, similarity]))
  for (const [position, { index, version, offset, similarity }] of near.entries()) {
    const place = `${index} ${version} ${offset}`
    const right = similarities.get(place)
    must(right !== undefined, () => `the piece ${place} is not of this session, or found twice`)
    similarities.delete(place)
    must(Math.abs(similarity - right) < tolerance, () => `the similarity of ${place} is ${similarity}`)
    const before = near[position - 1]?.similarity ?? 1
    must(similarity <= before + tolerance, () => `the piece ${place} is nearer than the one before it`)
  }
  const last = near.at(-1)?.similarity ?? 1
  for (const [place, similarity] of similarities)
    must(similarity <= last + tolerance, () => `the piece ${place} is nearer than the last one`)
}

const checkAll = (
  index: VectorIndex.Service,
  book: ReadonlyMap<string, Expected>,
  asked: Omit<VectorIndex.NearestRequest, "space">,
) =>
  Effect.gen(function* () {
    const listed = Chunk.toReadonlyArray(yield* Stream.runCollect(index.sessions))
    same(listed.toSorted(), [...book.keys()].toSorted(), () => "the sessions with vectors")
    for (const session of sessions) {
      const kept = book.get(session)
      same(yield* index.place(session), kept?.place ?? null, () => `how far the vectors of ${session} reach`)
      const loaded = yield* index.load(session)
      same(
        loaded,
        kept === undefined
          ? null
          : {
              place: kept.place,
              entries: [...kept.entries.values()]
                .map(({ index, version, digest }) => ({ index, version, digest }))
                .toSorted((one, other) => one.version - other.version),
            },
        () => `what is kept of ${session}`,
      )
      for (const space of ["one", "two"])
        checkNearest(yield* index.nearest(session, { ...asked, space }), kept, { ...asked, space })
    }
  })

/**
 * Returns the laws of vector indexes as properties for any test runner. `vectorIndexLaws` of `@memfold/testing/vitest`
 * registers them as tests. Each input gets an index of its own, which is closed afterwards.
 *
 * @example
 * ```ts
 * import { Recall, VectorIndex } from "@memfold/core"
 * import { check, vectorIndexProperties } from "@memfold/testing"
 * import { Layer } from "effect"
 *
 * const layer = Layer.sync(VectorIndex.VectorIndex, () => Recall.vectorsInProcess())
 * for (const law of vectorIndexProperties({ layer })) await check(law)
 * ```
 */
export const vectorIndexProperties = ({
  layer,
  reopen,
  numRuns = 100,
}: VectorIndexPropertiesOptions): ReadonlyArray<Law> => {
  const arbitrary = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 20 }), query })
  const describe = ({ steps }: { readonly steps: ReadonlyArray<Step> }) =>
    steps.map((one) => JSON.stringify(one)).join("\n")
  return [
    makeLaw({
      id: "L15",
      name: "a vector index keeps what was written, finds the nearest of one session, and forgets",
      explanation:
        "A change is written whole, or not at all if the session was changed since. What is found is of this session, of this\n" +
        "space, before the index asked for, and nothing nearer is left out. What is forgotten is gone.",
      numRuns,
      arbitrary,
      describe,
      holds: async ({ steps, query }) => {
        await withIndex(typeof layer === "function" ? layer() : layer, (index) =>
          Effect.gen(function* () {
            const book = new Map<string, Expected>()
            for (const [position, one] of steps.entries()) {
              yield* doStep(index, book, one, position)
              yield* checkAll(index, book, query)
            }
          }),
        )
      },
    }),
    ...(reopen === undefined
      ? []
      : [
          makeLaw({
            id: "L14",
            name: "a vector index that is opened again has what it had",
            explanation: "What was written before an index is closed, is found after it is opened again.",
            numRuns: Math.ceil(numRuns / 4),
            arbitrary,
            describe,
            holds: async ({ steps, query }) => {
              const file = reopen()
              const book = new Map<string, Expected>()
              for (const [position, one] of steps.entries()) {
                await withIndex(file, (index) => doStep(index, book, one, position))
              }
              await withIndex(file, (index) => checkAll(index, book, query))
            },
          }),
        ]),
  ]
}
