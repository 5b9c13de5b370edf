/** Who did what with a session or an owner: the events of sessions and the trails, without a text of a conversation. */
import { Effect, Either, Match, Option, Record, Stream } from "effect"
import type { LogError, LogRecord, Service as EventLog } from "@memfold/log/EventLog"
import { records } from "@memfold/log/pages"
import type { Actor } from "../event/Actor.js"
import type { AuditNoted } from "../event/Event.js"
import { type AnyEvent, decode } from "../event/EventCodec.js"
import { type CheckedTrail, readTrail, type Subject } from "./Trail.js"

/** What was done. */
export interface AuditEntry {
  /** When, in milliseconds since the epoch. */
  readonly time: number
  /** The session that it was done in or to; `null` for what was done to an owner. */
  readonly session: string | null
  /** The version of the session, of its trail, or of the log with the facts about the owner, that says so. */
  readonly version: number
  /**
   * `append`, `edit`, `checkout`, `summary`, `revert`, `prune`, `redact`, `set-aside`, `clear`, `describe`, `learn`, `forget`,
   * `end-fact`, `retract-fact`, `redact-fact`, `confirm-fact`, `revert-fact`, `rebuild-facts`, `take-facts`, `drop-facts`; and from a
   * trail: `read`, `export`, `delete`, `begin-erase`, `erase`, `restore`, `hold`, `release`, `pass`, `fork`, `archive`, `move`. An owner is restored from an
   * erasure, and a session from an archive.
   */
  readonly act: string
  /** Who did it; `null` if nobody has said so, if it was the memory itself, or if the session is erased. */
  readonly actor: Actor | null
  /** The role of an appended message. */
  readonly kind?: string | undefined
  /** The summarizer that has written a summary, and how many messages it covers. */
  readonly summarizer?: string | undefined
  readonly messages?: number | undefined
  /** The operation that has read or exported. */
  readonly operation?: string | undefined
  /** Why, in the words of whoever did it. */
  readonly reason?: string | undefined
  /** When the keys of an erasure are destroyed, in milliseconds since the epoch; absent if that is to be asked for. */
  readonly destroyTime?: number | undefined
  /** What an erasure reached. */
  readonly sessions?: AuditNoted["sessions"]
  readonly keys?: ReadonlyArray<string> | undefined
}

/** What was done with a session or an owner. */
export interface AuditReport {
  /** In the order of their times. */
  readonly entries: ReadonlyArray<AuditEntry>
  /** How often each was done: `append user`, `redact`, and so on. */
  readonly totals: Readonly<Record<string, number>>
  /** The trails that were read, with the check of their chains. */
  readonly trails: ReadonlyArray<CheckedTrail & { readonly of: "session" | "owner" }>
}

type Told = Omit<AuditEntry, "time" | "session" | "version" | "actor">

const untold = (): null => null

/** What events tell by their type alone. */
const acts = {
  SummaryInvalidated: "revert",
  ToolOutputsPruned: "prune",
  MessageRedacted: "redact",
  MessageSetAside: "set-aside",
  SessionCleared: "clear",
  SessionDescribed: "describe",
  FactRemoved: "forget",
  FactEnded: "end-fact",
  FactRetracted: "retract-fact",
  FactConfirmed: "confirm-fact",
  FactReverted: "revert-fact",
}

/** What an event tells; `null` for what the memory notes for itself. Reasons of the memory are left out: they may quote an error. */
const toldBy: (event: AnyEvent) => Told | null = Match.typeTags<AnyEvent, Told | null>()({
  MessageAppended: ({ message }) => ({ act: "append", kind: message.role }),
  DamagedMessage: () => ({ act: "append", kind: "unreadable" }),
  SummaryCommitted: ({ summarizer, coveredTo }) => ({ act: "summary", summarizer, messages: coveredTo }),
  DamagedSummary: () => ({ act: "summary" }),
  BranchSwitched: ({ branch }) => ({ act: branch === undefined ? "edit" : "checkout" }),
  FactsLearned: ({ facts }) => (facts.length === 0 ? null : { act: "learn", messages: facts.length }),
  // Without a fact, it goes before the redaction of a message.
  FactRedacted: ({ fact }) => (fact === "" ? null : { act: "redact-fact" }),
  FactsRebuilt: ({ facts }) => ({ act: "rebuild-facts", messages: facts.length }),
  RebuildEnded: ({ as }) => ({ act: as === "taken" ? "take-facts" : "drop-facts" }),
  AuditNoted: ({ _tag, previous: _previous, session: _session, owner: _owner, owners: _owners, ...told }) =>
    told,
  CompactionStarted: untold,
  CompactionRenewed: untold,
  CompactionPaused: untold,
  CompactionFailed: untold,
  CompactionReleased: untold,
  SummarySuperseded: untold,
  SpendCharged: untold,
  SpendCapReached: untold,
  UnknownEvent: untold,
  ...Record.map(acts, (act) => () => ({ act })),
})

/** What the type of a record tells, whose data was erased. */
const toldByType: Readonly<Record<string, string>> = {
  ...acts,
  MessageAppended: "append",
  SummaryCommitted: "summary",
  BranchSwitched: "edit",
  FactRedacted: "redact-fact",
}

const entryOf = (session: string, record: LogRecord, isOpen: boolean): AuditEntry | null => {
  const { time, version, type } = record
  const read = isOpen ? Either.getOrNull(decode(record)) : null
  const ofType = toldByType[type]
  const told = read === null ? (ofType === undefined ? null : { act: ofType }) : toldBy(read.event)
  return told === null ? null : { time, session, version, actor: read?.actor ?? null, ...told }
}

const entriesOf = (log: EventLog, session: string, isOpen: boolean) =>
  records(log, session).pipe(
    Stream.filterMap((record) => Option.fromNullable(entryOf(session, record, isOpen))),
    Stream.runCollect,
  )

/** What the events of a session tell. Where it is erased, the types of its records do. */
const entriesIn = (log: EventLog, session: string): Effect.Effect<Iterable<AuditEntry>, LogError> => {
  const { stored } = log
  const opened = entriesOf(log, session, true)
  return stored === undefined ? opened : Effect.orElse(opened, () => entriesOf(stored, session, false))
}

/**
 * What was done with sessions, and what their trails and that of their owner tell.
 *
 * @param sessions - the logs of the sessions
 * @param subjects - whose trails are read
 * @param facts - the log with the facts about the owner
 */
export const auditOf = (
  log: EventLog,
  sessions: ReadonlyArray<string>,
  subjects: ReadonlyArray<Subject>,
  facts: string | null,
): Effect.Effect<AuditReport, LogError> =>
  Effect.gen(function* () {
    const entries: Array<AuditEntry> = []
    for (const session of sessions) entries.push(...(yield* entriesIn(log, session)))
    // It has no messages: what is erased there follows from what was done in sessions.
    for (const entry of facts === null ? [] : yield* entriesIn(log, facts))
      if (entry.act !== "redact") entries.push({ ...entry, session: null })
    const trails: Array<AuditReport["trails"][number]> = []
    for (const subject of subjects) {
      const { trail, noted } = yield* readTrail(log, subject)
      trails.push({ of: "owner" in subject ? "owner" : "session", ...trail })
      for (const { time, version, event, actor = null } of noted) {
        const told = toldBy(event)
        const session = event.session ?? null
        if (told !== null) entries.push({ time, session, version, actor, ...told })
      }
    }
    const totals: Record<string, number> = {}
    for (const { act, kind } of entries) {
      const name = kind === undefined ? act : `${act} ${kind}`
      totals[name] = (totals[name] ?? 0) + 1
    }
    return { entries: entries.toSorted((one, other) => one.time - other.time), totals, trails }
  })
