/** The events of an owner, line by line. */
import type { RecordedEvent } from "./schemas.js"
import { ServiceError } from "./ServiceError.js"
import { isProblem } from "./statuses.js"

/** The events in a text of lines. Fails unless the last line says that all of them came. */
export const eventsIn = (text: string): ReadonlyArray<RecordedEvent> => {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown)
  const last = lines.pop()
  if (isProblem(last)) throw new ServiceError({ problem: last })
  if (typeof last !== "object" || last === null || !("complete" in last))
    throw new ServiceError({ status: null, detail: "Not all events have come; read them again" })
  return lines as ReadonlyArray<RecordedEvent>
}
