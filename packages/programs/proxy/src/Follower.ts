/** Keeps the sessions of the memory beside the conversations of clients: finds the session, stores what is new, begins branches. */
import { inOrder } from "@memfold/codec"
import { Memory, type Message, type Session } from "@memfold/core"
import { Predicate } from "effect"
import { Newest } from "@memfold/log/Newest"
import { wholeStep } from "./conversation.js"
import { belongsTo } from "./conversations/ids.js"
import { asStored, keysOf, KnownSessions } from "./KnownSessions.js"
import {
  type Followed,
  type Given,
  type Habit,
  isAnswerKey,
  type Known,
  type KnownSession,
  placeOf,
} from "./place.js"
import { markedBy, markOf, signed, type Speaker } from "./speaker.js"

/** How often a write is tried while others write. */
const attempts = 5

const run = Memory.asPromise

/** Whether a guard has changed messages: those that it keeps are the same objects. */
export const differs = (
  given: ReadonlyArray<Message.Message>,
  stored: ReadonlyArray<Message.Message>,
): boolean => stored.some((one, at) => one !== given[at])

/** Whether a session is the speaker's, or nobody's. */
const isHeardBy = (speaker: string, session: string, mark: string | null): boolean =>
  belongsTo(session, speaker) && (mark ?? markOf(speaker)) === markOf(speaker)

/** Follows the conversations of clients in a memory. */
export class Follower {
  private readonly known: KnownSessions
  private readonly habits = new Newest<Habit>(10_000)
  /** Sessions whose newest answer was stored and did not reach its client. */
  private readonly unheard = new Newest<true>(1_000)

  constructor(private readonly memory: Memory.Service) {
    this.known = new KnownSessions(memory)
  }

  /**
   * The session with a name that a speaker may hear. If somebody else has spoken there, it is another one under this name, which is the
   * same each time.
   */
  private async heardBy(asked: Pick<Given, "speaker" | "signal">, session: string): Promise<KnownSession> {
    const { speaker, signal } = asked
    const known = await this.known.read(session, signal)
    if (speaker === null || isHeardBy(speaker, session, known.mark)) return { ...known, session }
    return this.heardBy(asked, `${session}~${signed(speaker, session, 16)}`)
  }

  /** Writes messages behind the first `keep` ones of a session, if it has the version that was looked at. */
  private async write(
    session: string,
    known: Known,
    keep: number,
    said: ReadonlyArray<Message.Message>,
    speaker: Speaker,
    prefix?: Session.Prefix,
  ): Promise<void> {
    const { version, keys } = known
    const messages = markedBy(speaker, said)
    if (messages.length === 0 && keep === keys.length) return
    const options = { ifVersion: version, ...(prefix === undefined ? {} : { prefix }) }
    const written =
      keep === keys.length
        ? await run(this.memory.append(session, messages, options))
        : await run(this.memory.edit(session, keep, messages, options))
    await this.known.note(session, known, keep, messages, written.version)
  }

  /** Tries a write again if somebody else was first. */
  private async settled<A>(session: string, work: () => Promise<A>): Promise<A> {
    return inOrder(this, session, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await work()
        } catch (error) {
          this.known.forget(session)
          if (!Predicate.isTagged(error, "VersionMismatch") || attempt === attempts) throw error
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
        const repeated = await this.repeated(given, own, given.idempotencyKey)
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
  private async repeated(given: Given, known: Known, key: string): Promise<Followed | null> {
    if (given.messages.some(({ role }) => role === "assistant")) return null
    const { session } = given
    const messages = markedBy(given.speaker, given.messages)
    if (known.version === 0) await given.mayBegin(session)
    const idempotencyKey = `proxy/${key}`
    const { duplicate, to, version } = await run(this.memory.append(session, messages, { idempotencyKey }))
    // Nobody else has written between the look at the session and the append.
    const isNext = !duplicate && version === known.version + messages.length
    if (isNext) await this.known.note(session, known, known.keys.length, messages, version)
    else this.known.forget(session)
    const isBehind = duplicate && (await run(this.memory.state(session))).total > to
    if (isBehind) await run(this.memory.edit(session, to, []))
    return { session, how: isBehind ? "branch" : "append", isWhole: false }
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
    // The conversation has gone on from an earlier place meanwhile: its answer belongs to no message any more.
    // Or the same request was sent twice, and the other one has its answer.
    const isCurrent = ({ keys }: Known): boolean => {
      const { keep } = wholeStep(keys, asked)
      return keep === asked.length && !isAnswerKey(keys[keep])
    }
    return this.settled(session, async () => {
      // What is known is enough: the write is refused if somebody else has written since.
      const before = this.known.get(session)
      const known = before !== undefined && isCurrent(before) ? before : await this.known.read(session)
      if (!isCurrent(known)) return false
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

  /** What the messages of a session say, as this process has seen them last. */
  async said(session: string): Promise<ReadonlyArray<string>> {
    return (this.known.get(session) ?? (await this.known.read(session))).keys
  }
}
