/** Keeps the sessions of the memory beside the conversations of clients: finds the session, stores what is new, begins branches. */
import { allMessages, inOrder } from "@memfold/codec"
import { Memory, type Message, type Session } from "@memfold/core"
import { inSteps, mapped } from "@memfold/log/breathe"
import { keyOf, wholeStep } from "./conversation.js"
import { belongsTo } from "./conversations/ids.js"
import {
  type Followed,
  type Given,
  type Habit,
  isAnswerKey,
  type Known,
  type KnownSession,
  placeOf,
} from "./place.js"
import { markedBy, markIn, markOf, signed, type Speaker } from "./speaker.js"

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

const run = Memory.asPromise

const isMismatch = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "VersionMismatch"

/** Messages as a memory stores them: what its guard leaves out is not compared. */
export const asStored = (
  memory: Pick<Memory.Service, "known">,
  session: string,
  messages: ReadonlyArray<Message.Message>,
  signal?: AbortSignal,
): Promise<ReadonlyArray<Message.Message>> =>
  memory.known === undefined
    ? Promise.resolve(messages)
    : run(memory.known.asStored(session, messages), signal)

/** Whether a guard has changed messages: those that it keeps are the same objects. */
export const differs = (
  given: ReadonlyArray<Message.Message>,
  stored: ReadonlyArray<Message.Message>,
): boolean => stored.some((one, at) => one !== given[at])

/** What messages say. Others have their turn while many are read. */
export const keysOf = (
  messages: ReadonlyArray<Message.Message>,
  signal?: AbortSignal,
): Promise<ReadonlyArray<string>> =>
  run(
    inSteps(() => mapped(messages, keyOf)),
    signal,
  )

/** What the messages of a session say, and the mark of who has spoken there. */
const readAll = async (
  memory: Memory.Service,
  session: string,
  signal: AbortSignal | undefined,
): Promise<Omit<Known, "version">> => {
  const page: Memory.Neutral["messages"] = (...asked) => run(memory.messages(...asked), signal)
  const { messages } = await allMessages({ messages: page }, session)
  return { keys: await keysOf(messages, signal), mark: markIn(messages) }
}

/** Whether a session is the speaker's, or nobody's. */
const isHeardBy = (speaker: string, session: string, mark: string | null): boolean =>
  belongsTo(session, speaker) && (mark ?? markOf(speaker)) === markOf(speaker)

/** Follows the conversations of clients in a memory. */
export class Follower {
  private readonly known = makeRecent<Known>(1_000)
  private readonly habits = makeRecent<Habit>(10_000)
  /** Sessions whose newest answer was stored and did not reach its client. */
  private readonly unheard = makeRecent<true>(1_000)

  constructor(private readonly memory: Memory.Service) {}

  /** What the messages of a session say, and its version. */
  private async keysOf(session: string, signal?: AbortSignal): Promise<Known> {
    const { version, total } = await run(this.memory.state(session), signal)
    const known = this.known.get(session)
    if (known?.version === version) return known
    if (total === 0) return { version, keys: [], mark: null }
    const read = { version, ...(await readAll(this.memory, session, signal)) }
    this.known.set(session, read)
    return read
  }

  /**
   * The session with a name that a speaker may hear. If somebody else has spoken there, it is another one under this name, which is the
   * same each time.
   */
  private async heardBy(asked: Pick<Given, "speaker" | "signal">, session: string): Promise<KnownSession> {
    const { speaker, signal } = asked
    const known = await this.keysOf(session, signal)
    if (speaker === null || isHeardBy(speaker, session, known.mark)) return { ...known, session }
    return this.heardBy(asked, `${session}~${signed(speaker, session, 16)}`)
  }

  /** Writes messages behind the first `keep` ones of a session, if it has the version that was looked at. */
  private async write(
    session: string,
    { version, keys, mark }: Known,
    keep: number,
    said: ReadonlyArray<Message.Message>,
    speaker: Speaker,
    prefix?: Session.Prefix,
  ): Promise<void> {
    const messages = markedBy(speaker, said)
    if (messages.length === 0 && keep === keys.length) return
    const options = { ifVersion: version, ...(prefix === undefined ? {} : { prefix }) }
    const written =
      keep === keys.length
        ? await run(this.memory.append(session, messages, options))
        : await run(this.memory.edit(session, keep, messages, options))
    this.known.set(session, {
      version: written.version,
      keys: [...keys.slice(0, keep), ...(await keysOf(await asStored(this.memory, session, messages)))],
      mark: markIn(messages) ?? mark,
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

  /**
   * Stores what a request says and its session does not. Nothing of a request is stored whose client has left before.
   *
   * @throws the errors of the memory; the reason of the signal
   */
  async follow(named: Given): Promise<Followed> {
    const { signal } = named
    const stored = await asStored(this.memory, named.session, named.messages, signal)
    const keys = await keysOf(stored, signal)
    return this.settled(named.session, async () => {
      const own = await this.heardBy(named, named.session)
      const given = { ...named, session: own.session }
      if (given.idempotencyKey !== undefined && given.history !== "full") {
        const repeated = await this.repeated(given, given.idempotencyKey)
        if (repeated !== null) return repeated
      }
      const habit = this.habits.get(given.session)
      const seen = { habit, isUnheard: this.unheard.get(given.session) === true }
      const found = await placeOf(given, keys, seen, own, (session) => this.heardBy(given, session))
      const { target, known, step, how, isWhole } = found
      if (found.habit !== undefined && found.habit !== habit) this.habits.set(given.session, found.habit)
      if (known.version === 0) await given.mayBegin(target)
      signal?.throwIfAborted()
      await this.write(target, known, step.keep, given.messages.slice(step.from), given.speaker)
      this.unheard.delete(target)
      return { session: target, how, isWhole, isGuarded: differs(named.messages, stored) }
    })
  }

  /** A request with a key that was used before goes on from the place of the first one. */
  private async repeated(given: Given, key: string): Promise<Followed | null> {
    if (given.messages.some(({ role }) => role === "assistant")) return null
    const { session } = given
    const messages = markedBy(given.speaker, given.messages)
    const { version } = await run(this.memory.state(session))
    if (version === 0) await given.mayBegin(session)
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
    speaker: Speaker,
    prefix: Session.Prefix,
  ): Promise<boolean> {
    return this.settled(session, async () => {
      const known = await this.keysOf(session)
      const { keep } = wholeStep(known.keys, asked)
      // The conversation has gone on from an earlier place meanwhile: its answer belongs to no message any more.
      // Or the same request was sent twice, and the other one has its answer.
      if (keep < asked.length || isAnswerKey(known.keys[keep])) return false
      await this.write(session, known, known.keys.length, answer, speaker, prefix)
      return true
    })
  }

  /** Notes that an answer was stored and did not reach its client: the next request may be the question again. */
  notHeard(session: string): void {
    this.unheard.set(session, true)
  }

  /** The session with the name in a request that its speaker may hear. */
  async ownSession(given: Pick<Given, "session" | "speaker" | "signal">): Promise<string> {
    return (await this.heardBy(given, given.session)).session
  }

  /** What the messages of a session say now. */
  async said(session: string): Promise<ReadonlyArray<string>> {
    return (await this.keysOf(session)).keys
  }
}
