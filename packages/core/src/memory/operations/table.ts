/** The operations as a table: who hands them on, as promises or with ids of another form, is made from it. */
import type { Service } from "../MemoryService.js"

/** The operations that begin with an id. */
export type OperationName = Exclude<keyof Service, "within" | "sessions">

/** What has to be known of an operation to hand it on. */
export interface Operation {
  /** What its first arguments are ids of. */
  readonly ids: ReadonlyArray<"session" | "owner">
  /** It answers with a stream. */
  readonly streams?: boolean
  /** It goes on when the memory is closed, and the memory waits for it. */
  readonly finishes?: boolean
  /** Only the face with Effect has it. */
  readonly effectsOnly?: boolean
}

const session: Operation = { ids: ["session"] }
const owner: Operation = { ids: ["owner"] }

/** Each operation. */
export const operations: Readonly<Record<OperationName, Operation>> = {
  append: { ...session, finishes: true },
  context: session,
  messages: session,
  clear: session,

  edit: { ...session, finishes: true },
  regenerate: { ...session, finishes: true },
  rewrite: { ...session, finishes: true },
  branches: session,
  checkout: { ...session, finishes: true },

  recall: session,
  recallOf: owner,
  answerToolCall: { ...session, effectsOnly: true },
  trace: session,
  traceMessage: session,
  facts: session,
  removeFact: session,

  compact: session,
  look: { ...session, effectsOnly: true },
  preview: session,
  summaries: session,
  timeline: session,
  revert: session,
  undo: { ...session, finishes: true },

  state: session,
  events: { ...session, streams: true },
  subscribe: { ...session, streams: true },
  eventsOf: { ...owner, streams: true },

  sessionsOf: owner,
  describe: session,
  fork: { ids: ["session", "session"] },
  redact: session,
  delete: session,
  deleteOf: owner,
}

/** A function for whatever an operation takes. */
type Made = (...given: ReadonlyArray<unknown>) => unknown

/** Makes a function for each operation that there is to be. */
export const eachOperation = <Operations>(
  make: (name: OperationName, operation: Operation) => Made | undefined,
): Operations =>
  Object.fromEntries(
    Object.entries(operations).flatMap(([name, operation]) => {
      const made = make(name as OperationName, operation)
      return made === undefined ? [] : [[name, made]]
    }),
  ) as Operations

/** Calls an operation of a memory by its name. */
export const callOperation = (memory: object, name: OperationName, given: ReadonlyArray<unknown>) =>
  (memory as Readonly<Record<OperationName, Made>>)[name](...given)
