/** A model that converses and writes summaries, and what its provider's prompt cache has of the questions for them. */
import { type Answering, cacheMiss, type ProviderServer, seeded } from "@memfold/strict-providers"

const isQuestion = (body: object): boolean =>
  JSON.stringify(body).includes("This message comes from the application, not from the user.")

/** Answers as {@link seeded} does, and writes a summary where it is asked for one. */
export const conversing = (seed: number): Answering => {
  const said = seeded(seed)
  return (asked) => (isQuestion(asked.body) ? { text: `They talked. ${asked.turn}` } : said(asked))
}

/** For each question for a summary, where it differs from the request before it; `null` where the cache has all of it. */
export const missesOf = ({ received }: Pick<ProviderServer, "received">): ReadonlyArray<string | null> =>
  received.flatMap(({ body }, at) => {
    if (!isQuestion(body)) return []
    const before = received.slice(0, at).findLast((one) => !isQuestion(one.body))
    return [before === undefined ? "there is no request before it" : cacheMiss(before.body, body)]
  })

/** The requests that were prompts of their own. */
export const ownPrompts = ({ received }: Pick<ProviderServer, "received">): ReadonlyArray<object> =>
  received.map(({ body }) => body).filter((body) => JSON.stringify(body).includes("You write the memory of"))
