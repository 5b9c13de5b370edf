/** A finding as the command line reports it. */
import type { EventLog, Verify } from "@memfold/core"
import { Effect, Stream } from "effect"

/** What a check found, or that a session's log cannot be read at all; that shows at no event. */
export type Finding =
  | Verify.Finding
  | {
      readonly session: string
      readonly version: null
      readonly rule: "readable"
      readonly detail: string
    }

/**
 * A log that cannot be read is a finding about its session: the others are gone through all the same. Fails if the
 * store cannot list its sessions either: it is gone, and so would all the others be.
 */
export const unreadable = (
  log: EventLog.Service,
  session: string,
  { reason }: EventLog.LogError,
): Effect.Effect<Finding, EventLog.LogError> =>
  log.sessions.pipe(
    Stream.take(1),
    Stream.runDrain,
    Effect.as({ session, version: null, rule: "readable", detail: `the log cannot be read: ${reason}` }),
  )

/** Where it is, in words. */
export const place = ({ session, version }: Finding): string =>
  `session "${session}"${version === null ? "" : `, event ${version}`}`
