/** The operations as a table: who hands them on, as promises or with ids of another form, is made from it. */
import { Predicate } from "effect"
import { InvalidOption } from "../../options/OptionGroup.js"
import type { Service } from "../MemoryService.js"

/** The operations that begin with an id. */
export type OperationName = Exclude<keyof Service, "within" | "sessions" | "known">

/** What has to be known of an operation to hand it on. */
export interface Operation {
  /** What its first arguments are ids of; an operation on the whole store has none. */
  readonly ids: ReadonlyArray<"session" | "owner">
  /** It answers with a stream. */
  readonly streams?: boolean
  /** It goes on when the memory is closed, and the memory waits for it. */
  readonly finishes?: boolean
  /** It shows what was said: with `audit: { reads: true }`, the trail tells it. */
  readonly reads?: boolean
  /** Only the face with Effect has it. */
  readonly effectsOnly?: boolean
  /** Which of its arguments has options, whether it may be left out, and their names. */
  readonly options?: {
    readonly at: number
    readonly isNeeded?: boolean
    readonly names: ReadonlyArray<string>
  }
}

const session: Operation = { ids: ["session"] }
const owner: Operation = { ids: ["owner"] }

type NamesOf<Options> = Options extends object ? keyof Options & string : never

/** The names of the options of an operation: all of them, and no other. */
const optionsOf = <Name extends OperationName, At extends number>(
  _name: Name,
  at: At,
  names: Readonly<Record<NamesOf<Parameters<Service[Name]>[At]>, true>>,
  ...[isNeeded]: undefined extends Parameters<Service[Name]>[At] ? [isNeeded?: false] : [isNeeded: true]
) => ({ options: { at, isNeeded: isNeeded === true, names: Object.keys(names) } })

/** Each operation. */
export const operations: Readonly<Record<OperationName, Operation>> = {
  append: {
    ...session,
    finishes: true,
    ...optionsOf("append", 2, {
      idempotencyKey: true,
      ifVersion: true,
      origin: true,
      owner: true,
      prefix: true,
      strategy: true,
      title: true,
    }),
  },
  context: {
    ...session,
    reads: true,
    ...optionsOf("context", 1, { atVersion: true, draft: true, recall: true, strategy: true }),
  },
  messages: {
    ...session,
    reads: true,
    ...optionsOf("messages", 1, { before: true, branch: true, length: true, limit: true }),
  },
  clear: session,

  edit: {
    ...session,
    finishes: true,
    ...optionsOf("edit", 3, { idempotencyKey: true, ifVersion: true, prefix: true, strategy: true }),
  },
  regenerate: {
    ...session,
    finishes: true,
    ...optionsOf("regenerate", 1, { from: true, idempotencyKey: true, ifVersion: true, strategy: true }),
  },
  rewrite: {
    ...session,
    finishes: true,
    ...optionsOf("rewrite", 2, { idempotencyKey: true, last: true, strategy: true }),
  },
  branches: session,
  checkout: { ...session, finishes: true, ...optionsOf("checkout", 2, { strategy: true }) },

  recall: {
    ...session,
    reads: true,
    ...optionsOf("recall", 2, {
      after: true,
      atVersion: true,
      before: true,
      messages: true,
      strategy: true,
      timeZone: true,
      tokens: true,
    }),
  },
  recallOf: {
    ...owner,
    reads: true,
    ...optionsOf("recallOf", 2, { after: true, before: true, timeZone: true, tokens: true, without: true }),
  },
  answerToolCall: { ...session, reads: true, effectsOnly: true },
  trace: { ...session, reads: true },
  traceMessage: { ...session, reads: true },
  facts: { ...session, reads: true, ...optionsOf("facts", 1, { at: true, asOfVersion: true }) },
  factsOf: { ...owner, reads: true, ...optionsOf("factsOf", 1, { at: true, asOfVersion: true }) },
  removeFact: { ...session, ...optionsOf("removeFact", 2, { as: true, reason: true, until: true }) },
  confirmFact: session,
  revertFact: session,
  rebuildFacts: { ...owner, reads: true, ...optionsOf("rebuildFacts", 1, { extractor: true, of: true }) },
  diffFacts: { ...owner, reads: true, ...optionsOf("diffFacts", 1, { of: true }) },
  takeFacts: { ...owner, finishes: true, ...optionsOf("takeFacts", 1, { of: true }) },
  dropFacts: { ...owner, ...optionsOf("dropFacts", 1, { of: true }) },

  // Its options are those of one compaction or of several: the last of its forms alone has a type that can be asked for.
  compact: { ...session, options: { at: 1, names: ["strategy", "which", "instructions", "takeOver"] } },
  look: { ...session, effectsOnly: true },
  preview: {
    ...session,
    reads: true,
    ...optionsOf("preview", 1, {
      instructions: true,
      strategy: true,
      summarizer: true,
      takeOver: true,
      which: true,
    }),
  },
  summaries: { ...session, reads: true },
  timeline: session,
  revert: { ...session, ...optionsOf("revert", 1, { pauseFor: true, toSummary: true }) },
  undo: { ...session, finishes: true, ...optionsOf("undo", 1, { pauseFor: true, strategy: true }) },

  state: { ...session, reads: true, ...optionsOf("state", 1, { atVersion: true }) },
  events: {
    ...session,
    reads: true,
    streams: true,
    ...optionsOf("events", 1, { fromVersion: true, reverse: true, toVersion: true }),
  },
  subscribe: {
    ...session,
    reads: true,
    streams: true,
    ...optionsOf("subscribe", 1, { fromVersion: true, pollInterval: true }),
  },
  feed: {
    ids: [],
    streams: true,
    ...optionsOf("feed", 0, { after: true, follow: true, pollInterval: true }),
  },
  consume: {
    ids: [],
    ...optionsOf("consume", 2, {
      attempts: true,
      batch: true,
      follow: true,
      from: true,
      lease: true,
      pollInterval: true,
    }),
  },
  eventsOf: { ...owner, reads: true, streams: true },

  sessionsOf: { ...owner, ...optionsOf("sessionsOf", 1, { before: true, limit: true }) },
  describe: { ...session, ...optionsOf("describe", 1, { owner: true, title: true }, true) },
  fork: { ids: ["session", "session"], ...optionsOf("fork", 2, { atVersion: true }) },
  redact: session,
  delete: session,
  deleteOf: owner,

  erase: { ...owner, finishes: true, ...optionsOf("erase", 1, { reason: true, after: true }, true) },
  restore: { ...owner, finishes: true, ...optionsOf("restore", 1, { reason: true }) },
  hold: session,
  holdOf: owner,
  audit: session,
  auditOf: owner,
}

/**
 * What is wrong with the options of a call: they are no object, or have a name that is no option of the operation, a typing mistake.
 * `further` are names that a face has beside those of the operation.
 */
export const wrongOptions = (
  name: OperationName,
  given: ReadonlyArray<unknown>,
  further: ReadonlyArray<string> = [],
): InvalidOption | null => {
  const { options } = operations[name]
  const found = options === undefined ? undefined : given[options.at]
  if (options === undefined || (found === undefined && options.isNeeded !== true)) return null
  const names = [...options.names, ...further]
  if (!Predicate.isRecord(found))
    return new InvalidOption({ option: "options", allowed: `an object with ${names.join(", ")}` })
  const unknown = Object.keys(found).find((one) => !names.includes(one))
  return unknown === undefined ? null : InvalidOption.unknown(unknown, names)
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

export const callOperation = (memory: object, name: OperationName, given: ReadonlyArray<unknown>) =>
  (memory as Readonly<Record<OperationName, Made>>)[name](...given)
