/** Appends and rewrites: the arguments of their scripts, and what the answers mean. */
import { EventLog } from "@memfold/log"
import { Duration, Effect } from "effect"
import type { Connection } from "./Connection.js"
import type { KeysOf } from "./keys.js"
import type { WaitReplicas } from "./Options.js"
import { type GivenChanges, givenChanges, twoMarks } from "./rows.js"
import type { Script, Scripts } from "./scripts.js"
import { toHeader, toStartOfHead, toStored } from "./stored.js"

type WriteResult = Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError>

/** How a log writes. */
export interface Writing {
  readonly connection: Connection
  readonly keysOf: KeysOf
  readonly scripts: Scripts
  readonly waitReplicas: WaitReplicas | undefined
}

/** A write: its name in errors, and its session. */
interface About {
  readonly operation: string
  readonly session: string
}

/** The result of a write, from the answer of its script, and how many replicas had it in time. */
const toResult = (
  { operation, session }: About,
  count: number,
  { expectedVersion }: EventLog.AppendOptions,
  answer: unknown,
): WriteResult => {
  // The most frequent answer is the shortest.
  if (answer === 1)
    return Effect.succeed({
      fromVersion: expectedVersion + 1,
      version: expectedVersion + count,
      duplicate: false,
    })
  const [outcome, first, second] = answer as ReadonlyArray<string>
  switch (outcome) {
    case "duplicate":
      return Effect.succeed({ fromVersion: Number(first), version: Number(second), duplicate: true })
    case "conflict":
      return new EventLog.VersionConflict({ session, expectedVersion, actualVersion: Number(first) })
    case "two marks":
      return twoMarks(operation, session, first)
    default:
      return new EventLog.LogError({
        operation,
        session,
        reason: `its keys do not belong together: ${first} records at version ${second}; another program has changed them, so restore them from a backup`,
      })
  }
}

/** No changes of rows, which is what nearly all appends have. */
const unchanged: GivenChanges = { named: {}, data: [], keys: [] }

/** Writes a batch in one step, and waits for the replicas that were asked for. */
const write = (
  { connection, keysOf, waitReplicas }: Writing,
  about: About,
  script: Script,
  others: ReadonlyArray<string>,
  rewritten: ReadonlyArray<EventLog.RewrittenRecord>,
  records: ReadonlyArray<EventLog.NewRecord>,
  options: EventLog.AppendOptions,
): WriteResult => {
  const { expectedVersion, lastBatchId, batchId, retried, projections } = options
  const { operation, session } = about
  const keys = keysOf(session)
  const changes = projections === undefined ? unchanged : givenChanges(keys, projections)
  const given = {
    name: toStored(session),
    batch: toStored(batchId),
    expected: String(expectedVersion),
    after: toStartOfHead(expectedVersion, lastBatchId),
    head: `${toStartOfHead(expectedVersion + records.length, batchId)}${records.at(-1)?.time}`,
    count: records.length,
    ...(retried === "in-place" ? { inPlace: true } : {}),
    ...changes.named,
    ...(rewritten.length === 0
      ? {}
      : {
          rewritten: rewritten.map(({ version, schemaVersion, checksum }) => ({
            version: String(version),
            form: `${schemaVersion} ${checksum ?? "-"}`,
          })),
        }),
  }
  const args = [JSON.stringify(given)]
  for (const record of records) args.push(toHeader(record), toStored(record.data))
  args.push(...changes.data, ...rewritten.map((record) => toStored(record.data)))
  const used = [
    keys.log,
    keys.meta,
    keys.feed,
    keys.numbers,
    ...(expectedVersion === 0 ? [keys.sessions] : []),
    ...others,
    ...changes.keys,
  ]
  if (waitReplicas === undefined)
    return Effect.flatMap(connection.run(about, script, used, args), (answer) =>
      toResult(about, records.length, options, answer),
    )
  const { count, timeout } = waitReplicas
  const millis = Duration.toMillis(timeout)
  return Effect.flatMap(
    connection.runAndWait(about, script, used, args, { count, millis }),
    ([answer, reached]) => {
      // A full server wrote nothing again, so nothing was waited for.
      const isFull = Array.isArray(answer) && answer[3] === "full"
      const acknowledged = isFull ? 0 : reached
      return Effect.flatMap(toResult(about, records.length, options, answer), (result) =>
        acknowledged < count
          ? new EventLog.LogError({
              operation,
              session,
              reason: `the master has it, but only ${acknowledged} of ${count} replicas had it within ${millis} ms; do it again with the same batch id, and check the replicas`,
            })
          : Effect.succeed(result),
      )
    },
  )
}

/** Appends a batch. */
export const append =
  (writing: Writing): EventLog.Service["append"] =>
  (session, records, options) =>
    write(writing, { operation: "append", session }, writing.scripts.append, [], [], records, options)

/** Rewrites records and appends a batch. */
export const rewrite =
  (writing: Writing): EventLog.Service["rewrite"] =>
  (session, rewritten, records, options) => {
    const about = { operation: "rewrite", session }
    const { draft, unfinished } = writing.keysOf(session)
    return write(writing, about, writing.scripts.rewrite, [draft, unfinished], rewritten, records, options)
  }
