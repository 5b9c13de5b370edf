/**
 * Ids that are the same each time for the same turns, without randomness or a clock, so learning twice adds nothing.
 */
import { type Event, type MemoryLayers, Session } from "@memfold/core"
import { isHome } from "./homes.js"

type State = Pick<Session.SessionState, "session" | "startTime" | "clears">
type StateWithMessages = State & Pick<Session.SessionState, "uncovered" | "covered">
type Range = Pick<MemoryLayers.CompletedTurns, "from" | "to">

/** The session since its start or last clear. Message indexes start again at 0 after a clear, so the number of clears is part of the id. */
export const origin = ({ session, startTime, clears }: State): string =>
  `${startTime ?? 0}.${clears}.${session}`

/** Turns, by their range and by the version of their last message: on another branch, other turns have the range. */
const turnsOf = ({ from, to }: Range, { uncovered, covered }: StateWithMessages): string =>
  `${from}-${to}v${uncovered.at(to - 1)?.version ?? covered.version}`

/** The id of the fact at a position among the facts learned for a layer. */
export const factId = (
  layer: Event.Fact["layer"],
  position: number | string,
  turns: Range,
  state: StateWithMessages,
): string => `${layer}.${position}@${turnsOf(turns, state)}.${origin(state)}`

const parts = /^[a-z]+\.\d+@\d+-\d+v(\d+)\.(.*)$/su

/** The {@link origin} of the session a fact was learned in; `null` if the id has another form. */
export const originOfFact = ({ id }: Pick<Event.Fact, "id">): string | null => parts.exec(id)?.[2] ?? null

/**
 * Whether a fact was learned in a session since its start or last clear. A session that another one has taken the name of began at
 * another time; one whose first message was edited may have, too.
 */
export const isOfOrigin = (
  fact: Pick<Event.Fact, "id">,
  state: State & Pick<Session.SessionState, "gaps">,
): boolean => {
  const [home, here] = [originOfFact(fact), origin(state)]
  const isEdited = state.gaps[0]?.from === 1
  const sinceClear = (one: string | null) => one?.replace(/^\d+\./u, "")
  return home === here || (isEdited && sinceClear(home) === sinceClear(here))
}

/** The session that a fact was learned in; `null` if the id of the fact has another form. */
export const sessionOfFact = (fact: Pick<Event.Fact, "id">): string | null =>
  /^\d+\.\d+\.(.*)$/su.exec(originOfFact(fact) ?? "")?.[1] ?? null

/** Whether a fact was learned from messages of the session that are not on the branch in force. */
export const isLeft = (
  { id, sources = [], from, to }: Pick<Event.Fact, "id" | "sources" | "from" | "to">,
  state: State & Pick<Session.SessionState, "gaps">,
): boolean => {
  const [, version] = parts.exec(id) ?? []
  if (version === undefined || !isOfOrigin({ id }, state)) return false
  const versions = new Set(sources.map(({ event }) => event))
  // It rests on more than is quoted: on all of the turns, whose last message its id names.
  if (to - from > versions.size) versions.add(Number(version))
  return [...versions].some((one) => !Session.isOnBranch(state.gaps, one))
}

/** Whether a fact was learned from messages of a session up to a version, all of which are on the branch in force. */
export const isWithin = (
  fact: Pick<Event.Fact, "id" | "sources" | "from" | "to">,
  state: State & Pick<Session.SessionState, "gaps">,
  toVersion: number,
): boolean => {
  const { sources = [] } = fact
  const last =
    sources.length === 0 ? Number(parts.exec(fact.id)?.[1]) : Math.max(...sources.map(({ event }) => event))
  return isOfOrigin(fact, state) && last <= toVersion && !isLeft(fact, state)
}

/** Whether what a source says is not on the branch in force of its session. */
export const isLeftSource = (
  { session, event }: Event.FactSource,
  state: Pick<Session.SessionState, "session" | "gaps">,
): boolean => session === state.session && !Session.isOnBranch(state.gaps, event)

/**
 * A fact in the log of a session. One that a fork has copied stands in its copies of the messages, at the versions of the originals: what
 * becomes of the session that they come from changes nothing here. In a shared log, facts stand where they were said.
 */
export const standingIn = <F extends Event.Fact>(log: string, fact: F): F =>
  fact.sources === undefined || isHome(log)
    ? fact
    : { ...fact, sources: fact.sources.map((source) => ({ ...source, session: log })) }

/** The batch id for appending a layer's facts from these turns to a shared log. */
export const batchIdOf = (layer: Event.Fact["layer"], turns: Range, state: StateWithMessages): string =>
  `learned.${layer}@${turnsOf(turns, state)}.${origin(state)}`

/** Whether a message is redacted, or about to be. */
export const isRedacted = (
  redactions: Session.SessionState["redactions"],
  session: string,
  version: number | undefined,
): boolean => redactions.some((one) => one.whole && one.session === session && one.event === version)

/** The facts and ends that may stand: those that rest on nothing that is redacted. `versionAt` names the messages that were read. */
export const standing = (
  {
    facts,
    ended,
  }: { readonly facts: ReadonlyArray<Event.Fact>; readonly ended: ReadonlyArray<Event.FactEnded> },
  redactions: Session.SessionState["redactions"],
  session: string,
  versionAt: (index: number) => number | undefined,
): { readonly facts: ReadonlyArray<Event.Fact>; readonly ended: ReadonlyArray<Event.FactEnded> } => {
  const redacted = new Set(
    redactions.flatMap((one) => (one.whole && one.session === session ? [one.event] : [])),
  )
  if (redacted.size === 0) return { facts, ended }
  const isRead = ({ from, to }: Event.Fact) => {
    for (let index = from; index < to; index++) if (redacted.has(versionAt(index) ?? 0)) return false
    return true
  }
  return {
    facts: facts.filter(
      (fact) => isRead(fact) && !(fact.sources ?? []).some(({ event }) => redacted.has(event)),
    ),
    ended: ended.filter(({ source }) => source === undefined || !redacted.has(source.event)),
  }
}
