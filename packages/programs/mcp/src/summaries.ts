/** The tools of summaries: listing and explaining them, compacting, going back. */
import { Origin } from "memfold"
import type { CompactionOutcome, RecordedEvent, SummaryRecord } from "memfold"
import * as z from "zod"
import { NoSuchSummary } from "./failure.js"
import { count, existing, origin, session, shownTime } from "./schemas.js"
import { type ToolMemory, tool } from "./tool.js"

const summaryId = z.string().min(1).describe("The id of a summary, as list_summaries returns it")

const status = z
  .enum(["active", "superseded", "invalid"])
  .describe("active: part of contexts; superseded: replaced by a newer one; invalid: damaged or taken back")

const listed = {
  summary: z.string(),
  status,
  superseded_by: z.string().nullable(),
  covered_to: count.describe("It covers the messages [0, covered_to)"),
  messages: count.describe("How many messages the session had when it was written"),
  tokens: count,
  written: z.string(),
  origin,
}

const shown = (one: SummaryRecord) => ({
  summary: one.id,
  status: one.status,
  superseded_by: one.supersededBy,
  covered_to: one.coveredTo,
  messages: one.total,
  tokens: one.tokens,
  written: shownTime(one.time),
  origin: one.origins.length === 0 ? undefined : Origin.lowest(one.origins),
})

export const listSummaries = tool({
  name: "list_summaries",
  title: "List summaries",
  description: "Lists every summary that a session ever had, oldest first, with its status.",
  changes: "nothing",
  input: z.strictObject({ session }),
  output: z.object({ summaries: z.array(z.object(listed)) }),
  run: async (memory, { session: id }) => ({
    summaries: (await memory.summaries(await existing(memory, id))).map(shown),
  }),
})

const eventAt = async (
  memory: ToolMemory,
  id: string,
  version: number,
): Promise<RecordedEvent["event"] | undefined> => {
  for await (const { event } of memory.events(id, { fromVersion: version, toVersion: version })) return event
  return undefined
}

/** The first event, backwards or forwards from a version, that `find` returns something for. */
const search = async <A>(
  events: AsyncIterable<RecordedEvent>,
  find: (event: RecordedEvent["event"]) => A | undefined,
): Promise<A | undefined> => {
  for await (const { event } of events) {
    const found = find(event)
    if (found !== undefined) return found
  }
  return undefined
}

/** Why a summary was written, by whom, and what it saved: what the log says besides its text. */
const originOf = async (memory: ToolMemory, id: string, { version }: SummaryRecord) => {
  const committed = await eventAt(memory, id, version)
  if (committed?._tag !== "SummaryCommitted") return null
  const started = await search(memory.events(id, { toVersion: version, reverse: true }), (event) =>
    event._tag === "CompactionStarted" && event.compaction === committed.compaction ? event : undefined,
  )
  return {
    strategy: started?.strategy ?? null,
    reason: started?.reason ?? null,
    summarizer: committed.summarizer,
    calls: committed.calls,
    tokens_before: committed.tokensBefore,
    tokens_after: committed.tokensAfter,
  }
}

export const explainSummary = tool({
  name: "explain_summary",
  title: "Explain a summary",
  description:
    "Shows a summary with its text, and says where it comes from: which messages each of its segments covers, why and by which strategy it was due, who wrote it, and the size of the context before and after. read_messages shows the messages that it covers.",
  changes: "nothing",
  input: z.strictObject({
    session,
    summary: summaryId.optional().describe("The id of a summary; the active one if it is missing"),
  }),
  output: z.object({
    ...listed,
    text: z.string(),
    segments: z.array(
      z.object({
        kind: z.string().describe("history, block, or turn-prefix (the first part of a split turn)"),
        from: count,
        to: count,
        carried: z.boolean().describe("Kept unchanged from the summary before it"),
      }),
    ),
    files: z.object({ read: z.array(z.string()), modified: z.array(z.string()) }),
    origin: z
      .object({
        strategy: z.string().nullable(),
        reason: z.string().nullable(),
        summarizer: z.string(),
        calls: count.describe("How many times the summarizer was called"),
        tokens_before: count.describe("The size of the context before"),
        tokens_after: count,
      })
      .nullable()
      .describe("null if its event is damaged"),
    taken_back: z.string().nullable().describe("Why it is invalid, if the log says so"),
  }),
  run: async (memory, { session: id, summary }) => {
    const all = await memory.summaries(await existing(memory, id))
    const found = all.findLast((one) =>
      summary === undefined ? one.status === "active" : one.id === summary,
    )
    if (found === undefined) throw new NoSuchSummary(id, summary)
    const takenBack =
      found.status === "invalid"
        ? await search(memory.events(id, { fromVersion: found.version }), (event) =>
            event._tag === "SummaryInvalidated" && event.version === found.version ? event.reason : undefined,
          )
        : undefined
    return {
      ...shown(found),
      text: found.text,
      segments: found.segments.map(({ kind, from, to }, at) => ({
        kind,
        from,
        to,
        carried: at < found.carried,
      })),
      files: { read: [...found.files.read], modified: [...found.files.modified] },
      origin: await originOf(memory, id, found),
      taken_back: takenBack ?? null,
    }
  },
})

const described = (outcome: CompactionOutcome) => {
  switch (outcome._tag) {
    case "Committed": {
      const { summary, coveredTo, tokensBefore, tokensAfter } = outcome.committed
      return { summary, covered_to: coveredTo, tokens_before: tokensBefore, tokens_after: tokensAfter }
    }
    case "Idle":
      return { reason: outcome.reason }
    case "Failed":
      return { reason: outcome.error.reason }
    case "Pruned":
    case "Lost":
      return {}
  }
}

export const compact = tool({
  name: "compact",
  title: "Compact a session",
  description:
    "Replaces the oldest messages in contexts by a summary now, whether it is due or not. The newest messages stay word for word, the log keeps everything, and revert takes it back.",
  changes: "adds",
  input: z.strictObject({
    session,
    instructions: z.string().min(1).optional().describe("Added to the prompt of the summarizer"),
  }),
  output: z.object({
    outcome: z
      .enum(["committed", "pruned", "idle", "failed", "lost"])
      .describe(
        "committed: there is a new summary; pruned: tool outputs were shortened; idle: nothing was done, for a reason; failed: the summarizer failed and the messages stay; lost: another process was at it",
      ),
    summary: z.string().optional(),
    covered_to: count.optional(),
    tokens_before: count.optional(),
    tokens_after: count.optional(),
    reason: z.string().optional(),
  }),
  run: async (memory, { session: id, instructions }) => {
    const outcome = await memory.compact(
      await existing(memory, id),
      instructions === undefined ? {} : { instructions },
    )
    return {
      outcome: outcome._tag.toLowerCase() as Lowercase<CompactionOutcome["_tag"]>,
      ...described(outcome),
    }
  },
})

export const revert = tool({
  name: "revert",
  title: "Take compactions back",
  description:
    "Goes back to an earlier summary, or to the messages themselves: newer summaries leave the context and count as taken back. The log keeps them, and no message is lost. Automatic compaction pauses until more messages have come.",
  changes: "takes-back",
  input: z.strictObject({
    session,
    to_summary: summaryId.nullable().default(null).describe("The id of a summary; null for the messages"),
    pause_for: count
      .optional()
      .describe("How many messages have to come before compaction goes on; 20 by default"),
  }),
  output: z.object({ taken_back: count.describe("How many compactions were taken back") }),
  run: async (memory, { session: id, to_summary: toSummary, pause_for: pauseFor }) => ({
    taken_back: await memory.revert(await existing(memory, id), {
      toSummary,
      ...(pauseFor === undefined ? {} : { pauseFor }),
    }),
  }),
})
