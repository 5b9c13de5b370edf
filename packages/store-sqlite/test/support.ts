/** What the tests of this package share: folders that go away, and scripts for second processes. */
import { EventCodec, EventLog, Message, Verify } from "@memfold/core"
import type { Scope } from "effect"
import { Effect, Either, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as nextLook } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { onTestFinished } from "vitest"
import { bundled as bundledFrom } from "@memfold/harness/children"
import { driverPath, withDriver } from "@memfold/harness/sqlite"
import type { Options } from "../src/index.js"
import { make } from "../src/index.js"

/** A folder of this test's own, removed when it ends. */
export const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "memfold-sqlite-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Bundles scripts of `children/` for the tests of a file; answers with the path of each. */
export const bundled = <Name extends string>(...names: ReadonlyArray<Name>): ((name: Name) => string) =>
  bundledFrom(new URL("children/", import.meta.url), names, {
    "better-sqlite3": pathToFileURL(driverPath).href,
  })

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
  const record = { time: 1_700_000_000_000, type: "Test", schemaVersion: 1, data }
  return [record, ...Array.from({ length: count - 1 }, () => record)]
}

/** The data of a row of kind `summary`. */
export interface Summary {
  readonly version: number
  readonly id: string
  readonly status: "active" | "superseded" | "invalid"
  readonly supersededBy: string | null
  readonly coveredTo: number
  readonly total: number
  readonly text: string
  readonly turnPrefix: string | null
  readonly tokens: number
  readonly time: number
}

/** The active summary that a version committed, with its texts changed if you like. */
export const summary = (version: number, changes: Partial<Summary> = {}): Summary => ({
  version,
  id: `s${version}`,
  status: "active",
  supersededBy: null,
  coveredTo: version,
  total: version,
  text: `summary ${version}`,
  turnPrefix: null,
  tokens: 7,
  time: Date.UTC(2026, 0, 31, 12, 0, version),
  ...changes,
})

/** Adds the rows of summaries, or puts them in the place of all rows. */
export const summaryRows = (
  summaries: ReadonlyArray<Summary>,
  { replace = false } = {},
): EventLog.ProjectionChange => ({
  kind: "summary",
  replace,
  rows: summaries.map((one) => ({
    key: one.id,
    data: JSON.stringify(one),
    ...(one.status === "active" ? { mark: "active" } : {}),
  })),
})

/** The summaries of a session, in the order of their versions. */
export const summariesOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.projections.get(session, "summary"), (rows) =>
    rows.map(({ data }) => JSON.parse(data) as Summary).toSorted((one, other) => one.version - other.version),
  )

/** The version of a session; 0 if it does not exist. */
export const versionOf = (log: EventLog.Service, session: string) =>
  Effect.map(log.head(session), (head) => head?.version ?? 0)

/** All records of a session. */
export const recordsOf = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, session)), (all) => [...all])

/** Puts a row without a key, where a session is. */
export const putSnapshot = (log: EventLog.Service, session: string, data: string) =>
  Effect.flatMap(log.head(session), (at) =>
    log.projections.put(session, at ?? { version: 0, batchId: "" }, [
      { kind: "snapshot", rows: [{ key: "", data }] },
    ]),
  )

/** The texts of a session's messages, in the order of the log. */
export const textsOf = (log: EventLog.Service, session: string) =>
  EventLog.records(log, session).pipe(
    Stream.map((record) => Either.getOrThrow(EventCodec.decode(record)).event),
    Stream.filter((event) => event._tag === "MessageAppended"),
    Stream.map(({ message }) => Message.text(message)),
    Stream.runCollect,
    Effect.map((texts) => [...texts]),
  )

/** How often each type of event occurs in a session. */
export const countsOf = (log: EventLog.Service, session: string) =>
  Effect.map(recordsOf(log, session), (all) => {
    const counts: Record<string, number> = {}
    for (const { type } of all) counts[type] = (counts[type] ?? 0) + 1
    return counts
  })

/** Everything `Verify` finds in the sessions of a file. */
export const findings = (log: EventLog.Service) =>
  EventLog.sessions(log).pipe(
    Stream.mapEffect(({ session }) => Verify.session(log, session)),
    Stream.runCollect,
    Effect.map((all) => [...all].flat()),
  )

/** What SQLite itself says about a file. */
export const integrity = (file: string): unknown =>
  withDriver(file, (driver) => driver.pragma("integrity_check", { simple: true }))

/** Looks again and again until it is so; fails after 20 seconds. */
export const eventually = async (what: string, isSo: () => boolean): Promise<void> => {
  const end = performance.now() + 20_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it never came about that ${what}`)
    await nextLook(20)
  }
}
