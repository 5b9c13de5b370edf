import { MemoryLayers, type Session } from "@memfold/core"
import { Effect } from "effect"

/** An operation of memory layers. */
export type Operation = MemoryLayers.LayersError["operation"]

/** The error of an operation. Its detail must not contain text of messages or facts. */
export const failing =
  (session: string, operation: Operation) =>
  (detail: string): MemoryLayers.LayersError =>
    new MemoryLayers.LayersError({ session, operation, detail })

/** The errors of sessions as errors of an operation. */
export const inWords = (session: string, operation: Operation) =>
  Effect.mapError((error: MemoryLayers.LayersError | Session.SessionError) =>
    error._tag === "LayersError" ? error : failing(session, operation)(error.message),
  )
