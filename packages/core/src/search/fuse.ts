/** Fuses a ranking by words with one by meaning. */
import { best, type Candidate, speakerWeight } from "./rank.js"

/** A message that is near to the query by its meaning. */
export interface NearMessage {
  readonly index: number
  /** The cosine similarity of its piece that is nearest, rounded: the same vectors can differ in the last digits. */
  readonly similarity: number
  /** Whether that is near enough to be found by its meaning alone. */
  readonly isNear: boolean
  /** Where this piece begins. */
  readonly offset: number
}

/** How much of a score is the ranking by meaning, where there is one. Decision 52 has the measurement. */
const meaningWeight = 0.35

/** What part of the similarity of the messages two places before it to two places behind it makes up what a message is worth by meaning. */
const sharesOfMeaning = [
  { away: -2, part: 0.1 },
  { away: -1, part: 0.2 },
  { away: 0, part: 1 },
  { away: 1, part: 0.2 },
  { away: 2, part: 0.1 },
]

/** The message that is nearest by its meaning has at least this place: words cannot hide it. */
const lastPlaceOfNearest = 20

/** Whether a message was said by who the query asks about. */
export type IsSaid = (source: number, index: number) => boolean

/** A message that is near or beside one: what it is worth by its own similarity and the shares of its neighbours. */
interface Shared extends Partial<NearMessage> {
  readonly index: number
  readonly worth: number
}

const withShares = (near: ReadonlyArray<NearMessage>): ReadonlyArray<Shared> => {
  const known = new Map(near.map((one) => [one.index, one]))
  const around = new Set(near.flatMap(({ index }) => sharesOfMeaning.map(({ away }) => index + away)))
  return [...around].map((index) => ({
    ...known.get(index),
    index,
    worth: sharesOfMeaning.reduce(
      (sum, { away, part }) => sum + part * Math.max(known.get(index + away)?.similarity ?? 0, 0),
      0,
    ),
  }))
}

/**
 * Fuses a ranking by words and one by meaning: 0.65 of the score by words and 0.35 of the similarity with the shares of neighbours, each
 * as a part of the best one. Without messages that are near, the ranking by words stays as it is.
 *
 * @param byWords - the candidates by words, the best first
 * @param near - the messages of each session that are nearest, in any order. A message that words have not found must be near enough
 * @param isSaid - whether who the query asks about said a message: it counts for more
 */
export const fuse = (
  byWords: ReadonlyArray<Candidate>,
  near: ReadonlyArray<ReadonlyArray<NearMessage>>,
  isSaid: IsSaid = () => false,
): ReadonlyArray<Candidate> => {
  const byMeaning = near.flatMap((messages, source) =>
    withShares(messages).map((one) => ({
      ...one,
      source,
      score: one.worth * (isSaid(source, one.index) ? speakerWeight : 1),
    })),
  )
  const nearest = byMeaning.reduce((most, { score }) => Math.max(most, score), 0)
  if (nearest <= 0) return byWords
  const most = byWords[0]?.score ?? 1
  const fused = new Map<string, Candidate>()
  for (const one of byWords)
    fused.set(`${one.source} ${one.index}`, { ...one, score: ((1 - meaningWeight) * one.score) / most })
  for (const { source, index, offset, score, isNear = false } of byMeaning) {
    const key = `${source} ${index}`
    const known = fused.get(key)
    if (known === undefined && !isNear) continue
    fused.set(key, {
      source,
      index,
      ...(offset === undefined ? {} : { offset }),
      score: (known?.score ?? 0) + (meaningWeight * score) / nearest,
      // What words did not find is only as good as the place that is near.
      fits: isNear || known!.fits,
      covered: known?.covered ?? 0,
    })
  }
  const found = best(fused.values())
  const [first] = best(
    byMeaning.filter(({ isNear }) => isNear).map((one) => ({ ...one, score: one.similarity ?? 0 })),
  )
  const at = found.findIndex(({ source, index }) => source === first?.source && index === first.index)
  return at < lastPlaceOfNearest
    ? found
    : found.toSpliced(at, 1).toSpliced(lastPlaceOfNearest - 1, 0, found[at]!)
}
