/** Which session of the memory a request goes on with, and from where. */
import type { Message } from "@memfold/core"
import { createHash } from "node:crypto"
import type { Begins } from "./begins.js"
import { isAlike, newStep, type Step, wholeStep } from "./conversation.js"
import type { Speaker } from "./speaker.js"

/** What a request says of its conversation. */
export interface Given {
  readonly session: string
  readonly speaker: Speaker
  readonly messages: ReadonlyArray<Message.Message>
  /** What the client sends: what is new, all of it, or unknown (`auto`). */
  readonly history: "new" | "full" | "auto"
  /** What the model is set to, apart from the conversation: other agents of the same session have another one. */
  readonly setting: string
  /** An agent asks without tools: the conversation of the session does not begin with it. */
  readonly isAside: boolean
  /** The client says that it sends the request again. */
  readonly isRetry: boolean
  readonly idempotencyKey: string | undefined
  /** Ends the work on the request: its client has left. */
  readonly signal?: AbortSignal
  /** Rejects if the session may not begin. */
  readonly mayBegin: Begins
}

/** How a session was followed. */
export interface Followed {
  /** The id of the session in the memory: as named, or of a side conversation under this name. */
  readonly session: string
  /**
   * - `append`: the request goes on where the session ended
   * - `branch`: it goes on from an earlier place
   * - `compacted`: the client has replaced the conversation by a shorter one
   * - `aside`: a conversation of its own under the name of the session
   */
  readonly how: "append" | "branch" | "compacted" | "aside"
  /** Whether the client sends the whole conversation. */
  readonly isWhole: boolean
  /** Whether the request has something that the memory does not store. */
  readonly isGuarded?: boolean
}

/** What is known of a session in this process. It is found again if it is forgotten. */
export interface Known {
  /** The version at which `keys` were read, and what each message says. */
  readonly version: number
  readonly keys: ReadonlyArray<string>
  /** The mark of who has spoken there. */
  readonly mark: string | null
}

export interface KnownSession extends Known {
  readonly session: string
}

/** How the clients of a session were seen. */
export interface Habit {
  readonly sendsAll: boolean
  /** The setting in which the conversation of the session began; `null` while only others were seen. */
  readonly setting: string | null
}

/** What was seen of the session that a request names. */
export interface Seen {
  readonly habit: Habit | undefined
  /** Its newest answer was stored and did not reach its client. */
  readonly isUnheard: boolean
}

/** Where a request goes on. */
export interface FoundPlace {
  /** The session: the one that was named, or a side conversation under its name. */
  readonly target: string
  readonly known: Known
  readonly step: Step
  readonly how: Followed["how"]
  readonly isWhole: boolean
  /** How the clients of the named session are seen now; `undefined` if nothing is known of them. */
  readonly habit: Habit | undefined
}

/** A conversation of this size is one that a client may compact. */
const longEnough = 6

export const isAnswerKey = (key: string | undefined): boolean => key?.startsWith('["assistant"') === true

/** The session of a side conversation: its first message tells it from others. */
const sideSession = (session: string, [first = ""]: ReadonlyArray<string>): string =>
  `${session}~${createHash("sha256").update(first).digest("hex").slice(0, 12)}`

/** Whether a request has the whole conversation. */
const isWholeIn = ({ history, messages }: Given, habit: Habit | undefined, main: Known): boolean =>
  history === "full" ||
  (history === "auto" &&
    (messages.some(({ role }) => role === "assistant") ||
      (habit?.sendsAll ?? false) ||
      main.keys.length === 0))

/**
 * Finds the place.
 *
 * @param given - the request
 * @param keys - what its messages say
 * @param seen - what was seen of its session
 * @param main - its session
 * @param keysOf - reads what the messages of a session say: of the one with this name that the speaker may hear
 */
export const placeOf = async (
  given: Given,
  keys: ReadonlyArray<string>,
  { habit, isUnheard }: Seen,
  main: KnownSession,
  keysOf: (session: string) => Promise<KnownSession>,
): Promise<FoundPlace> => {
  const { session, history, setting, isAside, isRetry } = given
  const begun = habit ?? { sendsAll: false, setting }
  if (!isWholeIn(given, habit, main)) {
    const step = newStep(main.keys, keys, (index) => isAnswerKey(main.keys[index]), isRetry || isUnheard)
    const how = step.keep < main.keys.length ? "branch" : "append"
    return { target: session, known: main, step, how, isWhole: false, habit: begun }
  }
  const isMain = main.keys.length === 0 ? !isAside : isAlike(main.keys[0], keys[0])
  const hasAnswer = given.messages.some(({ role }) => role === "assistant")
  // The first request of a client that sends only what is new looks like one of a client that sends all.
  const sendsAll = hasAnswer || history === "full"
  const whole = (target: string, known: Known, how?: Followed["how"]): FoundPlace => {
    const step = wholeStep(known.keys, keys)
    return {
      target,
      known,
      step,
      how: how ?? (step.keep < known.keys.length ? "branch" : "append"),
      isWhole: true,
      habit: sendsAll
        ? { sendsAll, setting: habit?.setting ?? (isMain ? setting : null) }
        : target === session
          ? begun
          : habit,
    }
  }
  if (isMain) return whole(session, main)
  const side = await keysOf(sideSession(session, keys))
  if (side.keys.length > 0) return whole(side.session, side, "aside")
  // An agent that goes on with the same tools and instructions behind another start has compacted its conversation.
  const isCompacted =
    habit?.setting === setting && main.keys.length >= longEnough && keys.length < main.keys.length
  return isCompacted ? whole(session, main, "compacted") : whole(side.session, side, "aside")
}
