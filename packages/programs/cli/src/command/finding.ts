/** A finding as the command line reports it. */
import { EventLog, type Verify } from "@memfold/core"
import { sqliteFile } from "@memfold/catalog"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect, Stream } from "effect"

/** A finding of a check, a session whose log cannot be read at all (without a version), or damage of the store's files. */
export type Finding =
  | Verify.Finding
  | {
      readonly session: null
      readonly version: null
      readonly rule: "integrity"
      readonly detail: string
    }
  | {
      readonly session: string
      readonly version: null
      readonly rule: "readable"
      readonly detail: string
    }

/**
 * Reports a log that cannot be read as a finding, and the check goes on with the other sessions. Fails if the store
 * cannot list its sessions either: then the store itself is unreachable.
 */
export const unreadable = (
  log: EventLog.Service,
  session: string,
  { reason }: EventLog.LogError,
): Effect.Effect<Finding, EventLog.LogError> =>
  EventLog.sessions(log).pipe(
    Stream.take(1),
    Stream.runDrain,
    Effect.as({ session, version: null, rule: "readable", detail: `the log cannot be read: ${reason}` }),
  )

/** What is wrong with the file that a URL names; nothing for a store without a file. */
export const integrity = (url: string): Effect.Effect<ReadonlyArray<Finding>> => {
  const filename = sqliteFile(url)
  return (filename === null ? Effect.succeed([]) : SqliteEventLog.integrity({ filename })).pipe(
    Effect.catchAll(({ reason }) => Effect.succeed([reason])),
    Effect.map((lines) =>
      lines.map((detail) => ({ session: null, version: null, rule: "integrity" as const, detail })),
    ),
  )
}

export const place = ({ session, version }: Finding): string =>
  session === null ? "the store" : `session "${session}"${version === null ? "" : `, event ${version}`}`
