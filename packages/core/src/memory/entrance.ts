/** The one way into the log: whatever is appended is guarded and counted here. */
import { Effect } from "effect"
import type { CountedMessage } from "../engine/append.js"
import { CurrentActor } from "../event/Actor.js"
import type { GuardCounts } from "../event/Event.js"
import { type BeforeAppend, type Guarded, guardedBy, GuardRefused } from "../guard/Guard.js"
import { inSteps, mappedInSteps, type Steps } from "@memfold/log/breathe"
import { type Message, text, user } from "@memfold/message/Message"
import { ofBoundParts, ofMessage, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import type { DescriptionChange, GuardedChange } from "../session/description.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"

/** What messages pass on their way into the log. */
export interface Entrance {
  readonly sessions: Sessions
  readonly counter: TokenCounter
  readonly beforeAppend: BeforeAppend | undefined
}

/** Messages as they are stored in a session. Whatever is appended, passes here. */
export const guarded = (
  { sessions, beforeAppend }: Pick<Entrance, "sessions" | "beforeAppend">,
  session: string,
  messages: ReadonlyArray<Message>,
  owner?: string | null,
): Effect.Effect<ReadonlyArray<Guarded>, GuardRefused | SessionError> =>
  Effect.gen(function* () {
    if (beforeAppend === undefined || messages.length === 0) return messages.map((message) => ({ message }))
    const { description } = sessions.cached(session) ?? (yield* sessions.load(session))
    const named = owner ?? description.owner
    const actor = yield* CurrentActor
    return yield* guardedBy(beforeAppend, messages, {
      session,
      ...(named === null ? {} : { owner: named }),
      ...(actor === null ? {} : { actor: actor.id }),
    })
  })

/** A text beside messages as it is stored: it may repeat what was said, so the guard sees it, as a message of the user. */
export const guardedText = (
  parts: Pick<Entrance, "sessions" | "beforeAppend">,
  session: string,
  given: string,
  { place, owner }: { readonly place: string; readonly owner?: string | null | undefined },
): Effect.Effect<{ readonly text: string; readonly guarded?: GuardCounts }, GuardRefused | SessionError> =>
  given === "" || parts.beforeAppend === undefined
    ? Effect.succeed({ text: given })
    : guarded(parts, session, [user(given)], owner).pipe(
        Effect.mapBoth({
          onSuccess: ([stored]) => ({
            text: stored === undefined ? "" : text(stored.message),
            ...(stored?.guarded === undefined ? {} : { guarded: stored.guarded }),
          }),
          onFailure: (error) =>
            error._tag === "GuardRefused" ? new GuardRefused({ ...error, place }) : error,
        }),
      )

/** A description as it is stored. */
export const guardedTitle = <A extends DescriptionChange>(
  parts: Pick<Entrance, "sessions" | "beforeAppend">,
  session: string,
  change: A,
): Effect.Effect<A & GuardedChange, GuardRefused | SessionError> =>
  typeof change.title !== "string" || change.title === ""
    ? Effect.succeed(change)
    : Effect.map(
        guardedText(parts, session, change.title, { place: "the title", owner: change.owner }),
        ({ text: title, ...counts }) => ({ ...change, title: title || null, ...counts }),
      )

/** From which length on a text is counted in steps, in UTF-16 code units. */
const longText = 65_536

const withKnown = (counter: TokenCounter, known: ReadonlyMap<string, number>): TokenCounter => ({
  ...counter,
  count: (text) => known.get(text) ?? counter.count(text),
})

/** The tokens of the long texts of a message, each counted once and in steps, whatever asks for them. */
function* countedLong(counter: TokenCounter, message: Message): Steps<ReadonlyMap<string, number>> {
  const known = new Map<string, number>()
  if (counter.countInSteps === undefined) return known
  const long = new Set<string>()
  // Whatever is counted of a message, is asked for; a number is not needed yet.
  const note = (text: string): number => {
    if (text.length > longText) long.add(text)
    return 0
  }
  ofMessage({ ...counter, count: note }, message)
  for (const text of long) known.set(text, yield* counter.countInSteps(text))
  return known
}

/** Messages with their tokens, and with the tokens of their bound parts if they have any. Others have their turn while many are counted. */
export const counted = (
  counter: TokenCounter,
  messages: ReadonlyArray<Guarded>,
): Effect.Effect<ReadonlyArray<CountedMessage>> =>
  inSteps(() =>
    mappedInSteps(messages, function* (one): Steps<CountedMessage> {
      const known = yield* countedLong(counter, one.message)
      const own = known.size === 0 ? counter : withKnown(counter, known)
      return { ...one, tokens: ofMessage(own, one.message), boundTokens: ofBoundParts(own, one.message) }
    }),
  )
