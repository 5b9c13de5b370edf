/** What this process knows of the sessions that it follows. */
import { allMessages } from "@memfold/codec"
import { Memory, type Message } from "@memfold/core"
import { inSteps, mapped } from "@memfold/log/breathe"
import { Newest } from "@memfold/log/Newest"
import { keyOf } from "./conversation.js"
import type { Known } from "./place.js"
import { markIn } from "./speaker.js"

const run = Memory.asPromise

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

/** What the messages of sessions say, as this process has seen them last. */
export class KnownSessions {
  private readonly recent = new Newest<Known>(1_000)

  constructor(private readonly memory: Memory.Service) {}

  /** What was seen last of a session; a write of somebody else may have come since. */
  get(session: string): Known | undefined {
    return this.recent.get(session)
  }

  /** What the messages of a session say, and its version. */
  async read(session: string, signal?: AbortSignal): Promise<Known> {
    const { version, total } = await run(this.memory.state(session), signal)
    const known = this.recent.get(session)
    if (known?.version === version) return known
    if (total === 0) {
      this.recent.delete(session)
      return { version, keys: [], mark: null }
    }
    const read = { version, ...(await readAll(this.memory, session, signal)) }
    this.recent.set(session, read)
    return read
  }

  /** Notes what a session says now: its first `keep` messages, and behind them the ones that were written. */
  async note(
    session: string,
    { keys, mark }: Known,
    keep: number,
    messages: ReadonlyArray<Message.Message>,
    version: number,
  ): Promise<void> {
    this.recent.set(session, {
      version,
      keys: [...keys.slice(0, keep), ...(await keysOf(await asStored(this.memory, session, messages)))],
      mark: markIn(messages) ?? mark,
    })
  }

  forget(session: string): void {
    this.recent.delete(session)
  }
}
