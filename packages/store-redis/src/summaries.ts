/**
 * The summary rows of a session, for people and other programs: a hash of JSON by version. Any program can change it, so
 * what is read is checked as far as a row can show that it was changed. The engine compares the rest with the log.
 */
import { EventLog } from "@memfold/core"
import { Effect, Option, Schema } from "effect"
import type { Connection } from "./Connection.js"
import type { SessionKeys } from "./keys.js"
import { partsOfHead, script } from "./scripts.js"
import { toStored } from "./stored.js"

const Row = Schema.Struct({
  version: Schema.Int,
  id: Schema.String,
  status: Schema.Literal("active", "superseded", "invalid"),
  supersededBy: Schema.NullOr(Schema.String),
  coveredTo: Schema.Number,
  total: Schema.Number,
  text: Schema.String,
  turnPrefix: Schema.NullOr(Schema.String),
  tokens: Schema.Number,
  time: Schema.Number,
})
const decodeRow = Schema.decodeUnknownOption(Schema.parseJson(Row))

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** How often to read again: the rows and the version of the active one are not read at one moment. */
const attempts = 5

const damaged = (session: string, problem: string) =>
  new EventLog.LogError({
    operation: "summaries",
    session,
    reason: `${problem}; another program has changed it, so run memfold repair, or restore it from a backup`,
  })

/** The rows in a hash, or what is wrong with them. */
const decoded = (
  session: string,
  stored: Readonly<Record<string, string>>,
): Effect.Effect<ReadonlyArray<EventLog.SummaryRow>, EventLog.LogError> =>
  Effect.forEach(Object.entries(stored), ([version, json]) =>
    decodeRow(json).pipe(
      Option.filter((row) => String(row.version) === version),
      Option.match({
        // Without the parser's error, which repeats the text.
        onNone: () =>
          damaged(
            session,
            isJson(json) ? "a summary row is not as it was written" : "a summary row is not JSON",
          ),
        onSome: Effect.succeed,
      }),
    ),
  ).pipe(Effect.map((rows) => rows.toSorted((one, other) => one.version - other.version)))

/** Reads the summary rows of a session. */
export const read = (
  connection: Connection,
  { meta, summaries }: SessionKeys,
  session: string,
  { activeOnly = false }: EventLog.SummariesOptions = {},
): Effect.Effect<ReadonlyArray<EventLog.SummaryRow>, EventLog.LogError> => {
  const about = { operation: "summaries", session }
  const active = connection.ask(about, async (client) => (await client.hget(meta, "active")) ?? "")
  const mixed = damaged(session, "the session has another active summary than its rows")
  const all = Effect.gen(function* () {
    const before = yield* active
    const rows = yield* Effect.flatMap(
      connection.ask(about, (client) => client.hgetall(summaries)),
      (stored) => decoded(session, stored),
    )
    const found = rows.filter(({ status }) => status === "active").map(({ version }) => String(version))
    if (found.join() !== before) return yield* mixed
    return rows
  })
  const one = Effect.gen(function* () {
    const version = yield* active
    if (version === "") return []
    const json = yield* connection.ask(about, (client) => client.hget(summaries, version))
    if (json === null) return yield* mixed
    const rows = yield* decoded(session, { [version]: json })
    return rows.every(({ status }) => status === "active") ? rows : yield* mixed
  })
  return Effect.retry(activeOnly ? one : all, { times: attempts, while: (error) => error === mixed })
}

/**
 * Replaces all rows of a session that is still at the given place. The first write is one that a full server refuses, and
 * no write after it can fail.
 *
 * The arguments are the version and the batch id of the place, why the rows are refused (empty if they are not), the
 * version of the active row (empty if there is none), and each row's version and JSON.
 */
const replace = script(`
local meta, summaries = unpack(KEYS)
local version, batch, problem, active = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local head = redis.call('HGET', meta, 'head') or ''
local now, last = string.match(head, ${partsOfHead})
if not now then return version == '0' and 'done' or '0' end
if now ~= version or last ~= batch then return now end
if problem ~= '' then return 'refused' end
redis.call('HLEN', summaries)
redis.call('HSET', meta, 'active', active)
local kept = {}
for at = 5, #ARGV, 2 do
  kept[ARGV[at]] = true
  redis.call('HSET', summaries, ARGV[at], ARGV[at + 1])
end
-- Field by field: in a slot that is being moved, a script may not use a key again that it has removed.
for _, row in ipairs(redis.call('HKEYS', summaries)) do
  if not kept[row] then redis.call('HDEL', summaries, row) end
end
return 'done'
`)

/** Why rows cannot stand side by side; `null` if they can. */
const problemOf = (rows: ReadonlyArray<EventLog.SummaryRow>): string | null => {
  if (rows.filter(({ status }) => status === "active").length > 1) return "two active summaries"
  return new Set(rows.map(({ id }) => id)).size < rows.length ? "two summaries with one id" : null
}

/** Replaces all summary rows of a session that is still at the given place. */
export const replaceAll = (
  connection: Connection,
  { meta, summaries }: SessionKeys,
  session: string,
  rows: ReadonlyArray<EventLog.SummaryRow>,
  at: EventLog.LogPosition,
): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> => {
  const operation = "replaceSummaries"
  const problem = problemOf(rows)
  const active = rows.find(({ status }) => status === "active")?.version
  return connection
    .run(
      { operation, session },
      replace,
      [meta, summaries],
      [
        String(at.version),
        toStored(at.batchId),
        problem ?? "",
        active === undefined ? "" : String(active),
        ...rows.flatMap((row) => [String(row.version), JSON.stringify(row)]),
      ],
    )
    .pipe(
      Effect.flatMap((answer): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> => {
        if (answer === "done") return Effect.void
        if (answer === "refused") {
          const reason = `the change would leave ${problem}; nothing was written`
          return new EventLog.LogError({ operation, session, reason })
        }
        const actualVersion = Number(answer)
        return new EventLog.VersionConflict({ session, expectedVersion: at.version, actualVersion })
      }),
    )
}
