/** Arbitrary events and logs, both possible and impossible ones. */
import * as fc from "fast-check"
import { type Event, EventCodec, type EventLog, Message, Origin, Wording } from "@memfold/core"
import { oneMessage, startOfTime, text } from "./conversation.js"

/** Small, so that events refer to each other's messages by chance. */
const index = fc.nat({ max: 20 })
const tokens = fc.nat({ max: 500 })
const millis = fc.integer({ min: -100_000, max: 100_000 }).map((offset) => startOfTime + offset)
const day = fc.constantFrom("2026-01-31", "2026-02-01")
const compaction = fc.constantFrom("k1", "k2", "k3")
const summary = fc.constantFrom("s1", "s2", "s3")
const kind = fc.constantFrom("history" as const, "block" as const, "turn-prefix" as const)

const paths = fc.array(fc.constantFrom("a.ts", "b/c.ts", "README.md"), { maxLength: 2 })

const factId = fc.constantFrom("f1", "f2", "f3")
const timeSource = fc.constantFrom("said" as const, "assumed" as const)
const factSource = fc.record({ session: fc.constantFrom("s", "other"), event: index, quote: text })

/** The events of a kind. */
export type Of<Tag extends Event.Event["_tag"]> = Extract<Event.Event, { _tag: Tag }>

/** The compiler checks that every field has an arbitrary, but cannot check the combination. */
const tagged = <Tag extends Event.Event["_tag"]>(
  tag: Tag,
  fields: { readonly [Key in Exclude<keyof Of<Tag>, "_tag">]: fc.Arbitrary<Of<Tag>[Key]> },
): fc.Arbitrary<Of<Tag>> =>
  fc
    .record(fields as unknown as Record<string, fc.Arbitrary<unknown>>)
    .map((rest) => ({ _tag: tag, ...rest }) as unknown as Of<Tag>)

const guarded = fc.option(fc.dictionary(fc.constantFrom("aws", "card"), tokens, { maxKeys: 2 }), {
  nil: undefined,
})

const foundBy = fc.constant({ extractor: "rules", version: "1" })
const refused = fc.dictionary(fc.constantFrom("not-said", "no-quote"), tokens, { maxKeys: 2 })

const facts = fc.array(
  fc.record({
    id: fc.constantFrom("f1", "f2", "f3", "f4"),
    layer: fc.constantFrom("user" as const, "scope" as const),
    kind: fc.constantFrom("profile", "plan"),
    text,
    key: fc.option(fc.constantFrom("name", "place"), { nil: undefined }),
    from: index,
    to: index,
    subject: fc.option(fc.constantFrom("user", "Bob"), { nil: undefined }),
    predicate: fc.option(fc.constantFrom("name", "likes"), { nil: undefined }),
    value: fc.option(fc.constantFrom<unknown>("Ada", 7, { city: "Graz" }), { nil: undefined }),
    validFrom: fc.option(millis, { nil: undefined }),
    validUntil: fc.option(millis, { nil: undefined }),
    timeSource: fc.option(timeSource, { nil: undefined }),
    sources: fc.option(fc.array(factSource, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    by: fc.option(foundBy, { nil: undefined }),
  }),
  { maxLength: 3 },
)

const factEnded = tagged("FactEnded", {
  fact: factId,
  until: millis,
  timeSource,
  source: fc.option(factSource, { nil: undefined }),
  reason: fc.option(text, { nil: undefined }),
})

/** An arbitrary for each event there is; a new event without one does not compile. */
export const byTag: {
  readonly [Tag in Event.Event["_tag"]]: fc.Arbitrary<Of<Tag>>
} = {
  MessageAppended: tagged("MessageAppended", {
    index,
    // One text and nothing else is stored in a form of its own.
    message: fc.oneof(
      oneMessage,
      text.map((said) => Message.user(said)),
      text.map((said) => Message.assistant(said)),
    ),
    tokens,
    bound: fc.option(
      fc.record({ tokens, head: fc.option(fc.constantFrom("", "from 3"), { nil: undefined }) }),
      { nil: undefined },
    ),
    guarded,
  }),
  CompactionStarted: tagged("CompactionStarted", {
    compaction,
    strategy: text,
    reason: text,
    from: index,
    to: index,
    tailFrom: index,
    parts: fc.array(fc.record({ kind, from: index, to: index }), { maxLength: 2 }),
    leaseUntil: millis,
  }),
  SummaryCommitted: tagged("SummaryCommitted", {
    compaction,
    summary,
    coveredTo: index,
    carried: fc.nat({ max: 3 }),
    segments: fc.array(fc.record({ kind, from: index, to: index, text }), { maxLength: 2 }),
    shown: fc.option(fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 3 }), { nil: undefined }),
    files: fc.option(fc.record({ read: paths, modified: paths }), { nil: undefined }),
    wording: fc.constantFrom(Wording.conversationSummary, Wording.sessionMemory),
    origin: fc.option(fc.constantFrom(...Origin.byTrust), { nil: undefined }),
    summarizer: text,
    calls: fc.nat({ max: 3 }),
    tokens,
    tokensBefore: tokens,
    tokensAfter: tokens,
  }),
  SummarySuperseded: tagged("SummarySuperseded", { summary, by: summary }),
  SummaryInvalidated: tagged("SummaryInvalidated", {
    version: index,
    summary: fc.option(summary),
    reason: text,
  }),
  CompactionPaused: tagged("CompactionPaused", { until: index }),
  ToolOutputsPruned: tagged("ToolOutputsPruned", {
    compaction,
    outputs: fc.array(
      fc.record({
        index,
        part: fc.nat({ max: 2 }),
        method: fc.constantFrom("soft-trim" as const, "hard-clear" as const),
        originalLength: tokens,
        head: fc.nat({ max: 20 }),
        tail: fc.nat({ max: 20 }),
        note: text,
        tokens,
      }),
      { maxLength: 3 },
    ),
  }),
  CompactionFailed: tagged("CompactionFailed", {
    compaction,
    reason: text,
    detail: text,
    retryTime: millis,
    retryMessages: index,
  }),
  CompactionRenewed: tagged("CompactionRenewed", { compaction, leaseUntil: millis }),
  CompactionReleased: tagged("CompactionReleased", { compaction }),
  FactsLearned: tagged("FactsLearned", {
    from: index,
    to: index,
    facts,
    session: fc.option(fc.constant("other"), { nil: undefined }),
    refused: fc.option(refused, { nil: undefined }),
    by: fc.option(foundBy, { nil: undefined }),
  }),
  FactRemoved: tagged("FactRemoved", { fact: factId, reason: text }),
  FactEnded: factEnded,
  FactRetracted: tagged("FactRetracted", { fact: factId, reason: text }),
  FactRedacted: tagged("FactRedacted", {
    fact: factId,
    places: fc.option(fc.array(fc.record({ session: text, event: index }), { maxLength: 2 }), {
      nil: undefined,
    }),
  }),
  FactConfirmed: tagged("FactConfirmed", { fact: factId }),
  FactReverted: tagged("FactReverted", { fact: factId }),
  FactsRebuilt: tagged("FactsRebuilt", {
    rebuild: fc.constantFrom("r1", "r2"),
    by: foundBy,
    session: text,
    toVersion: index,
    facts,
    ended: fc.array(factEnded, { maxLength: 2 }),
    refused: fc.option(refused, { nil: undefined }),
  }),
  RebuildEnded: tagged("RebuildEnded", {
    rebuild: fc.constantFrom("r1", "r2"),
    as: fc.constantFrom("taken" as const, "dropped" as const),
  }),
  MessageRedacted: tagged("MessageRedacted", {
    version: index,
    rewritten: fc.array(index, { maxLength: 2 }),
  }),
  BranchSwitched: tagged("BranchSwitched", {
    version: index,
    index,
    branch: fc.option(index, { nil: undefined }),
  }),
  MessageSetAside: tagged("MessageSetAside", { version: index }),
  SessionCleared: tagged("SessionCleared", {}),
  SessionDescribed: tagged("SessionDescribed", {
    owner: fc.option(fc.option(text), { nil: undefined }),
    title: fc.option(fc.option(text), { nil: undefined }),
    guarded,
  }),
  SpendCharged: tagged("SpendCharged", {
    day,
    call: fc.constantFrom("k1", "k2"),
    part: fc.constantFrom("summarizer" as const, "embedder" as const, "extractor" as const),
    tokens,
    dollars: fc.nat({ max: 8 }).map((eighths) => eighths / 8),
    heldTokens: fc.integer({ min: -2_000, max: 2_000 }),
    heldDollars: fc.integer({ min: -8, max: 8 }).map((eighths) => eighths / 8),
  }),
  SpendCapReached: tagged("SpendCapReached", {
    day,
    tokens: fc.option(tokens, { nil: undefined }),
    dollars: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
  }),
  AuditNoted: tagged("AuditNoted", {
    act: fc.constantFrom("read" as const, "erase" as const),
    session: fc.constant(undefined),
    owner: fc.option(text, { nil: undefined }),
    operation: fc.option(text, { nil: undefined }),
    reason: fc.option(text, { nil: undefined }),
    destroyTime: fc.option(fc.nat(), { nil: undefined }),
    sessions: fc.constant(undefined),
    keys: fc.option(fc.array(text, { maxLength: 2 }), { nil: undefined }),
    owners: fc.option(fc.array(text, { maxLength: 2 }), { nil: undefined }),
    previous: text,
  }),
}

/** Any event. */
export const event: fc.Arbitrary<Event.Event> = fc.oneof(
  { weight: 5, arbitrary: byTag.MessageAppended },
  { weight: 2, arbitrary: byTag.CompactionStarted },
  { weight: 3, arbitrary: byTag.SummaryCommitted },
  { weight: 1, arbitrary: byTag.SummarySuperseded },
  { weight: 1, arbitrary: byTag.SummaryInvalidated },
  { weight: 1, arbitrary: byTag.ToolOutputsPruned },
  { weight: 1, arbitrary: byTag.CompactionPaused },
  { weight: 1, arbitrary: byTag.MessageRedacted },
  { weight: 1, arbitrary: byTag.MessageSetAside },
  { weight: 1, arbitrary: byTag.FactsLearned },
  { weight: 1, arbitrary: byTag.FactRemoved },
  { weight: 1, arbitrary: byTag.FactEnded },
  { weight: 1, arbitrary: byTag.FactRetracted },
  { weight: 1, arbitrary: byTag.FactRedacted },
  { weight: 1, arbitrary: byTag.FactConfirmed },
  { weight: 1, arbitrary: byTag.FactReverted },
  { weight: 1, arbitrary: byTag.FactsRebuilt },
  { weight: 1, arbitrary: byTag.RebuildEnded },
  { weight: 1, arbitrary: byTag.CompactionFailed },
  { weight: 1, arbitrary: byTag.CompactionRenewed },
  { weight: 1, arbitrary: byTag.CompactionReleased },
  { weight: 1, arbitrary: byTag.BranchSwitched },
  { weight: 1, arbitrary: byTag.SessionCleared },
  { weight: 1, arbitrary: byTag.SessionDescribed },
  { weight: 1, arbitrary: byTag.SpendCharged },
  { weight: 1, arbitrary: byTag.SpendCapReached },
  { weight: 1, arbitrary: byTag.AuditNoted },
)

const unknown = fc.constant<EventCodec.UnknownEvent>({
  _tag: "UnknownEvent",
  type: "Dreamt",
  schemaVersion: 3,
})

/** A summary that cannot be read. */
export const damaged: EventCodec.DamagedSummary = { _tag: "DamagedSummary", detail: "?" }

/** A message that cannot be read. */
const damagedMessage: EventCodec.DamagedMessage = { _tag: "DamagedMessage", detail: "?" }

/** An event as a log has it, including unknown and unreadable ones. */
export const stored = (
  event: EventCodec.AnyEvent,
): Pick<EventLog.LogRecord, "type" | "schemaVersion" | "data"> => {
  switch (event._tag) {
    case "UnknownEvent":
      return { type: event.type, schemaVersion: event.schemaVersion, data: "?" }
    case "DamagedSummary":
      return { type: "SummaryCommitted", schemaVersion: 1, data: "?" }
    case "DamagedMessage":
      return { type: "MessageAppended", schemaVersion: 2, data: "?" }
    default:
      return EventCodec.encode(event)
  }
}

/** Events with their envelopes, as one session has them. */
export const recorded = <E>(events: ReadonlyArray<E>): ReadonlyArray<EventCodec.RecordedEvent<E>> =>
  events.map((event, position) => ({
    session: "s",
    version: position + 1,
    id: `commit-${position}.${position + 1}`,
    time: startOfTime + position,
    event,
  }))

/** A log of events in random order. */
export const disorder: fc.Arbitrary<ReadonlyArray<EventCodec.RecordedEvent>> = fc
  .array(
    fc.oneof({ weight: 12, arbitrary: event }, unknown, fc.constant(damaged), fc.constant(damagedMessage)),
    {
      maxLength: 40,
      size: "max",
    },
  )
  .map(recorded)
