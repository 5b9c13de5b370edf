/** What is wrong with a request, without its contents. */
import type { ParseResult } from "effect"

type Issue = ParseResult.ArrayFormatterIssue

const placeOf = ({ path }: Issue): string => path.map(String).join(".")

/** What the schema allows. What else is in a message is the content. */
const allowedBy = ({ _tag, message }: Issue): string | undefined => {
  if (_tag === "Transformation")
    return message.includes("JSON") ? "JSON" : /" into (an? [a-z]+)$/u.exec(message)?.[1]
  const [, expected] = /^Expected (.+?), actual /su.exec(message) ?? []
  if (expected === "JsonObject" || expected?.startsWith("{") === true) return "an object"
  return expected?.startsWith("ReadonlyArray<") === true ? "a list" : expected
}

/**
 * Says what is wrong with a request.
 *
 * @param issues - what its schema found
 */
export const wrongIn = (issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>): string => {
  const [first] = issues
  if (first === undefined) return "The request is wrong"
  const place = placeOf(first)
  const what = place === "" ? "The request" : `"${place}"`
  if (first._tag === "Unexpected" && place !== "") return `There is no field ${what}`
  if (first._tag === "Missing") return `${what} is missing`
  const allowed = issues
    .filter((issue) => placeOf(issue) === place)
    .map(allowedBy)
    .filter((one) => one !== undefined && one !== "undefined")
  return `${what} is wrong${allowed.length === 0 ? "" : `; allowed: ${[...new Set(allowed)].join(", ")}`}`
}
