/** Quick checks of the parts of a summary against their schemas, see `message/exact.ts`. */
import { boolean, type Check, count, exactly, listOf, literal, text, unknown } from "../message/exact.js"

/** The kind of a segment. */
export const isSegmentKind: Check = literal("history", "block", "turn-prefix")

/** A segment. */
export const isExactSegment: Check = exactly([
  ["kind", isSegmentKind, "required"],
  ["from", count, "required"],
  ["to", count, "required"],
  ["text", text, "required"],
  [
    "providerData",
    exactly([
      ["provider", text, "required"],
      ["model", text],
      ["data", unknown, "required"],
      ["tokens", count],
      ["keepsReasoning", boolean],
    ]),
  ],
])

/** The files that tools read and changed. */
export const isExactFiles: Check = exactly([
  ["read", listOf(text), "required"],
  ["modified", listOf(text), "required"],
])

/** The wording of a summary. */
export const isExactWording: Check = exactly([
  ["role", literal("system", "user"), "required"],
  ["heading", text, "required"],
  ["between", text, "required"],
  ["beforeTurnPrefix", text, "required"],
  ["footer", text],
  ["separate", boolean],
])
