/** Answers in the proxy's own words. */
import { STATUS_CODES, type ServerResponse } from "node:http"
import type { Field } from "./headers.js"

/**
 * Answers with JSON. Handlers of errors call it, so it never throws: a response that has begun, or does not take the answer, breaks off.
 */
export const tell = (
  response: ServerResponse,
  status: number,
  body: unknown,
  fields: ReadonlyArray<Field> = [],
): void => {
  try {
    const bytes = Buffer.from(JSON.stringify(body))
    const own = ["Content-Type", "application/json", "Content-Length", String(bytes.length)]
    // Without a reason, Node would send again the one that it has refused.
    response.writeHead(status, STATUS_CODES[status] ?? "", [...fields.flat(), ...own]).end(bytes)
  } catch {
    response.destroy()
  }
}
