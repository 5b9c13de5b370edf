/** Keeps the sessions of the memory beside the conversations of clients: finds the session, stores what is new, begins branches. */
import { allMessages, inOrder } from "@memfold/codec"
import { Memory, type Message, type Session } from "@memfold/core"
import { Cause, Effect, Exit } from "effect"
import { createHash } from "node:crypto"
import { keyOf, newStep, wholeStep } from "./conversation.js"

/** What a request says of its conversation. */
export interface Given {
  /** The id of the session as it was named. */
  readonly session: string
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
  /** Rejects if the session may not begin. */
  readonly mayBegin: (session: string) => Promise<void>
}

/** A session may not begin: there are too many. */
export class MayNotBegin extends Error {
  override readonly name = "MayNotBegin"
}

/** Asks whether a session may begin that is not there yet. */
const checkBegin = async ({ mayBegin }: Given, session: string, version: number): Promise<void> => {
  if (version > 0) return
  try {
    await mayBegin(session)
  } catch (error) {
    throw new MayNotBegin(`the session "${session}" may not begin`, { cause: error })
  }
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
}

/** What is known of a session in this process. It is found again if it is forgotten. */
interface Known {
  /** The version at which `keys` were read, and what each message says. */
  readonly version: number
  readonly keys: ReadonlyArray<string>
}

/** How the clients of a session were seen. */
interface Habit {
  readonly sendsAll: boolean
  /** The setting in which the conversation of the session began; `null` while only others were seen. */
  readonly setting: string | null
}

/** A conversation of this size is one that a client may compact. */
const longEnough = 6

/** How often a write is tried while others write. */
const attempts = 5

/** A map of so many entries; the oldest ones make room. */
export const makeRecent = <Value>(most: number) => {
  const entries = new Map<string, Value>()
  return {
    get: (key: string): Value | undefined => entries.get(key),
    set: (key: string, value: Value): void => {
      entries.delete(key)
      entries.set(key, value)
      const [oldest] = entries.keys()
      if (entries.size > most && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key: string): void => void entries.delete(key),
  }
}

/** Runs an operation of the memory; rejects with its error, and not with a cause. */
export const run = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

const isMismatch = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "VersionMismatch"

const isAnswerKey = (key: string | undefined): boolean => key?.startsWith('["assistant"') === true

/** The session of a side conversation: its first message tells it from others. */
const sideSession = (session: string, [first = ""]: ReadonlyArray<string>): string =>
  `${session}~${createHash("sha256").update(first).digest("hex").slice(0, 12)}`

/** Follows the conversations of clients in a memory. */
export class Follower {
  private readonly known = makeRecent<Known>(1_000)
  private readonly habits = makeRecent<Habit>(10_000)
  /** Sessions whose newest answer was stored and did not reach its client. */
  private readonly unheard = makeRecent<true>(1_000)

  constructor(private readonly memory: Memory.Service) {}

  /** What the messages of a session say, and its version. */
  private async keysOf(session: string): Promise<Known> {
    const { version, total } = await run(this.memory.state(session))
    const known = this.known.get(session)
    if (known?.version === version) return known
    if (total === 0) return { version, keys: [] }
    const { messages } = await allMessages(Memory.neutralOf(this.memory), session)
    const read = { version, keys: messages.map(keyOf) }
    this.known.set(session, read)
    return read
  }

  /** Writes messages behind the first `keep` ones of a session, if it has the version that was looked at. */
  private async write(
    session: string,
    { version, keys }: Known,
    keep: number,
    messages: ReadonlyArray<Message.Message>,
    prefix?: Session.Prefix,
  ): Promise<void> {
    if (messages.length === 0 && keep === keys.length) return
    const options = { ifVersion: version, ...(prefix === undefined ? {} : { prefix }) }
    const written =
      keep === keys.length
        ? await run(this.memory.append(session, messages, options))
        : await run(this.memory.edit(session, keep, messages, options))
    this.known.set(session, {
      version: written.version,
      keys: [...keys.slice(0, keep), ...messages.map(keyOf)],
    })
  }

  /** Tries a write again if somebody else was first. */
  private async settled<A>(session: string, work: () => Promise<A>): Promise<A> {
    return inOrder(this, session, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await work()
        } catch (error) {
          this.known.delete(session)
          if (!isMismatch(error) || attempt === attempts) throw error
        }
      }
    })
  }

  /** Which session a request goes on with, and from where. */
  private async place(given: Given, keys: ReadonlyArray<string>) {
    const { session, history, setting } = given
    const main = await this.keysOf(session)
    const habit = this.habits.get(session)
    const hasAnswer = given.messages.some(({ role }) => role === "assistant")
    const isWhole =
      history === "full" ||
      (history === "auto" && (hasAnswer || (habit?.sendsAll ?? false) || main.keys.length === 0))
    if (!isWhole) {
      const isRetry = given.isRetry || this.unheard.get(session) === true
      const step = newStep(main.keys, keys, (index) => isAnswerKey(main.keys[index]), isRetry)
      const how: Followed["how"] = step.keep < main.keys.length ? "branch" : "append"
      return { target: session, known: main, step, how, isWhole }
    }
    const isMain = main.keys.length === 0 ? !given.isAside : main.keys[0] === keys[0]
    // The first request of a client that sends only what is new looks like one of a client that sends all.
    if (hasAnswer || history === "full")
      this.habits.set(session, { sendsAll: true, setting: habit?.setting ?? (isMain ? setting : null) })
    const whole = (target: string, known: Known, how?: Followed["how"]) => {
      const step = wholeStep(known.keys, keys)
      return {
        target,
        known,
        step,
        how: how ?? (step.keep < known.keys.length ? "branch" : "append"),
        isWhole,
      } as const
    }
    if (isMain) return whole(session, main)
    const aside = sideSession(session, keys)
    const side = await this.keysOf(aside)
    if (side.keys.length > 0) return whole(aside, side, "aside")
    // An agent that goes on with the same tools and instructions behind another start has compacted its conversation.
    const isCompacted =
      habit?.setting === setting && main.keys.length >= longEnough && keys.length < main.keys.length
    return isCompacted ? whole(session, main, "compacted") : whole(aside, side, "aside")
  }

  /**
   * Stores what a request says and its session does not.
   *
   * @throws the errors of the memory
   */
  follow(given: Given): Promise<Followed> {
    const keys = given.messages.map(keyOf)
    return this.settled(given.session, async () => {
      if (given.idempotencyKey !== undefined && given.history !== "full") {
        const repeated = await this.repeated(given, given.idempotencyKey)
        if (repeated !== null) return repeated
      }
      const { target, known, step, how, isWhole } = await this.place(given, keys)
      if (target === given.session && this.habits.get(target) === undefined)
        this.habits.set(target, { sendsAll: false, setting: given.setting })
      await checkBegin(given, target, known.version)
      await this.write(target, known, step.keep, given.messages.slice(step.from))
      this.unheard.delete(target)
      return { session: target, how, isWhole }
    })
  }

  /** A request with a key that was used before goes on from the place of the first one. */
  private async repeated(given: Given, key: string): Promise<Followed | null> {
    if (given.messages.some(({ role }) => role === "assistant")) return null
    const { session, messages } = given
    const { version } = await run(this.memory.state(session))
    await checkBegin(given, session, version)
    const idempotencyKey = `proxy/${key}`
    const { duplicate, to } = await run(this.memory.append(session, messages, { idempotencyKey }))
    const { total } = await run(this.memory.state(session))
    if (duplicate && total > to) await run(this.memory.edit(session, to, []))
    this.known.delete(session)
    return { session, how: duplicate && total > to ? "branch" : "append", isWhole: false }
  }

  /**
   * Stores an answer behind the conversation that it answers.
   *
   * @param asked - what the messages of the conversation said when the model was asked
   * @returns whether it was stored
   */
  answered(
    session: string,
    asked: ReadonlyArray<string>,
    answer: ReadonlyArray<Message.Message>,
    prefix: Session.Prefix,
  ): Promise<boolean> {
    return this.settled(session, async () => {
      const known = await this.keysOf(session)
      const { keep } = wholeStep(known.keys, asked)
      // The conversation has gone on from an earlier place meanwhile: its answer belongs to no message any more.
      // Or the same request was sent twice, and the other one has its answer.
      if (keep < asked.length || isAnswerKey(known.keys[keep])) return false
      await this.write(session, known, known.keys.length, answer, prefix)
      return true
    })
  }

  /** Notes that an answer was stored and did not reach its client: the next request may be the question again. */
  notHeard(session: string): void {
    this.unheard.set(session, true)
  }

  /** What the messages of a session say now. */
  async said(session: string): Promise<ReadonlyArray<string>> {
    const { keys } = await this.keysOf(session)
    return keys
  }
}
