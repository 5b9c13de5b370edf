/** Putting the events of an import into a log: all of them in one batch, or none. */
import { EventCodec, type EventLog, Session } from "@memfold/core"
import { Effect, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import type { TimedEvent } from "./events.js"
import { SessionTaken } from "./ImportError.js"

/** Names an import by what it brings, so that the same one is applied once (law L12). */
export const commitOf = (content: unknown): string =>
  `import-${createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 20)}`

/** Whether a session has come from this very import. One that has other content fails. */
export const importedBefore = (
  log: EventLog.Service,
  session: string,
  commit: string,
): Effect.Effect<boolean, SessionTaken | EventLog.LogError> =>
  Effect.gen(function* () {
    const events = yield* log.version(session)
    if (events === 0) return false
    const first = yield* Stream.runHead(log.read(session, { from: 1, to: 1 }))
    if (Option.exists(first, (record) => record.commit === commit)) return true
    return yield* new SessionTaken({ session, events })
  })

/** Makes the session. `false` if somebody else made it by the same import in the meantime. */
export const write = (
  log: EventLog.Service,
  session: string,
  commit: string,
  events: ReadonlyArray<TimedEvent>,
): Effect.Effect<boolean, SessionTaken | EventLog.LogError> =>
  Effect.gen(function* () {
    const [first, ...rest] = events.map(({ at, event }) => ({ at, ...EventCodec.encode(event) }))
    if (first === undefined) return false
    const recorded = events.map(({ at, event }, position): EventCodec.Recorded => {
      const seq = position + 1
      return { session, seq, id: EventCodec.eventId({ commit, seq }), at, event }
    })
    const summaries = yield* Session.summaryRows(session, Stream.fromIterable(recorded))
    const { duplicate } = yield* log.append(session, [first, ...rest], { expected: 0, commit, summaries })
    return !duplicate
  }).pipe(Effect.catchTag("VersionConflict", ({ actual }) => new SessionTaken({ session, events: actual })))
