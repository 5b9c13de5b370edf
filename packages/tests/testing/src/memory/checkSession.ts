/** A session of a memory, held against the naive model. */
import { type Memory, type Message, Session, Verify } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import { canonical, failOn, same } from "../law/Law.js"
import { contentsOf, contextFinding } from "../oracle/context.js"
import { type NaiveSession, readSession, stateFinding } from "../oracle/session.js"
import type { World } from "./world.js"

/** What could be seen of a session: its events as the naive model reads them, its state and its context. */
export interface ObservedSession {
  readonly read: NaiveSession
  readonly state: Session.SessionState
  /** A text of the context: equal contexts have equal texts. */
  readonly context: string
}

/** Checks that events, state and context of a session agree, and that its log keeps every law that shows in a log. */
export const checkSession = async (
  { run, log }: World,
  memory: Memory.Service,
  session: string,
): Promise<ObservedSession> => {
  const where = () => `session ${session}`
  const events = Chunk.toReadonlyArray(await run(Stream.runCollect(memory.events(session))))
  const [state, context] = await run(Effect.all([memory.state(session), memory.context(session)]))
  const read = readSession(events)
  failOn(read.problems[0], where)
  failOn(stateFinding(read, state))
  failOn(contextFinding(state, context), where)
  const folded = Session.fold(Session.empty(session), events)
  same(state, folded, () => `the state of ${session} is not the fold of its log (L6)`)
  const [finding] = await run(Verify.session(log, session))
  failOn(finding, () => `${finding?.rule} at event ${finding?.version} of ${session}`)
  return { read, state, context: canonical(context) }
}

/** Checks that the log has these messages, in this order; memories may note something on them, and change no word. */
export const sameMessages = ({ messages }: NaiveSession, expected: ReadonlyArray<Message.Message>): void =>
  same(
    messages.map(({ message }) => contentsOf([message])),
    expected.map((message) => contentsOf([message])),
    () => "the messages in the log",
  )
