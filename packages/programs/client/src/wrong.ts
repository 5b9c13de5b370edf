/** What is wrong with a request, without its contents. */
import type { ParseResult } from "effect"

/**
 * Says what is wrong with a request.
 *
 * @param issue - what the schema of the request found first
 */
export const wrongIn = (
  issue: Pick<ParseResult.ArrayFormatterIssue, "_tag" | "path"> | undefined,
): string => {
  const place = issue?.path.map(String).join(".") ?? ""
  if (place === "") return "The request is wrong or missing"
  return issue?._tag === "Unexpected" ? `There is no field "${place}"` : `"${place}" is wrong or missing`
}
