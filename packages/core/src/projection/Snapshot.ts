/**
 * Snapshots: stored states, with which opening a session need not read its whole log. A snapshot never changes the
 * result of a fold (law L6): a snapshot that is damaged or was made by another fold version is ignored.
 */
import { Option, Schema } from "effect"
import { crc32 } from "../event/checksum.js"
import { BoundParts, Fact, FactEnded } from "../event/Event.js"
import { batchIdOf } from "../event/EventCodec.js"
import type { ProjectionRow } from "@memfold/log/EventLog"
import { exactCheck } from "../event/exactCheck.js"
import { Message, Origin } from "@memfold/message/Message"
import { Files, Segment } from "../summary/Summary.js"
import { Wording } from "../summary/Wording.js"
import type { Projection } from "./Projection.js"
import { Sequence } from "../session/Sequence.js"
import type { SessionState } from "../session/SessionState.js"

/** Raise this with every change to the fold or to the fields of the state: older snapshots are then ignored. */
export const foldVersion = 16

const Count = Schema.NonNegativeInt
const Time = Schema.NullOr(Schema.Number)

const Entry = Schema.Struct({
  index: Count,
  version: Count,
  message: Message,
  time: Schema.Number,
  tokens: Count,
  cumulativeTokens: Count,
  group: Count,
  pinned: Schema.Boolean,
  bound: Schema.optional(BoundParts),
  appendedTokens: Schema.optional(Count),
})

const Structure = Schema.Struct({
  open: Schema.NullOr(
    Schema.Struct({
      from: Count,
      calls: Schema.Array(
        Schema.Struct({
          id: Schema.String,
          name: Schema.String,
          otherId: Schema.optional(Schema.String),
          item: Schema.optional(Schema.Literal("client", "provider")),
        }),
      ),
    }),
  ),
  turn: Schema.NullOr(Schema.Struct({ from: Count, answered: Schema.Boolean, ended: Schema.Boolean })),
})

const MessageCounts = Schema.Struct({
  startTime: Time,
  lastMessageTime: Time,
  modelCalls: Count,
  lastModelCallTime: Time,
  structure: Structure,
  preamble: Schema.Boolean,
  appendedTokens: Count,
  lastPromptIndex: Schema.Int,
})

const Branch = Schema.Struct({ id: Count, parent: Schema.NullOr(Count), from: Count })

const End = FactEnded.pipe(Schema.pick("until", "timeSource", "source"))

/** A sequence is stored as its elements and the position of the first one. */
const sequenceOf = <A, I>(item: Schema.Schema<A, I>) =>
  Schema.Struct({ from: Count, items: Schema.Array(item) })

export const Stored = Schema.Struct({
  session: Schema.String,
  version: Count,
  total: Count,
  coveredTo: Count,
  compressedThroughRound: Count,
  ...MessageCounts.fields,
  lastCompactionTime: Time,
  uncovered: sequenceOf(Entry),
  turnStarts: sequenceOf(Count),
  pinned: Schema.Array(Entry),
  coveredTokens: Count,
  summary: Schema.NullOr(
    Schema.Struct({
      id: Schema.String,
      version: Count,
      coveredTo: Count,
      total: Count,
      carried: Count,
      segments: Schema.Array(Segment),
      shown: Schema.optional(Schema.Array(Count)),
      origins: Schema.Array(Origin),
      files: Files,
      wording: Wording,
      tokens: Count,
      time: Schema.Number,
    }),
  ),
  front: Schema.NullOr(
    Schema.Struct({
      time: Schema.Number,
      total: Count,
      coveredTo: Count,
      question: Schema.NullOr(Schema.String),
    }),
  ),
  supersededCount: Count,
  damaged: Schema.Array(Schema.Struct({ version: Count, summary: Schema.NullOr(Schema.String) })),
  invalidatedAt: Count,
  unreadable: Schema.Array(Schema.Struct({ index: Count, version: Count })),
  setAside: Schema.Array(Count),
  running: Schema.NullOr(
    Schema.Struct({
      compaction: Schema.String,
      from: Count,
      to: Count,
      leaseFrom: Schema.Number,
      leaseUntil: Schema.Number,
    }),
  ),
  failures: Schema.NullOr(
    Schema.Struct({ count: Count, reason: Schema.String, retryTime: Schema.Number, retryMessages: Count }),
  ),
  pausedUntil: Count,
  totalAtCommit: Count,
  reported: Schema.NullOr(Schema.Struct({ index: Count, tokens: Count })),
  learnedTo: Count,
  description: Schema.Struct({
    owner: Schema.NullOr(Schema.String),
    title: Schema.NullOr(Schema.String),
  }),
  spent: Schema.NullOr(
    Schema.Struct({
      day: Schema.String,
      tokens: Schema.Number,
      dollars: Schema.Number,
      heldTokens: Schema.Number,
      heldDollars: Schema.Number,
      reached: Schema.NullOr(
        Schema.Struct({
          time: Schema.Number,
          tokens: Schema.optional(Schema.Number),
          dollars: Schema.optional(Schema.Number),
        }),
      ),
    }),
  ),
  clears: Count,
  facts: Schema.Array(
    Schema.Struct({
      ...Fact.fields,
      time: Schema.Number,
      ended: Schema.optional(End),
      notEnded: Schema.optional(Schema.Array(End)),
      retracted: Schema.optional(Schema.Boolean),
      confirmed: Schema.optional(Schema.Boolean),
    }),
  ),
  redactions: Schema.Array(Schema.Struct({ session: Schema.String, event: Count, whole: Schema.Boolean })),
  prefix: Schema.Struct({
    changedAt: Count,
    validFrom: Count,
    swappedAt: Count,
    swappedTotal: Count,
    boundTo: Count,
    batch: Schema.String,
    batchFrom: Count,
    inputFrom: Schema.NullOr(Count),
  }),
  covered: Schema.Struct({ ...MessageCounts.fields, version: Count }),
  branch: Branch,
  branches: Schema.Array(
    Schema.Struct({ ...Branch.fields, version: Count, total: Count, time: Schema.Number }),
  ),
  gaps: Schema.Array(Schema.Struct({ from: Count, to: Count })),
})

type StoredState = typeof Stored.Type

/** In a new process, the schema takes longer than everything else that it takes to open a session. */
const isExact = exactCheck(Stored)

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The state as JSON; `null` if that is longer than a string can be. */
const encodeState = (state: StoredState): string | null => {
  try {
    return JSON.stringify(isExact(state) ? state : Schema.encodeSync(Stored)(state))
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const decodeState = (json: string): Option.Option<StoredState> => {
  const value = parse(json)
  return isExact(value) ? Option.some(value) : Schema.decodeUnknownOption(Stored)(value)
}

/** A checksum in front of what is stored: a damaged snapshot may still be valid JSON that fits the schema. */
const checksumLength = 8

const sealed = (text: string): string => crc32(text).toString(16).padStart(checksumLength, "0") + text

const opened = (data: string): string | null => {
  const text = data.slice(checksumLength)
  return Number.parseInt(data.slice(0, checksumLength), 16) === crc32(text) ? text : null
}

/** A state, and the batch id of its last event: together they identify the log that it was folded from. */
export interface StateInLog {
  readonly state: SessionState
  /** `null` if no event has been folded. */
  readonly batchId: string | null
}

/**
 * The version from which on the log is read behind a snapshot of a state. The snapshot would hide that its summary is damaged, so
 * that begins with the commit of the summary.
 */
export const readFrom = ({ summary, version }: SessionState): number =>
  Math.max(summary?.version ?? version, 1)

/**
 * The row of a snapshot: a checksum, the version of the fold, the batch id of the last event as JSON, and the state as JSON, on
 * two lines. Its mark is {@link readFrom}. `null` if the state is too large for one: such a session is folded from its log.
 */
export const take = ({ state, batchId }: StateInLog): ProjectionRow | null => {
  const json = encodeState({
    ...state,
    uncovered: state.uncovered.toJSON(),
    turnStarts: state.turnStarts.toJSON(),
  })
  if (json === null) return null
  const data = sealed(`${foldVersion} ${JSON.stringify(batchId ?? "")}\n${json}`)
  return { key: "", data, mark: String(readFrom(state)) }
}

/** Whether a row is sound, but was made by another version of the fold: there is nothing that it can be compared with. */
export const isOfOtherFold = ({ data }: ProjectionRow): boolean => {
  const text = opened(data)
  return text !== null && Number.parseInt(text, 10) !== foldVersion
}

/** The state in the row of a snapshot; none if this fold cannot use it. */
export const stateIn = (session: string, { data }: ProjectionRow): Option.Option<StateInLog> => {
  const text = opened(data)
  const [, fold, batchId, json] = /^(\d+) (.*)\n(.*)$/s.exec(text ?? "") ?? []
  if (Number(fold) !== foldVersion || batchId === undefined || json === undefined) return Option.none()
  return decodeState(json).pipe(
    Option.filter((state) => state.session === session),
    Option.map((state) => ({
      batchId: JSON.parse(batchId) as string,
      state: {
        ...state,
        uncovered: Sequence.of(state.uncovered.items, state.uncovered.from),
        turnStarts: Sequence.of(state.turnStarts.items, state.turnStarts.from),
      },
    })),
  )
}

/** The state of a session at the time of its newest snapshot. */
export const snapshot: Projection<StateInLog> = {
  kind: "snapshot",
  start: (state) => ({ state, batchId: null }),
  step: (_before, { recorded, after }) => ({ state: after, batchId: batchIdOf(recorded) }),
  rows: (collected) => [take(collected)].filter((row) => row !== null),
  until: ([row]) => (row === undefined ? undefined : versionOf(row)),
  problems: ([row], collected) =>
    row === undefined || isOfOtherFold(row) || take(collected)?.data === row.data
      ? []
      : [
          {
            version: collected.state.version,
            detail: "the snapshot differs from the folded state of the log",
          },
        ],
}

/** The version of the state in a row, as far as the row says so. */
export const versionOf = ({ data }: ProjectionRow): number | undefined => {
  const version = /"version":(\d+)/.exec(data)?.[1]
  return version === undefined ? undefined : Number(version)
}
