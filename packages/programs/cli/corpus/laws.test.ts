/**
 * The laws of strategies over real transcripts: stretches of them, since laws look at every message many times. What
 * is tried is drawn anew each time; a report has its seed.
 */
import { Either } from "effect"
import * as fc from "fast-check"
import { strategyProperties } from "@memfold/testing"
import { lawSuite } from "@memfold/testing/vitest"
import { strategies } from "@memfold/catalog"
import { corpus, settings } from "@memfold/harness/corpus"

const conversations = corpus.flatMap(({ found }) => found).filter(({ messages }) => messages.length > 0)

/** A transcript is tested in pieces of at most this many messages. */
const longest = 60

/** Any stretch of any transcript. */
const stretch = fc
  .tuple(fc.constantFrom(...conversations), fc.nat(), fc.integer({ min: 2, max: longest }))
  .map(([{ messages }, start, length]) => {
    const from = start % messages.length
    return messages.slice(from, from + length)
  })

for (const [name, { resolve }] of strategies) {
  const strategy = Either.getOrThrow(resolve({ request: settings[name] ?? {} }))
  lawSuite(
    `${name}: over real transcripts`,
    strategyProperties(strategy, {
      conversations: stretch,
      numRuns: 40,
      ...(name === "rounds" ? { turns: { keep: 2, batchSize: 1 } } : {}),
    }),
  )
}
