/** The views and the table that other programs read with SQL. */
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { records } from "@memfold/harness/crowd"
import { summariesOf, type SummaryRow, summaryRows } from "@memfold/harness/logs"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { newSchema, withLog } from "./support.js"

const { server } = postgresServers()
let one: Postgres
beforeAll(async () => {
  one = await server({ config: ["fsync = off"] })
})

const summary = (version: number, rest: Partial<SummaryRow> = {}): SummaryRow => ({
  version,
  id: `s${version}`,
  status: "active",
  supersededBy: null,
  coveredTo: 2 * version,
  total: 6,
  text: `summary ${version}`,
  turnPrefix: null,
  tokens: 7,
  time: Date.UTC(2026, 0, 31, 12, 0, version, 250),
  ...rest,
})

const superseded = (version: number) =>
  summary(version, { status: "superseded", supersededBy: `s${version + 1}` })

const query = async (sql: string, ...parameters: ReadonlyArray<unknown>): Promise<ReadonlyArray<unknown>> =>
  (await one.client.query(sql, [...parameters])).rows

/** A schema with two summaries of a session, and what reads them. */
const written = async () => {
  const schema = newSchema()
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      const append = (version: number, ...rows: ReadonlyArray<SummaryRow>) =>
        log.append("chat-1", records(2), {
          expectedVersion: version,
          batchId: `c${version}`,
          projections: [{ kind: "summary", rows: summaryRows(rows) }],
        })
      yield* append(0, summary(1))
      yield* append(2, superseded(1), summary(2, { turnPrefix: "a poem" }))
    }),
  )
  return schema
}

it("the view log has the events, with their session, version, type, time and batch", async () => {
  const schema = await written()
  expect(await query(`SELECT * FROM ${schema}.log WHERE session = 'chat-1' ORDER BY version`)).toEqual(
    [1, 2, 3, 4].map((version) => ({
      session: "chat-1",
      version: String(version),
      type: "Test",
      time: new Date(1_700_000_000_000),
      batch_id: version < 3 ? "c0" : "c2",
      data: "{}",
    })),
  )
})

it("the table summaries begins with the columns that programs with a summary store expect", async () => {
  const schema = await written()
  const rows = await query(
    `SELECT summary_id, thread_id, summary_text, compact_up_to_index, compacted_at, is_split_turn, split_turn_prefix,
       is_active, created_at FROM ${schema}.summaries WHERE is_active ORDER BY created_at DESC`,
  )
  expect(rows).toEqual([
    {
      summary_id: "s2",
      thread_id: "chat-1",
      summary_text: "summary 2",
      compact_up_to_index: "4",
      compacted_at: "6",
      is_split_turn: true,
      split_turn_prefix: "a poem",
      is_active: true,
      created_at: new Date(Date.UTC(2026, 0, 31, 12, 0, 2, 250)),
    },
  ])
})

it("the view compressed_summaries has each summary with the messages that it covers", async () => {
  const schema = await written()
  const rows = await query(
    `SELECT id, status, message_ids, jsonb_array_length(message_ids) AS messages FROM ${schema}.compressed_summaries
     WHERE chat_id = $1 ORDER BY compressed_at`,
    "chat-1",
  )
  expect(rows).toEqual([
    { id: "s1", status: "superseded", message_ids: [0, 1], messages: 2 },
    { id: "s2", status: "active", message_ids: [0, 1, 2, 3], messages: 4 },
  ])
})

it("a row of the summaries that another program has changed is an error, and the log is not touched", async () => {
  const schema = await written()
  await query(
    `UPDATE ${schema}.summaries SET created_at = created_at + interval '1 second' WHERE version = 1`,
  )
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(log.projections.get("chat-1", "summary"))).toMatchObject({
        reason:
          "another program has changed a row of the table summaries; memfold repair writes the rows again",
      })
      yield* log.projections.drop("summary", "chat-1")
      expect(yield* summariesOf(log, "chat-1")).toEqual([])
    }),
  )
})

it("a session that is deleted with SQL is gone with its events", async () => {
  const schema = await written()
  await query(`DELETE FROM ${schema}.sessions WHERE name = 'chat-1'`)
  for (const table of ["events", "projections", "summaries"])
    expect(await query(`SELECT 1 FROM ${schema}.${table}`)).toEqual([])
})

it("a log that has lost its end is an error of the next append", async () => {
  const schema = await written()
  await query(`DELETE FROM ${schema}.events WHERE id & 4294967295 = 4`)
  await withLog({ url: one.url, schema }, (log) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(log.append("chat-1", records(1), { expectedVersion: 4, batchId: "d" }))
      expect(error).toMatchObject({
        reason: "the log ends at event 3, while the session is at version 4; restore the log from a backup",
      })
    }),
  )
})
