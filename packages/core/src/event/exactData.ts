/**
 * Quick checks of the data of events against their schemas, see `message/exact.ts`: of those that every compaction writes, and
 * that every process reads which opens a session with a summary. The schema of all events takes a millisecond to compile.
 */
import { type Check, count, exactly, finite, listOf, text } from "../message/exact.js"
import { isExactFiles, isExactSegment, isExactWording, isSegmentKind } from "../summary/exact.js"

const checks: ReadonlyMap<string, Check> = new Map([
  [
    "CompactionStarted",
    exactly([
      ["compaction", text, "required"],
      ["strategy", text, "required"],
      ["reason", text, "required"],
      ["from", count, "required"],
      ["to", count, "required"],
      ["tailFrom", count, "required"],
      [
        "parts",
        listOf(
          exactly([
            ["kind", isSegmentKind, "required"],
            ["from", count, "required"],
            ["to", count, "required"],
          ]),
        ),
        "required",
      ],
      ["leaseUntil", finite, "required"],
    ]),
  ],
  [
    "SummaryCommitted",
    exactly([
      ["compaction", text, "required"],
      ["summary", text, "required"],
      ["coveredTo", count, "required"],
      ["carried", count, "required"],
      ["segments", listOf(isExactSegment), "required"],
      ["shown", listOf(count)],
      ["files", isExactFiles],
      ["wording", isExactWording, "required"],
      ["summarizer", text, "required"],
      ["calls", count, "required"],
      ["tokens", count, "required"],
      ["tokensBefore", count, "required"],
      ["tokensAfter", count, "required"],
    ]),
  ],
  [
    "SummarySuperseded",
    exactly([
      ["summary", text, "required"],
      ["by", text, "required"],
    ]),
  ],
])

/** Whether data is that of an event of this type exactly as the schema would decode it. If not, ask the schema. */
export const isExactData = (type: string, data: unknown): boolean => checks.get(type)?.(data) === true
