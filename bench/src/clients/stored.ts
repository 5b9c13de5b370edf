/** What a store has of a conversation. */
import { createMemory } from "memfold"
import { marksIn } from "./model.js"

/** The conversation of the agent. */
export interface Stored {
  /** The marks of the messages on the branch of today, in their order. */
  readonly marks: ReadonlyArray<string>
  /** The marks of all messages of the log, in the order in which they were written. */
  readonly logged: ReadonlyArray<string>
  readonly branches: number
  readonly summaries: number
}

/** A result of a tool may stand in a message as a text and as blocks. */
const marksOfMessage = (message: unknown): ReadonlyArray<string> => [
  ...new Set(marksIn(JSON.stringify(message))),
]

/** Reads the longest session of a store. */
export const storedIn = async (store: `sqlite:${string}`): Promise<Stored> => {
  const memory = createMemory({ store, format: "memfold", compaction: { mode: "manual" } })
  try {
    const found = []
    for await (const { session } of memory.sessions()) {
      const texts: Array<unknown> = []
      let before: string | undefined
      do {
        const page = await memory.messages(session, before === undefined ? {} : { before })
        texts.unshift(...page.messages)
        before = page.before ?? undefined
      } while (before !== undefined)
      let summaries = 0
      const logged: Array<string> = []
      for await (const { event } of memory.events(session)) {
        if (event._tag === "SummaryCommitted") summaries++
        if (event._tag === "MessageAppended") logged.push(...marksOfMessage(event))
      }
      found.push({ session, marks: texts.flatMap(marksOfMessage), logged, summaries })
    }
    const [longest] = found.toSorted((one, other) => other.logged.length - one.logged.length)
    if (longest === undefined) return { marks: [], logged: [], branches: 0, summaries: 0 }
    const branches = await memory.branches(longest.session)
    return { ...longest, branches: branches.length }
  } finally {
    await memory.close()
  }
}
