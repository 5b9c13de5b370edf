/** The output of `--json`, one object per line. The README of the package documents its fields. */
import type { EventLog, CompactionOutcome, Render } from "@memfold/core"
import { formatContext } from "@memfold/catalog"
import type { Totals } from "../replay/replay.js"
import { valueOr } from "../transcript/source.js"

export const contextFormats = ["openai", "openai-responses", "anthropic"] as const
export type ContextFormat = (typeof contextFormats)[number]

const fields = {
  openai: (messages: unknown) => ({ messages }),
  "openai-responses": (input: unknown) => ({ input }),
  anthropic: (conversation: unknown) => conversation as object,
} satisfies Record<ContextFormat, (messages: unknown) => object>

/** The messages of a context in the format of a provider. */
export const payload = (format: ContextFormat, context: Render.Context) =>
  fields[format](formatContext(format, context).messages)

export const contextRecord = (format: ContextFormat, context: Render.Context) => ({
  type: "context",
  ...payload(format, context),
  layout: formatContext(format, context).layout,
  tokens: context.tokens,
})

/**
 * A compaction. `after` is the index of the message after which it ran, `pruned` the number of tool outputs that it
 * shortened.
 */
export const compactionRecord = (
  after: number,
  { started, committed, supersedes, pruned }: Extract<CompactionOutcome, { _tag: "Committed" }>,
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

/** A compaction that only shortened tool outputs; `pruned` is their number. */
export const prunedRecord = (
  after: number,
  { started, pruned }: Extract<CompactionOutcome, { _tag: "Pruned" }>,
) => ({
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

/** A stored record, with its data parsed if it is JSON. */
export const eventRecord = (record: EventLog.LogRecord) => ({
  session: record.session,
  version: record.version,
  batchId: record.batchId,
  time: new Date(record.time).toISOString(),
  type: record.type,
  schemaVersion: record.schemaVersion,
  data: valueOr(record.data, record.data),
})
