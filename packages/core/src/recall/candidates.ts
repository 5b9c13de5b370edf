/** The candidates for a query: ranked by words and, if there is an embedder, by meaning. */
import { Effect } from "effect"
import type { Meaning, Target } from "./Meaning.js"
import { fuse } from "../search/fuse.js"
import { type Candidate, type IsWanted, rankInSteps, saidBySpeakers } from "../search/rank.js"
import { inSteps } from "@memfold/log/breathe"
import type { SessionError } from "../shell/Sessions.js"
import type { Postings } from "./FullTextIndex.js"
import { asksForThePast } from "./whoSaid.js"
import { inTime, newestFirst, saidIn, type SearchedTime } from "./timed.js"

/**
 * What counts as relevant by words: the messages around the best candidate have at least this part of the query's weight, and
 * a candidate has at least this part of the best one's score. A message that asks for nothing needs what was said before only if
 * nearly all of its words were said there. Decision 40 has the measurement.
 */
const leastCovered = { asked: 0.3, told: 0.7 }
const leastScore = 0.3

const relevant = (candidates: ReadonlyArray<Candidate>, query: string): ReadonlyArray<Candidate> => {
  const [best] = candidates
  const least = asksForThePast(query) ? leastCovered.asked : leastCovered.told
  return best === undefined || best.covered < least
    ? []
    : candidates.filter(({ score }) => score >= leastScore * best.score)
}

/** A query with its terms and marks. */
export interface Query {
  readonly query: string
  readonly terms: ReadonlyArray<string>
  /** The marks of the speakers that it may mean. */
  readonly speakers: ReadonlyArray<string>
  /**
   * What an automatic search is for: then only what is relevant is found. What is near by its meaning is near enough to be
   * relevant, since an embedder says from which similarity on it is found at all.
   */
  readonly question?: string | undefined
  /** Which messages may be found by words; all of them by default. */
  readonly isWanted?: IsWanted | undefined
}

const nobody: ReadonlySet<number> = new Set()

export interface Candidates {
  /** The best first. */
  readonly candidates: ReadonlyArray<Candidate>
  /** How many messages of each session were not searched by their meaning, since their vectors are still being made. */
  readonly unsearched: ReadonlyArray<number>
}

const candidatesFor = (
  meaning: Meaning,
  { query, terms, speakers, question, isWanted }: Query,
  targets: ReadonlyArray<Target & { readonly postings: Postings<SessionError> }>,
): Effect.Effect<Candidates> =>
  Effect.gen(function* () {
    const near = yield* meaning.near(query, targets, question)
    const ranked = yield* inSteps(() =>
      rankInSteps(
        terms,
        targets.map(({ postings }) => postings),
        { isWanted, speakers },
      ),
    )
    // Of thousands of sessions, a few have messages that are near; without an embedder, none has.
    const asked = new Set(speakers)
    const said = near.map(({ messages }, source) =>
      messages.length === 0 ? nobody : saidBySpeakers(targets[source]!.postings, asked),
    )
    const candidates = fuse(
      question === undefined ? ranked : relevant(ranked, query),
      near.map(({ messages }) => messages),
      (source, index) => said[source]!.has(index),
    )
    return { candidates, unsearched: near.map(({ unsearched }) => unsearched) }
  })

/**
 * The candidates for a query in time. Where only messages of a time are found, these alone are ranked; where
 * nothing is asked for but a time, its newest messages come first.
 */
export const candidatesInTime = (
  meaning: Meaning,
  { time, ...query }: Query & { readonly time: SearchedTime | null },
  targets: ReadonlyArray<Target & { readonly postings: Postings<SessionError> }>,
): Effect.Effect<Candidates> => {
  if (time === null) return candidatesFor(meaning, query, targets)
  const { span, only } = time
  const postings = targets.map((target) => target.postings)
  if (query.terms.length === 0 && only)
    return Effect.map(
      inSteps(() => newestFirst(postings, span)),
      (candidates) => ({ candidates, unsearched: [] }),
    )
  const isWanted = only ? saidIn(postings, span) : undefined
  return Effect.map(
    candidatesFor(meaning, { ...query, isWanted }, targets),
    ({ candidates, unsearched }) => ({
      candidates: inTime(postings, candidates, time),
      unsearched,
    }),
  )
}
