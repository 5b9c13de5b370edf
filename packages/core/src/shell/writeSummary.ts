/** Writes the summary of a plan: the text of each of its segments, and the material of a segment apart from what was said. */
import { Effect } from "effect"
import { oneLine } from "../summary/marks.js"
import { type Segment } from "../summary/Summary.js"
import { ofMessage } from "@memfold/message/TokenCounter"
import { span } from "../observe/spans.js"
import type { Lock, WrittenSummary } from "../engine/compaction.js"
import type { Strategy } from "../policy/Strategy.js"
import { type Entry, type SessionState, withoutPinned } from "../session/SessionState.js"
import { withoutPromptForms } from "../session/systemPrompt.js"
import { SummarizerError } from "../summarize/Summarizer.js"
import { type Assignment, compose, joined } from "../engine/Composition.js"
import { divide, resultApart } from "../engine/divide.js"
import type { PlannedPart } from "../event/Event.js"
import { isMaterial } from "@memfold/message/Origin"
import { headAndBody } from "../summarize/promptParts.js"
import {
  isSeparate,
  type Progress,
  type Source,
  type SummaryWriters,
  type Writers,
  writeText,
} from "./writeText.js"

/**
 * Writes the summary of a plan. It fails if nothing could be finished. A plan in blocks is written as a whole or not at
 * all, since a block covers a fixed number of turns.
 */
export const writeSummary = (
  parts: SummaryWriters,
  { before, plan }: Pick<Lock, "before" | "plan">,
  { strategy, instructions }: { readonly strategy: Strategy; readonly instructions?: string | undefined },
): Effect.Effect<WrittenSummary, SummarizerError> =>
  Effect.gen(function* () {
    const writers = { ...parts, strategy }
    const { carried, assignments } = compose(writers.strategy.summaryMode, before.summary, plan)
    const segments: Array<Segment> = []
    const by = new Set<string>()
    let calls = 0
    let failure = null as SummarizerError | null
    for (const assignment of assignments) {
      const written: Progress = yield* writeSegment(writers, before, assignment, instructions)
      calls += written.calls
      for (const name of written.by) by.add(name)
      failure = written.failure
      segments.push(...written.segments)
      if (failure !== null) break
    }
    const reached = segments.at(-1)?.to
    if (failure !== null && (reached === undefined || writers.strategy.summaryMode === "blocks")) {
      return yield* failure
    }
    const coveredTo = failure === null ? plan.to : (reached ?? plan.from)
    const names = by.size === 0 ? [writers.summarizer.name] : [...by]
    return { carried, segments, coveredTo, calls, by: names.join(", ") }
  }).pipe(span("memfold.summarize", { summarizer: parts.summarizer.name }))

/** Writes the segment of an assignment; with its material behind it, if that is to stand apart. */
const writeSegment = (
  writers: Writers,
  before: SessionState,
  assignment: Assignment,
  instructions: string | undefined,
): Effect.Effect<Progress> => {
  const { part } = assignment
  const range = before.uncovered.slice(part.from, part.to)
  const pinned = [...before.pinned, ...before.uncovered.slice(before.coveredTo, part.to)].filter(
    (entry) => entry.pinned,
  )
  const entries = withoutPromptForms(withoutPinned(range), pinned)
  const notes = part.kind === "turn-prefix" ? writers.strategy.toolNotes?.failures : undefined
  const source = { entries, notes, instructions }
  return isSeparate(writers)
    ? writeApart(writers, before, assignment, source)
    : writeText(writers, before, assignment, source)
}

/** Input this small may have no shorter form, in tokens: it stays word for word where the summary as a whole is smaller. */
const mostVerbatim = 256

/** What messages say, on a line each, for a summary that cannot be shorter. */
const verbatim = (previous: string | undefined, entries: ReadonlyArray<Entry>): string =>
  [
    ...(previous === undefined ? [] : [previous]),
    ...entries.flatMap(({ message: { role, parts } }) =>
      parts.flatMap((part) => {
        const line = oneLine(headAndBody(role, part)[1])
        const isLeftOut = line === "" || line === resultApart || part.type === "reasoning"
        return isLeftOut ? [] : [role === "tool" ? `- ${line}` : `- ${role}: ${line}`]
      }),
    ),
  ].join("\n")

/** What a segment says where everything that it covers is material. */
const nothingSaid = "(Nothing but material.)"

/**
 * Writes what was said and what is material one after the other, each from its own messages and its own earlier text. Both cover the
 * same messages, or nothing was written.
 */
const writeApart = (
  writers: Writers,
  before: SessionState,
  assignment: Assignment,
  { entries, notes, instructions }: Source,
): Effect.Effect<Progress> =>
  Effect.gen(function* () {
    const { part, from, merged } = assignment
    const { counter } = writers
    const sizeOf = (texts: ReadonlyArray<string>) => texts.reduce((sum, text) => sum + counter.count(text), 0)
    const tokensOf = (some: ReadonlyArray<Entry>) =>
      some.reduce((sum, { message: { usage: _usage, ...bare } }) => sum + ofMessage(counter, bare), 0)
    const earlier = (before.summary?.segments.length ?? 0) - merged.length
    const previousOf = (low: boolean) =>
      joined(
        merged.filter(
          (_, position) => isMaterial(before.summary?.origins[earlier + position] ?? "external") === low,
        ),
      )
    const side = (part: PlannedPart, some: ReadonlyArray<Entry>, low: boolean): Effect.Effect<Progress> => {
      const previous = previousOf(low)
      const kept = (text: string | undefined, calls: number): Progress => ({
        segments: text === undefined ? [] : [{ kind: part.kind, from, to: part.to, text }],
        calls,
        by: [],
        failure: null,
      })
      if (some.length === 0) return Effect.succeed(kept(previous ?? (low ? undefined : nothingSaid), 0))
      const own = { entries: some, notes: low ? notes : undefined, instructions }
      return Effect.map(writeText(writers, before, { ...assignment, part, previous }, own), (written) => {
        const isSmall = tokensOf(some) + sizeOf(previous === undefined ? [] : [previous]) <= mostVerbatim
        return written.segments.length === 0 && written.failure?.reason === "not-smaller" && isSmall
          ? kept(verbatim(previous, some) || nothingSaid, written.calls)
          : written
      })
    }
    const { said, material } = divide(entries)
    const text = yield* side(part, said, false)
    const [segment] = text.segments
    if (segment === undefined) return text
    const { to } = segment
    const apart = yield* side(
      { kind: "material", from: part.from, to },
      material.filter(({ index }) => index < to),
      true,
    )
    const [calls, by] = [text.calls + apart.calls, [...text.by, ...apart.by]]
    const nothing = (failure: SummarizerError) => ({ segments: [], calls, by: [], failure })
    if (apart.failure !== null) return nothing(apart.failure)
    const { providerData: _providerData, ...plain } = segment
    const segments = [plain, ...apart.segments]
    const [written, replaced] = [
      sizeOf(segments.map((one) => one.text)),
      tokensOf(entries.filter(({ index }) => index < to)) + sizeOf(merged.map((one) => one.text)),
    ]
    if (written < replaced) return { segments, calls, by, failure: text.failure }
    const detail = `${written} tokens in place of ${replaced}`
    return nothing(new SummarizerError({ session: before.session, reason: "not-smaller", detail }))
  })
