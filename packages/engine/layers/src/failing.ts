import { MemoryLayers } from "@memfold/core"

/** An operation of memory layers. */
export type Operation = MemoryLayers.LayersError["operation"]

/** The error of an operation. Its detail must not contain text of messages or facts. */
export const failing =
  (session: string, operation: Operation) =>
  (detail: string): MemoryLayers.LayersError =>
    new MemoryLayers.LayersError({ session, operation, detail })
