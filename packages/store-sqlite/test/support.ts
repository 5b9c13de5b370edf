/** What the tests of this package share: folders that go away, the driver itself, and scripts for second processes. */
import type { EventLog } from "@memfold/core"
import { EventCodec, Message, Session, Verify } from "@memfold/core"
import type { Scope } from "effect"
import { Effect, Either, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, onTestFinished } from "vitest"
import { bundled as bundledFrom } from "../../core/test/children.js"
import type { Options } from "../src/index.js"
import { make } from "../src/index.js"

/** A folder of this test's own, removed when it ends. */
export const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "memfold-sqlite-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** As much of better-sqlite3 as the tests use. */
interface Driver {
  readonly prepare: (sql: string) => {
    readonly all: (...parameters: ReadonlyArray<unknown>) => ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  readonly exec: (sql: string) => void
  readonly pragma: (sql: string, options?: { readonly simple: boolean }) => unknown
  readonly close: () => void
}

const fromHere = createRequire(import.meta.url)
/** The driver is a dependency of the client, so it is looked up from there. */
export const driverPath = createRequire(fromHere.resolve("@effect/sql-sqlite-node")).resolve("better-sqlite3")
const Sqlite = fromHere(driverPath) as new (file: string) => Driver

/** Bundles scripts of `children/` for the tests of a file; answers with the path of each. */
export const bundled = <Name extends string>(...names: ReadonlyArray<Name>): ((name: Name) => string) =>
  bundledFrom(new URL("children/", import.meta.url), names, {
    "better-sqlite3": pathToFileURL(driverPath).href,
  })

/** Opens a file as any program with SQLite would, until the test ends. */
export const openDriver = (file: string): Driver => {
  const driver = new Sqlite(file)
  onTestFinished(() => driver.close())
  return driver
}

/** Uses a file as any program with SQLite would. */
export const withDriver = <A>(file: string, use: (driver: Driver) => A): A => {
  const driver = new Sqlite(file)
  try {
    return use(driver)
  } finally {
    driver.close()
  }
}

/** Opens a log, uses it, and closes it. */
export const withLog = <A, E>(
  options: Options,
  use: (log: EventLog.Service) => Effect.Effect<A, E, Scope.Scope>,
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(make(options), use)))

/** The error of an attempt to open. */
export const openingFails = (options: Options): Promise<EventLog.LogError> =>
  Effect.runPromise(Effect.flip(Effect.scoped(make(options))))

/** A batch of records that are no events of any memfold. */
export const records = (count: number, data = "{}"): [EventLog.NewRecord, ...Array<EventLog.NewRecord>] => {
  const record = { at: 1_700_000_000_000, type: "Test", version: 1, data }
  return [record, ...Array.from({ length: count - 1 }, () => record)]
}

/** The texts of a session's messages, in the order of the log. */
export const textsOf = (log: EventLog.Service, session: string) =>
  log.read(session).pipe(
    Stream.map((record) => Either.getOrThrow(EventCodec.decode(record)).event),
    Stream.filter((event) => event._tag === "MessageAppended"),
    Stream.map(({ message }) => Message.text(message)),
    Stream.runCollect,
    Effect.map((texts) => [...texts]),
  )

/** How often each type of event occurs in a session. */
export const countsOf = (log: EventLog.Service, session: string) =>
  log.read(session).pipe(
    Stream.runFold({} as Readonly<Record<string, number>>, (counts, { type }) => ({
      ...counts,
      [type]: (counts[type] ?? 0) + 1,
    })),
  )

/** Everything `Verify` finds in the sessions of a file. */
export const findings = (log: EventLog.Service) =>
  log.sessions.pipe(
    Stream.mapEffect(({ session }) => Verify.session(log, session)),
    Stream.runCollect,
    Effect.map((all) => [...all].flat()),
  )

/** Half a character in a text becomes one mark or three, as whoever decodes it counts. */
const readable = (text: unknown): unknown =>
  typeof text === "string" ? text.toWellFormed().replaceAll(/\ufffd+/g, "\ufffd") : text

/**
 * The rows of a session in the table `summaries`, without the number that the session has in this file, and with the
 * whole text of each, which the view `compressed_summaries` has.
 */
export const summaryRows = (file: string, session: string): ReadonlyArray<unknown> =>
  withDriver(file, (driver) =>
    driver
      .prepare(
        `SELECT summaries.*, (
           SELECT summary FROM compressed_summaries WHERE chat_id = thread_id AND compressed_summaries.seq = summaries.seq
         ) AS summary_text
         FROM summaries WHERE thread_id = ? ORDER BY seq`,
      )
      .all(session),
  ).map(({ session: _session, carried: _carried, builds_on: _buildsOn, ...row }) => ({
    ...row,
    summary_text: readable(row["summary_text"]),
    split_turn_prefix: readable(row["split_turn_prefix"]),
  }))

/** What the rows of a session have to be: what core says of its log. */
export const expectedRows = (log: EventLog.Service, session: string) =>
  log.read(session).pipe(
    Stream.filterMap((record) => Either.getRight(EventCodec.decode(record))),
    Session.summariesOf,
    Effect.map((records) => records.map((record) => expectedRow(session, record))),
  )

const expectedRow = (session: string, record: Session.SummaryRecord) => {
  const active = record.status === "active"
  const prefixes = record.segments.filter(({ kind }) => kind === "turn-prefix")
  return {
    summary_id: record.id,
    thread_id: session,
    summary_text: readable(record.text),
    compact_up_to_index: record.through,
    compacted_at: record.total,
    is_split_turn: prefixes.length === 0 ? 0 : 1,
    split_turn_prefix: readable(prefixes.length === 0 ? null : prefixes.map(({ text }) => text).join("\n\n")),
    is_active: active ? 1 : 0,
    created_at: new Date(record.at).toISOString().slice(0, 19).replace("T", " "),
    status: record.status,
    superseded_by: record.supersededBy,
    seq: record.seq,
    at: record.at,
    tokens: record.tokens,
    segments: active ? JSON.stringify(record.segments) : null,
  }
}

/** Expects the table of a file to say of every session what core says of its log; answers with how many rows. */
export const expectFollowed = (file: string, log: EventLog.Service) =>
  log.sessions.pipe(
    Stream.mapEffect(({ session }) =>
      Effect.map(expectedRows(log, session), (expected) => {
        expect(summaryRows(file, session)).toEqual(expected)
        return expected.length
      }),
    ),
    Stream.runSum,
  )

/** What SQLite itself says about a file. */
export const integrity = (file: string): unknown =>
  withDriver(file, (driver) => driver.pragma("integrity_check", { simple: true }))
