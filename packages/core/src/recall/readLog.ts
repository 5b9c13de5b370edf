/** Reads messages of a session from its log by their versions, and the groups of tool calls that they belong to. */
import { Effect, Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { Message } from "@memfold/message/Message"
import type { Source } from "./FullTextIndex.js"
import * as Structure from "@memfold/message/Structure"
import { breathe } from "@memfold/log/breathe"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { isOnBranch } from "../session/branches.js"
import type { SessionState } from "../session/SessionState.js"

/** How far around a message its group of tool calls is looked for, in events: mostly it is near. */
const around = [6, 40]

export interface LoggedMessage {
  readonly index: number
  readonly version: number
  readonly time: number
  readonly message: Message
}

/** Reads events of a session, each once. */
export type Reader<E = SessionError> = (
  from: number,
  to: number,
) => Effect.Effect<ReadonlyArray<RecordedEvent>, E>

/** The session for its index. */
export const sourceOf = (
  sessions: Sessions,
  { session, version, gaps }: Pick<SessionState, "session" | "version" | "gaps">,
): Source => ({
  session,
  version,
  gaps,
  head: Effect.suspend(() => sessions.head(session)),
  events: (range) => sessions.events(session, range),
})

/** A reader of the branch in force for one search: the groups around what was found overlap. */
export const readerOf = (
  sessions: Sessions,
  { session, version, gaps }: Pick<SessionState, "session" | "version" | "gaps">,
): Reader => {
  const seen = new Map<number, RecordedEvent>()
  const between = (from: number, to: number) => {
    const last = Math.min(to, version)
    return Array.from({ length: Math.max(last - from + 1, 0) }, (_, at) => from + at)
  }
  return (from, to) =>
    Effect.gen(function* () {
      const missing = rangesOf(
        between(from, to).filter((at) => !seen.has(at)),
        1,
      )
      for (const range of missing) {
        yield* Stream.runForEach(sessions.events(session, range), (recorded) =>
          Effect.sync(() => seen.set(recorded.version, recorded)),
        )
      }
      return between(from, to).flatMap((at) => {
        const recorded = seen.get(at)
        if (recorded === undefined) return []
        return recorded.event._tag === "MessageAppended" && !isOnBranch(gaps, at) ? [] : recorded
      })
    })
}

/** The ranges of ascending versions; versions at most `apart` from each other are one range. */
const rangesOf = (versions: ReadonlyArray<number>, apart: number) => {
  const ranges: Array<{ fromVersion: number; toVersion: number }> = []
  for (const version of versions) {
    const last = ranges.at(-1)
    if (last !== undefined && version - last.toVersion <= apart) last.toVersion = version
    else ranges.push({ fromVersion: version, toVersion: version })
  }
  return ranges
}

/** Reads the messages at some versions. Versions close together are read at once. */
export const readAt = <E>(
  read: Reader<E>,
  versions: ReadonlyArray<number>,
): Effect.Effect<ReadonlyMap<number, LoggedMessage>, E> =>
  Effect.gen(function* () {
    const found = new Map<number, LoggedMessage>()
    const ranges = rangesOf(
      versions.toSorted((one, other) => one - other),
      2,
    )
    for (const { fromVersion, toVersion } of ranges) {
      yield* breathe
      for (const recorded of yield* read(fromVersion, toVersion)) {
        const one = messageOf(recorded)
        if (one !== null) found.set(one.version, one)
      }
    }
    return found
  })

const messageOf = ({ event, version, time }: RecordedEvent): LoggedMessage | null =>
  event._tag === "MessageAppended"
    ? { index: event.index, version, time: event.message.time ?? time, message: event.message }
    : null

/** Whether a message belongs to a group of calls. */
export const inGroup = (message: Message): boolean => message.role === "tool" || Structure.hasPairing(message)

/** Whether each call has its answer and each answer its call. */
const isPaired = (messages: ReadonlyArray<Message>): boolean => {
  let open: ReadonlyArray<Structure.OpenCall> = []
  for (const message of messages) {
    const paired = Structure.pairMessage(open, message)
    if (paired.alone.length + paired.closed.length > 0) return false
    open = paired.open
  }
  return open.length === 0
}

/** The group of a message with tool calls or results; `null` if it is not paired, or too long to be shown. */
export const groupOf = <E>(
  reader: Reader<E>,
  one: LoggedMessage,
): Effect.Effect<ReadonlyArray<LoggedMessage> | null, E> =>
  Effect.gen(function* () {
    for (const reach of around) {
      const recorded = yield* reader(Math.max(one.version - reach, 1), one.version + reach)
      const group = groupAmong(recorded, one)
      if (group !== null) return isPaired(group.map(({ message }) => message)) ? group : null
    }
    return null
  })

/** The group of a message among events around it; `null` if it may begin before them or end behind them. */
const groupAmong = (
  recorded: ReadonlyArray<RecordedEvent>,
  { index }: LoggedMessage,
): ReadonlyArray<LoggedMessage> | null => {
  const near = recorded.flatMap((one) => messageOf(one) ?? [])
  // A user message closes every call, so what came before it does not matter.
  const start = near.findLastIndex((one) => one.index <= index && one.message.role === "user")
  const from = start === -1 && near[0]?.index === 0 ? 0 : start
  if (from === -1) return null
  let structure = Structure.empty
  const groups = new Map<number, Array<LoggedMessage>>()
  let own = -1
  for (const one of near.slice(from)) {
    const placed = Structure.addMessage(structure, one.index, one.message)
    structure = placed.structure
    const list = groups.get(placed.group)
    if (list === undefined) groups.set(placed.group, [one])
    else list.push(one)
    if (one.index === index) own = placed.group
    if (own !== -1 && structure.open === null) return groups.get(own) ?? null
  }
  return null
}
