/** The messages appended to a memory, and the state it must have. */
import type { Memory, Message } from "@memfold/core"
import { must, same } from "../law/Law.js"
import { contentsOf } from "../oracle/context.js"
import { checkSession } from "./checkSession.js"
import type { World } from "./world.js"

/** A message that was appended. */
export interface ExpectedEntry {
  readonly message: Message.Message
  redacted: boolean
}

/** The expected state of one session. */
export interface ExpectedSession {
  messages: Array<ExpectedEntry>
  /** The contexts so far, by version: rendering the past must give the same again. */
  readonly contexts: Map<number, string>
  /** The used idempotency keys, each with the range that its append returned, and its messages. */
  readonly keys: Map<
    string,
    { readonly from: number; readonly to: number; readonly entries: Array<ExpectedEntry> }
  >
}

/** Every message that was appended to a memory. The commands of {@link memoryCommands} compare the memory with it. */
export class ExpectedMemory {
  private readonly sessions = new Map<string, ExpectedSession>()

  /** A session; an unknown session is empty. */
  of(session: string): ExpectedSession {
    const known = this.sessions.get(session) ?? { messages: [], contexts: new Map(), keys: new Map() }
    this.sessions.set(session, known)
    return known
  }

  /**
   * What an append must answer: a range; `refused` if the key was used for other messages, or `either` if these were
   * redacted since, so that nobody knows.
   */
  append(session: string, messages: ReadonlyArray<Message.Message>, key: string) {
    const known = this.of(session)
    const before = known.keys.get(key)
    if (before !== undefined) {
      const { entries, ...appended } = before
      if (JSON.stringify(entries.map(({ message }) => message)) === JSON.stringify(messages)) {
        return { ...appended, duplicate: true }
      }
      return entries.some(({ redacted }) => redacted) ? ("either" as const) : ("refused" as const)
    }
    const from = known.messages.length
    const entries = messages.map((message) => ({ message, redacted: false }))
    known.messages.push(...entries)
    const appended = { from, to: known.messages.length }
    known.keys.set(key, { ...appended, entries })
    return { ...appended, duplicate: false }
  }

  clear(session: string): void {
    this.of(session).messages = []
  }

  delete(session: string): void {
    this.sessions.delete(session)
  }
}

/** Checks a session with the naive model, and that it has the messages that were appended. */
export const compare = async (
  world: World,
  memory: Memory.Service,
  expected: ExpectedMemory,
  session: string,
): Promise<void> => {
  const known = expected.of(session)
  const { read, state, context } = await checkSession(world, memory, session)
  must(
    read.messages.length === known.messages.length,
    () =>
      `session ${session} has ${read.messages.length} messages, and ${known.messages.length} were appended`,
  )
  known.messages.forEach(({ message, redacted }, index) => {
    const logged = read.messages[index]!.message
    if (!redacted) same(contentsOf([logged]), contentsOf([message]), () => `message ${index} of ${session}`)
  })
  for (const { from, to, text } of state.summary?.segments ?? []) {
    must(
      text.startsWith(`[${from},${to})`),
      () => `the segment [${from},${to}) of ${session} says that it covers ${text.slice(0, 20)}`,
    )
  }
  known.contexts.set(state.version, context)
}
