/** A memory the naive way: it keeps every message that was said, and computes everything anew. */
import { type EventCodec, type Memory, type Message, Session, Verify } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import { canonical, must, same } from "../law/Law.js"
import { checkContext, saidIn } from "../oracle/shown.js"
import type { World } from "./world.js"

/** What a session has to know, told by what was done with it. */
export interface NaiveSession {
  messages: Array<{ readonly message: Message.Message; redacted: boolean }>
  /** The contexts there were, by version, to be compared with what is rendered of the past. */
  contexts: Map<number, string>
  /** The commit ids that were used, with what they answered. */
  readonly commits: Map<string, { readonly from: number; readonly to: number }>
}

/** The model that the memory is held against. */
export class NaiveMemory {
  private readonly kept = new Map<string, NaiveSession>()

  /** A session; one that is not known yet is empty. */
  of(session: string): NaiveSession {
    const known = this.kept.get(session) ?? { messages: [], contexts: new Map(), commits: new Map() }
    this.kept.set(session, known)
    return known
  }

  append(session: string, messages: ReadonlyArray<Message.Message>, commit: string) {
    const known = this.of(session)
    const before = known.commits.get(commit)
    if (before !== undefined) return { ...before, duplicate: true }
    const from = known.messages.length
    known.messages.push(...messages.map((message) => ({ message, redacted: false })))
    const appended = { from, to: known.messages.length }
    known.commits.set(commit, appended)
    return { ...appended, duplicate: false }
  }

  clear(session: string): void {
    this.of(session).messages = []
  }

  delete(session: string): void {
    this.kept.delete(session)
  }
}

/** The messages that a log has, since the last clear. */
const messagesIn = (events: ReadonlyArray<EventCodec.Recorded>): ReadonlyArray<Message.Message> => {
  const cleared = events.findLastIndex(({ event }) => event._tag === "SessionCleared")
  return events
    .slice(cleared + 1)
    .flatMap(({ event }) => (event._tag === "MessageAppended" ? [event.message] : []))
}

/** Holds all that can be seen of a session against the model. */
export const compare = async (
  { run, log }: World,
  memory: Memory.Service,
  model: NaiveMemory,
  session: string,
): Promise<void> => {
  const known = model.of(session)
  const events = Chunk.toReadonlyArray(await run(Stream.runCollect(memory.events(session))))
  const [state, context] = await run(Effect.all([memory.state(session), memory.context(session)]))

  const logged = messagesIn(events)
  must(
    logged.length === known.messages.length,
    () => `session ${session} has ${logged.length} messages, and ${known.messages.length} were said`,
  )
  known.messages.forEach(({ message, redacted }, index) => {
    if (redacted) return
    same(saidIn([logged[index]!]), saidIn([message]), () => `message ${index} of ${session} is another one`)
  })
  same(state.total, known.messages.length, () => `the number of messages in the state of ${session}`)
  for (const { index, message } of state.raw) {
    const original = known.messages[index]!
    if (original.redacted) continue
    same(saidIn([message]).said, saidIn([original.message]).said, () => `raw message ${index} of ${session}`)
  }
  const folded = Session.fold(Session.empty(session), events)
  same(state, folded, () => `the state of ${session} is not the fold of its log (L6)`)
  checkContext(state, context)
  for (const { from, to, text } of state.summary?.segments ?? []) {
    must(
      text.startsWith(`[${from},${to})`),
      () => `the segment [${from},${to}) of ${session} says that it covers ${text.slice(0, 20)}`,
    )
  }
  const [finding] = await run(Verify.session(log, session))
  must(finding === undefined, () => `${finding?.rule} in the log of ${session}: ${finding?.detail}`)
  known.contexts.set(state.version, canonical(context))
}
