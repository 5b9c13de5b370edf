/** What a turn asks the store for: statements are counted, since times are different on each machine. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer } from "effect"

/** How many statements of each kind a store was asked for. `pages` are pages of the log. */
export interface Statements {
  readonly appends: number
  readonly heads: number
  readonly pages: number
}

/** A log in memory that counts what it is asked for. */
const counting = async () => {
  const log = await Effect.runPromise(InMemoryEventLog.make)
  const counts = { appends: 0, heads: 0, pages: 0 }
  const stored = { records: 0 }
  const counted = <Ask extends (...given: ReadonlyArray<never>) => Effect.Effect<unknown, unknown>>(
    kind: keyof Statements,
    ask: Ask,
  ) =>
    ((...given: ReadonlyArray<never>) =>
      Effect.suspend(() => {
        counts[kind]++
        return ask(...given)
      })) as Ask
  const layer = Layer.succeed(EventLog.EventLog, {
    ...log,
    append: counted("appends", (...given: Parameters<typeof log.append>) => {
      stored.records += given[1].length
      return log.append(...given)
    }),
    rewrite: counted("appends", log.rewrite),
    head: counted("heads", log.head),
    read: counted("pages", log.read),
  })
  return { layer, counts, stored }
}

/** What an adapter compares of a session is 100 messages: a session of so many records is longer. */
const enough = 112

/**
 * The statements of each turn of a warm process, until its session is long enough: turns that the process has begun with are not
 * counted.
 *
 * @param open - opens an agent over a log, whose memory compacts nothing, and returns how it is asked
 * @param most - how many turns at most
 */
export const statementsOfTurns = async (
  open: (log: Layer.Layer<EventLog.EventLog>) => (turn: number) => Promise<unknown>,
  most = 70,
): Promise<ReadonlyArray<Statements>> => {
  const { layer, counts, stored } = await counting()
  const ask = open(layer)
  const turns: Array<Statements> = []
  for (let turn = 0; turn < most && stored.records < enough; turn++) {
    Object.assign(counts, { appends: 0, heads: 0, pages: 0 })
    await ask(turn)
    turns.push({ ...counts })
  }
  return turns.slice(2)
}
