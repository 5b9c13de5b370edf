/** Searching the words of many sessions, with recall. */
import type { schemas } from "@memfold/client"
import { ask, ofSession } from "./ask.js"

/** The message of a session that fits best. */
export interface Found {
  readonly text: string
  /** Higher for what fits better. */
  readonly score: number
}

/** How many sessions are searched at once. */
const atOnce = 4
const excerptLength = 200

type Hits = {
  readonly messages: ReadonlyArray<{
    readonly session?: string
    readonly text: string
    readonly rank?: number
  }>
}

/** The words of a text, without their marks. */
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])

/** How many words of a query a hit has; among hits that have as many, what the service ranks higher. */
const scoreOf = (query: ReadonlySet<string>, { rank, text }: Hits["messages"][number]): number => {
  const words = wordsIn(text)
  const shared = [...query].filter((word) => words.has(word)).length
  // Each session of its own has a first rank: ranks alone do not compare sessions.
  return shared + (rank === undefined ? 0 : 0.5 / rank)
}

/**
 * Searches the messages of sessions: of each owner at once, and of sessions without an owner one by one. What cannot be searched is
 * left out.
 */
export const searchWords = async (
  query: string,
  sessions: ReadonlyArray<schemas.SessionInfo>,
): Promise<ReadonlyMap<string, Found>> => {
  const found = new Map<string, Found>()
  const asked = wordsIn(query)
  const take = (session: string, hit: Hits["messages"][number]): void => {
    const score = scoreOf(asked, hit)
    const known = found.get(session)
    if (known === undefined || score > known.score)
      found.set(session, { text: hit.text.slice(0, excerptLength), score })
  }
  const owners = new Set(sessions.flatMap(({ owner }) => owner ?? []))
  const ownerless = sessions.filter(({ owner }) => owner === undefined)
  const body = { query, tokens: 2_000 }
  const searches = [
    ...[...owners].map((owner) => async () => {
      const { messages } = await ask<Hits>("/v1/recall", { method: "POST", body: { ...body, owner } })
      for (const hit of messages) if (hit.session !== undefined) take(hit.session, hit)
    }),
    ...ownerless.map(({ session }) => async () => {
      const { messages } = await ask<Hits>(ofSession(session, "/recall"), { method: "POST", body })
      for (const hit of messages) take(session, hit)
    }),
  ]
  const work = async (): Promise<void> => {
    for (let next = searches.shift(); next !== undefined; next = searches.shift())
      await next().catch(() => undefined)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return found
}
