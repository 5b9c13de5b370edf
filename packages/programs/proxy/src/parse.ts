/** Takes a request of a client apart; on any doubt, it is left as it came. */
import { exactText, type Fields, isFields } from "@memfold/codec"
import type { Parsed } from "./compose.js"
import { type Dialect, unitsOf } from "./dialects.js"
import type { Steps } from "@memfold/log/breathe"
import { listIn } from "./jsonText.js"

/** A request that passes as it came, and why, in a word. */
export interface Doubt {
  readonly doubt: string
}

/** The JSON of a text; `undefined` if it is none. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A body of which items are stored: their numbers keep their digits. What else it says goes on to the upstream, as JSON has it. */
export function* withExactItems(text: string): Steps<unknown> {
  const body = jsonOf(text)
  if (!isFields(body)) return body
  const written = yield* exactText(text)
  if (written === text) return body
  const exact = jsonOf(written) as Fields
  const items = ["input", "items"].filter((name) => Object.hasOwn(body, name))
  return { ...body, ...Object.fromEntries(items.map((name) => [name, exact[name]])) }
}

/** Responses takes a text in place of a list with one message: it is written as that list. */
const withList = (dialect: Dialect, text: string): string => {
  if (dialect.list !== "input") return text
  const body = jsonOf(text)
  if (!isFields(body) || typeof body["input"] !== "string") return text
  return JSON.stringify({ ...body, input: [{ role: "user", content: body["input"] }] })
}

/** Takes a request apart. */
export function* parse(dialect: Dialect, given: string): Steps<Parsed | Doubt> {
  const text = withList(dialect, given)
  yield
  const body = jsonOf(yield* exactText(text))
  yield
  if (!isFields(body)) return { doubt: "not-json" }
  const doubt = dialect.doubt(body)
  if (doubt !== null) return { doubt }
  const list = yield* listIn(text, dialect.list)
  yield
  const items = body[dialect.list]
  if (list === null || !Array.isArray(items) || list.items.length !== items.length)
    return { doubt: "unknown-shape" }
  const found = items.findIndex((item) => !dialect.isInstruction(item))
  if (found === -1) return { doubt: "no-messages" }
  const units = yield* unitsOf(dialect, items, found)
  return units === null
    ? { doubt: "unknown-shape" }
    : { dialect, text, body, list, items, from: found, units }
}
