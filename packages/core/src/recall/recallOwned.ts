/** Recall over the sessions of an owner: their messages are ranked together, within one budget. */
import { Effect } from "effect"
import { after, breather } from "../shell/breathe.js"
import type { SessionError } from "../shell/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { candidatesFor } from "./candidates.js"
import { choose, fewestTokens } from "./choose.js"
import { readerOf } from "./readLog.js"
import { nothing, type Reading, type Recalled, type RecallRequest, sourceOf } from "./recallMessages.js"
import { queryTermsOf } from "../search/terms.js"
import type { RecalledMessage } from "./transcript.js"

/** A message that was found in one of the sessions of an owner. */
export interface OwnedRecalledMessage extends RecalledMessage {
  /** The session that it is in. */
  readonly session: string
}

/** The messages that were found in the sessions of an owner. The messages of a session stand together, in the order of its
 * conversation. */
export interface OwnedRecalled extends Omit<Recalled, "messages"> {
  readonly messages: ReadonlyArray<OwnedRecalledMessage>
  /** The sessions that could not be searched, because one of their stored events is damaged. */
  readonly unreadable: ReadonlyArray<string>
}

/** What is searched for, and whose sessions. */
type OwnedRequest = { readonly owner: string } & Pick<RecallRequest, "query" | "tokens">

/** The line above the messages of a session. A title with line breaks must not look like messages. */
const headingOf = ({ session, description: { title } }: SessionState): string =>
  `# Session ${session}${title === null ? "" : `: ${title}`}`.replaceAll(/\s+/g, " ")

/** How many sessions are looked up at a time: behind a network, each session takes a while. */
const atOnce = 8

/**
 * Searches several sessions, and ranks their messages together. A session with a damaged event is left out.
 *
 * @param names - their ids; of equal messages, the messages of the first session come first
 * @param owner - to whom a session must belong, or it is left out
 */
export const recallOwned = (
  reading: Reading,
  names: ReadonlyArray<string>,
  request: OwnedRequest,
): Effect.Effect<OwnedRecalled, SessionError> =>
  search(reading, names, request).pipe(
    // A stored index can name messages that the log has lost: the damage is known only when they are read.
    Effect.catchTag("DamagedEvent", (damage) => {
      const others = names.filter((name) => name !== damage.session)
      if (others.length === names.length) return damage
      return Effect.map(recallOwned(reading, others, request), ({ unreadable, ...found }) => ({
        ...found,
        unreadable: names.filter((name) => name === damage.session || unreadable.includes(name)),
      }))
    }),
  )

const search = (
  { sessions, index, meaning, counter }: Reading,
  names: ReadonlyArray<string>,
  { owner, query, tokens }: OwnedRequest,
): Effect.Effect<OwnedRecalled, SessionError> =>
  Effect.gen(function* () {
    const terms = queryTermsOf(query)
    const unreadable: Array<string> = []
    if ((terms.length === 0 && !meaning.isOn) || tokens < fewestTokens)
      return { ...nothing, messages: [], unreadable }
    const lookUp = (name: string) =>
      Effect.gen(function* () {
        const state = yield* sessions.load(name)
        // The log is the truth: the list may be older, or changed by another program.
        if (state.description.owner !== owner) return null
        const before = state.total
        const source = sourceOf(sessions, state)
        const postings = yield* index.lookUp(source, { terms, before })
        const reader = readerOf(sessions, state)
        const searched = { reader, postings, before, without: () => false, heading: headingOf(state) }
        return { name, source, searched }
      }).pipe(
        Effect.catchTag("DamagedEvent", () =>
          Effect.sync(() => {
            unreadable.push(name)
            return null
          }),
        ),
      )
    const breathe = breather(atOnce)
    const all = yield* Effect.forEach(names, (name) => after(breathe(), lookUp(name)), {
      concurrency: atOnce,
    })
    const known = all.filter((one) => one !== null)
    const searched = known.map((one) => one.searched)
    const targets = known.map(({ source, searched: { postings } }) => ({ source, postings }))
    const candidates = yield* candidatesFor(meaning, { query, terms }, targets)
    const { found, ...rest } = yield* choose(counter, searched, candidates, { terms, tokens })
    const messages = found.flatMap(([source, list]) =>
      list.map((one) => ({ session: known[source]!.name, ...one })),
    )
    return { messages, ...rest, unreadable: names.filter((name) => unreadable.includes(name)) }
  })
