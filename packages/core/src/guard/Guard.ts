/**
 * The guard of a memory: it sees each message before it is stored, whatever way it comes in, and says what of it is stored. What a message
 * is stored as depends on nothing but the message and where it goes, so that one that is sent again is known again.
 */
import { Cause, Effect, Predicate, Schema } from "effect"
import { Message } from "@memfold/message/Message"
import type { GuardCounts } from "../event/Event.js"
import { type Mark, meant, occurrencesOf, type TextOf, textsOf, withMarksIn } from "./texts.js"

export { type TextOf, textsOf } from "./texts.js"
export type { GuardCounts } from "../event/Event.js"

/** Where a message goes. */
export interface About {
  readonly session: string
  /** The owner of the session; absent if it has none. */
  readonly owner?: string | undefined
  /** Who appends, where that is known. */
  readonly actor?: string | undefined
}

/** A piece of a text that is not stored: its kind, such as `aws`, and where it is, in UTF-16 code units. */
export interface Span {
  /** The {@link TextOf.place} of the text. */
  readonly place: string
  readonly from: number
  readonly to: number
  readonly kind: string
}

/** What is stored of a message; see {@link keep}, {@link redact}, {@link replace} and {@link refuse}. */
export type Decision =
  | { readonly _tag: "Keep" }
  | { readonly _tag: "Redact"; readonly spans: ReadonlyArray<Span> }
  | { readonly _tag: "Replace"; readonly message: Message; readonly counts: GuardCounts }
  | { readonly _tag: "Refuse"; readonly kind: string; readonly place: string }

/** The message is stored as it is. */
export const keep: Decision = { _tag: "Keep" }

/**
 * The message is stored with `[redacted: KIND]` in place of these pieces. What stands in a piece of 8 characters or more is left out of all
 * texts of the message.
 */
export const redact = (spans: ReadonlyArray<Span>): Decision => ({ _tag: "Redact", spans })

/**
 * Another message is stored. It has to stay as it is if the guard gets it again. Without an origin, it has the one that the message said.
 *
 * @param counts - how many things of each kind it leaves out, for the event
 */
export const replace = (message: Message, counts: GuardCounts): Decision => ({
  _tag: "Replace",
  message,
  counts,
})

/**
 * Nothing of the append is stored; it fails with {@link GuardRefused}.
 *
 * @param kind - what was found, in a word; never the text
 * @param place - where it is: the {@link TextOf.place} of a text
 */
export const refuse = (kind: string, place = ""): Decision => ({ _tag: "Refuse", kind, place })

/**
 * Says what of a message is stored. It must give the same answer for the same message, and {@link keep} what it has redacted itself. If it
 * throws, nothing is stored.
 *
 * @example
 * ```ts
 * import { Guard } from "@memfold/core"
 *
 * export const withoutNames =
 *   (names: ReadonlyArray<string>): Guard.BeforeAppend =>
 *   (message) =>
 *     Guard.redact(
 *       Guard.textsOf(message).flatMap(({ place, text }) =>
 *         names.flatMap((name) => {
 *           const from = text.indexOf(name)
 *           return from === -1 ? [] : [{ place, from, to: from + name.length, kind: "name" }]
 *         }),
 *       ),
 *     )
 * ```
 */
export type BeforeAppend = (
  message: Message,
  about: About,
) => Decision | Promise<Decision> | Effect.Effect<Decision, unknown>

/** The guard of the memory refused a message, or failed. Nothing of the append was stored. */
export class GuardRefused extends Schema.TaggedError<GuardRefused>()("GuardRefused", {
  session: Schema.String,
  /** What was found, in a word; `guard-failed` if the guard threw or gave no answer. */
  kind: Schema.String,
  /** Where: the position of the message in the append, and the place of its text. */
  place: Schema.String,
}) {
  override get message(): string {
    return this.kind === "guard-failed"
      ? `Session "${this.session}": the guard failed at ${this.place}; nothing was stored. Try again, or mend the guard`
      : `Session "${this.session}": the guard refused "${this.kind}" at ${this.place}; nothing was stored. Take it out, and append again`
  }
}

/** A message as it is stored, and how many things of each kind were left out of it; absent for one that is stored as it came. */
export interface Guarded {
  readonly message: Message
  readonly guarded?: GuardCounts
}

/** What stands in place of a piece of a text. */
const markOf = (kind: string): string => `[redacted: ${kind}]`

/** Shorter pieces are words that can mean something else in another place. */
const shortestKnown = 8

const redacted = (message: Message, spans: ReadonlyArray<Span>): Guarded => {
  if (spans.length === 0) return { message }
  const texts = new Map(textsOf(message).map(({ place, text }) => [place, text]))
  const kinds = new Map<string, string>()
  const counts: Record<string, number> = {}
  for (const { place, from, to, kind } of spans) {
    const piece = (texts.get(place) ?? "").slice(from, to)
    // In JSON it may be written in two ways.
    if (piece === "" || kinds.has(piece) || kinds.has(meant(piece))) continue
    for (const one of [piece, meant(piece)]) kinds.set(one, kind)
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  const known = [...kinds].filter(([piece]) => piece.length >= shortestKnown)
  const knownIn = occurrencesOf(new Map(known.map(([piece, kind]) => [piece, markOf(kind)])))
  const given = new Map<string, Array<Mark>>()
  for (const { place, from, to, kind } of spans) {
    const ofPlace = given.get(place) ?? []
    given.set(place, ofPlace)
    ofPlace.push({ from, to, mark: markOf(kind) })
  }
  const marksIn = ({ place, text }: TextOf): ReadonlyArray<Mark> => [
    ...(given.get(place) ?? []),
    ...knownIn(text),
  ]
  const [first] = kinds.values()
  return { message: withMarksIn(message, marksIn, markOf(first ?? "text")), guarded: counts }
}

const answerOf = (guard: BeforeAppend, message: Message, about: About): Effect.Effect<Decision, unknown> =>
  Effect.suspend(() => {
    const answer = guard(message, about)
    if (Effect.isEffect(answer)) return answer
    return Predicate.isPromise(answer) ? Effect.tryPromise(() => answer) : Effect.succeed(answer)
  })

/**
 * Messages as they are stored: what the guard of a memory leaves of them.
 *
 * @param guard - the guard
 * @param messages - checked messages
 */
export const guardedBy = (
  guard: BeforeAppend,
  messages: ReadonlyArray<Message>,
  about: About,
): Effect.Effect<ReadonlyArray<Guarded>, GuardRefused> =>
  Effect.forEach(messages, (message, at) => {
    const refused = (kind: string, place: string) =>
      new GuardRefused({
        session: about.session,
        kind,
        place: place === "" ? `message ${at}` : `message ${at}, ${place}`,
      })
    return answerOf(guard, message, about).pipe(
      // What a guard says of its failure may quote the message.
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.interrupt : refused("guard-failed", ""),
      ),
      Effect.flatMap((decision): Effect.Effect<Guarded, GuardRefused> => {
        switch (decision?._tag) {
          case "Keep":
            return Effect.succeed({ message })
          case "Redact":
            return Effect.succeed(redacted(message, decision.spans))
          case "Replace": {
            if (!Schema.is(Message)(decision.message)) return refused("guard-failed", "")
            const origin = message.origin === undefined ? {} : { origin: message.origin }
            return Effect.succeed({ message: { ...origin, ...decision.message }, guarded: decision.counts })
          }
          case "Refuse":
            return refused(decision.kind, decision.place)
          default:
            return refused("guard-failed", "")
        }
      }),
    )
  })
