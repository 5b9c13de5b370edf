/**
 * Quick checks of the state in a snapshot against its schema (see `message/exact.ts`). Nearly every state passes. One that
 * does not may still be valid: the schema decides.
 */
import {
  boolean,
  type Check,
  count,
  exactly,
  finite,
  isExactBound,
  isExactMessage,
  listOf,
  literal,
  text,
} from "../message/exact.js"
import { isExactFiles, isExactSegment, isExactWording } from "../summary/exact.js"
import type { Entry } from "../session/SessionState.js"

const nullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

const integer: Check = (value) => Number.isSafeInteger(value)

const sequenceOf = (item: Check): Check =>
  exactly([
    ["from", count, "required"],
    ["items", listOf(item), "required"],
  ])

const entry = exactly([
  ["index", count, "required"],
  ["message", isExactMessage, "required"],
  ["time", finite, "required"],
  ["tokens", count, "required"],
  ["cumulativeTokens", count, "required"],
  ["group", count, "required"],
  ["pinned", boolean, "required"],
  ["bound", isExactBound],
])

const structure = exactly([
  [
    "open",
    nullOr(
      exactly([
        ["from", count, "required"],
        [
          "calls",
          listOf(
            exactly([
              ["id", text, "required"],
              ["name", text, "required"],
            ]),
          ),
          "required",
        ],
      ]),
    ),
    "required",
  ],
  [
    "turn",
    nullOr(
      exactly([
        ["from", count, "required"],
        ["answered", boolean, "required"],
        ["ended", boolean, "required"],
      ]),
    ),
    "required",
  ],
])

const summary = exactly([
  ["id", text, "required"],
  ["version", count, "required"],
  ["coveredTo", count, "required"],
  ["total", count, "required"],
  ["carried", count, "required"],
  ["segments", listOf(isExactSegment), "required"],
  ["shown", listOf(count)],
  ["files", isExactFiles, "required"],
  ["wording", isExactWording, "required"],
  ["tokens", count, "required"],
  ["time", finite, "required"],
])

const fact = exactly([
  ["id", text, "required"],
  ["layer", literal("user", "scope"), "required"],
  ["kind", text, "required"],
  ["text", text, "required"],
  ["key", text],
  ["from", count, "required"],
  ["to", count, "required"],
  ["time", finite, "required"],
])

const state = exactly([
  ["session", text, "required"],
  ["version", count, "required"],
  ["total", count, "required"],
  ["coveredTo", count, "required"],
  ["compressedThroughRound", count, "required"],
  ["startTime", nullOr(finite), "required"],
  ["lastMessageTime", nullOr(finite), "required"],
  ["modelCalls", count, "required"],
  ["lastModelCallTime", nullOr(finite), "required"],
  ["lastCompactionTime", nullOr(finite), "required"],
  ["uncovered", sequenceOf(entry), "required"],
  ["turnStarts", sequenceOf(count), "required"],
  ["structure", structure, "required"],
  ["preamble", boolean, "required"],
  ["pinned", listOf(entry), "required"],
  ["coveredTokens", count, "required"],
  ["appendedTokens", count, "required"],
  ["summary", nullOr(summary), "required"],
  ["supersededCount", count, "required"],
  [
    "damaged",
    listOf(
      exactly([
        ["version", count, "required"],
        ["summary", nullOr(text), "required"],
      ]),
    ),
    "required",
  ],
  [
    "running",
    nullOr(
      exactly([
        ["compaction", text, "required"],
        ["from", count, "required"],
        ["to", count, "required"],
        ["leaseFrom", finite, "required"],
        ["leaseUntil", finite, "required"],
      ]),
    ),
    "required",
  ],
  [
    "failures",
    nullOr(
      exactly([
        ["count", count, "required"],
        ["reason", text, "required"],
        ["retryTime", finite, "required"],
        ["retryMessages", count, "required"],
      ]),
    ),
    "required",
  ],
  ["pausedUntil", count, "required"],
  ["lastPromptIndex", integer, "required"],
  ["totalAtCommit", count, "required"],
  [
    "reported",
    nullOr(
      exactly([
        ["index", count, "required"],
        ["tokens", count, "required"],
      ]),
    ),
    "required",
  ],
  ["learnedTo", count, "required"],
  [
    "description",
    exactly([
      ["owner", nullOr(text), "required"],
      ["title", nullOr(text), "required"],
    ]),
    "required",
  ],
  ["clears", count, "required"],
  ["facts", listOf(fact), "required"],
  [
    "prefix",
    exactly([
      ["changedAt", count, "required"],
      ["validFrom", count, "required"],
      ["swappedAt", count, "required"],
      ["swappedTotal", count, "required"],
      ["boundTo", count, "required"],
      ["batch", text, "required"],
      ["batchFrom", count, "required"],
      ["inputFrom", nullOr(count), "required"],
    ]),
    "required",
  ],
])

/** Whether a value is an entry exactly as the schema would decode it. */
export const isExactEntry = (value: unknown): value is Entry => entry(value)

/** Whether a value is the state in a snapshot exactly as the schema would decode it. */
export const isExactState: Check = (value) => state(value)
