/** Searching the words of many sessions, with recall. */
import type { schemas } from "@memfold/client"
import { ask, post } from "./ask.js"

/** The message of a session that fits best. */
export interface Found {
  /** Its message index. */
  readonly index: number
  /** A part of its text, with the first of the words. */
  readonly text: string
  /** Higher for what fits better. */
  readonly score: number
}

/** How much is not searched yet, since its index is still being built. */
export interface Unsearched {
  readonly left: number
  /** What `left` counts. */
  readonly what: "message" | "session"
}

/** How many sessions are searched at once. */
const atOnce = 4
/** How long an excerpt is, and how much of it stands before the first word, in characters. */
const [excerptLength, before] = [200, 60]

type Hits = {
  readonly unsearched?: number
  readonly unsearchedSessions?: number
  readonly messages: ReadonlyArray<{
    readonly session?: string
    readonly index: number
    readonly text: string
    readonly rank?: number
  }>
}

/** The pieces of a text: each second one is a word. */
export const piecesOf = (text: string): ReadonlyArray<string> => text.split(/([\p{L}\p{N}]+)/u)

/** The words of a text, without their marks. */
export const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(piecesOf(text.toLowerCase()).filter((_, at) => at % 2 === 1))

/** How many words of a query a hit has; among hits that have as many, what the service ranks higher. */
const scoreOf = (query: ReadonlySet<string>, { rank, text }: Hits["messages"][number]): number => {
  const words = wordsIn(text)
  const shared = [...query].filter((word) => words.has(word)).length
  // Each session of its own has a first rank: ranks alone do not compare sessions.
  return shared + (rank === undefined ? 0 : 0.5 / rank)
}

/** The part of a text around the first of the words; the start if it has none of them. */
export const excerptOf = (query: ReadonlySet<string>, text: string): string => {
  let first = 0
  for (const [at, piece] of piecesOf(text).entries()) {
    if (at % 2 === 1 && query.has(piece.toLowerCase())) break
    first += piece.length
  }
  const from = first >= text.length || first <= before ? 0 : first - before
  const cut = text.slice(from, from + excerptLength)
  return `${from > 0 ? "…" : ""}${cut}${from + excerptLength < text.length ? "…" : ""}`
}

/** How long a search that is partial waits before it is asked again, in milliseconds: longer each time, since the index needs the machine. */
const [firstPause, longestPause] = [300, 5_000]

/**
 * Searches again until nothing is left.
 *
 * @param search - what it resolves with says how much is left
 */
export const untilWhole = async (search: () => Promise<number | undefined>): Promise<void> => {
  for (let pause = firstPause; (await search()) !== undefined; pause = Math.min(2 * pause, longestPause))
    await new Promise((resolve) => setTimeout(resolve, pause))
}

/**
 * Searches the messages of sessions: of each owner at once, and of sessions without an owner one by one. What cannot be searched is
 * left out. What is still being indexed is searched until all of it was; meanwhile, `indexing` hears how much is left.
 */
export const searchWords = async (
  query: string,
  sessions: ReadonlyArray<schemas.SessionInfo>,
  indexing: (left: Unsearched | null) => void,
): Promise<ReadonlyMap<string, Found>> => {
  const found = new Map<string, Found>()
  const asked = wordsIn(query)
  const take = (session: string, hit: Hits["messages"][number]): void => {
    const score = scoreOf(asked, hit)
    if (score > (found.get(session)?.score ?? -1))
      found.set(session, { index: hit.index, text: excerptOf(asked, hit.text), score })
  }
  const owners = new Set(sessions.flatMap(({ owner }) => owner ?? []))
  const ownerless = sessions.filter(({ owner }) => owner === undefined)
  const body = { query, tokens: 2_000 }
  const whole = (what: Unsearched["what"], search: () => Promise<Hits>) => () =>
    untilWhole(async () => {
      const { messages, unsearched, unsearchedSessions } = await search()
      for (const hit of messages) if (hit.session !== undefined) take(hit.session, hit)
      const left = unsearchedSessions ?? unsearched
      indexing(left === undefined ? null : { left, what })
      return left
    })
  const searches = [
    ...[...owners].map((owner) =>
      whole("session", () => ask<Hits>("/v1/recall", { method: "POST", body: { ...body, owner } })),
    ),
    ...ownerless.map(({ session }) =>
      whole("message", async () => {
        const found = await post<Hits>(session, "/recall", body)
        return { ...found, messages: found.messages.map((hit) => ({ ...hit, session })) }
      }),
    ),
  ]
  const work = async (): Promise<void> => {
    for (let next = searches.shift(); next !== undefined; next = searches.shift())
      await next().catch(() => undefined)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return found
}
