/**
 * What `--json` prints, one object a line. The form is documented in the package's README and kept stable.
 */
import type { EventLog, Outcome, Render } from "@memfold/core"
import * as Anthropic from "@memfold/anthropic"
import * as OpenAI from "@memfold/openai"
import type { Totals } from "../replay/replay.js"

/** The formats a context can be printed in. */
export const contextFormats = ["openai", "anthropic"] as const
export type ContextFormat = (typeof contextFormats)[number]

/** The messages of a context as their provider takes them. */
export const payload = (format: ContextFormat, context: Render.Context) =>
  format === "openai"
    ? { messages: OpenAI.encodeMessages(context.messages) }
    : Anthropic.encodeMessages(context.messages)

export const contextRecord = (format: ContextFormat, context: Render.Context) => ({
  type: "context",
  ...payload(format, context),
  layout: context.layout,
  tokens: context.tokens,
})

/**
 * `after` is the index of the message after which it ran, `pruned` the number of tool outputs shortened
 * with it.
 */
export const compactionRecord = (
  after: number,
  { started, committed, supersedes, pruned }: Extract<Outcome, { _tag: "Committed" }>,
) => ({
  type: "compaction",
  after,
  from: started.from,
  to: started.to,
  reason: started.reason,
  parts: started.parts,
  summaryId: committed.summary,
  supersedes,
  pruned: pruned?.outputs.length ?? 0,
  tokensBefore: committed.tokensBefore,
  tokensAfter: committed.tokensAfter,
})

/** A compaction that only shortened outputs of tools; `pruned` says how many. */
export const prunedRecord = (after: number, { started, pruned }: Extract<Outcome, { _tag: "Pruned" }>) => ({
  type: "pruned",
  after,
  reason: started.reason,
  pruned: pruned.outputs.length,
})

export const totalsRecord = ({
  messages,
  compactions,
  summarizerCalls,
  tokensIfRaw,
  tokensSent,
}: Totals) => ({
  type: "totals",
  messages,
  compactions,
  summarizerCalls,
  tokensIfRaw,
  tokensSent,
})

/** A stored record as it is, its data parsed where it can be. */
export const eventRecord = (record: EventLog.LogRecord) => ({
  session: record.session,
  version: record.version,
  batchId: record.batchId,
  time: new Date(record.time).toISOString(),
  type: record.type,
  schemaVersion: record.schemaVersion,
  data: parsed(record.data),
})

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}
