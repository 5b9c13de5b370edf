/** Edit, regenerate, branches, undo: the conversation goes on from an earlier place, and the log keeps what was said. */
import { Effect, Option, Stream } from "effect"
import type { Guarded, GuardRefused } from "../guard/Guard.js"
import { edited, type Switch, switchBack, switchTo } from "../engine/goBack.js"
import { shows } from "../session/switchBranch.js"
import { type MessageName, UnknownMessage } from "../history/redact.js"
import { undoSummary } from "../history/restore.js"
import type { Strategy } from "../policy/Strategy.js"
import { headOf } from "../render/Render.js"
import { isOnBranch } from "../session/branches.js"
import type { Prefix } from "../session/prefix.js"
import { questionIndex } from "../session/question.js"
import type { SessionState } from "../session/SessionState.js"
import type { Answered, Committed, SessionError, Sessions } from "../shell/Sessions.js"
import {
  type AppendArguments,
  appendedBy,
  batchOf,
  checkAppend,
  IdempotencyKeyReused,
  isStored,
  mismatchOf,
  type VersionMismatch,
} from "./appendMessages.js"
import { counted, type Entrance, guarded } from "./entrance.js"
import { checkCount, checkMessageName, type InvalidInput } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import { branchState, type MessagePage, pageOf, type UnknownBranch } from "./readMessages.js"

/** A branch of a conversation. */
export interface BranchInfo {
  /** Its id, for `checkout`; 0 for the branch that a conversation begins with. */
  readonly id: number
  /** The id of the branch that it left; `null` for the first one. */
  readonly parent: number | null
  /** The message index at which it left its parent. */
  readonly from: number
  /** How many messages it has, from the first message of the conversation on. */
  readonly total: number
  /** When the conversation left it, in milliseconds since the epoch; `null` for the branch in force. */
  readonly leftAt: number | null
}

/** What became of an edit. */
export interface Edited {
  /** The new messages have the indexes `[from, to)`. */
  readonly from: number
  readonly to: number
  readonly version: number
  readonly branch: number
  /** The id of the branch that was left, to which `checkout` returns; `null` if nothing was left. */
  readonly left: number | null
  /** Whether the idempotency key had been used before for the same edit; nothing was written then. */
  readonly duplicate: boolean
}

/** What `undo` has taken back. */
export interface Undone {
  /**
   * - `compaction`: the newest compaction is taken back
   * - `revert`: what a revert or a recompaction has taken back is in force again; or, if that was undone just before, it is not
   * - `branch`: the conversation is on the branch again that an edit, a regeneration, a checkout or an undo has left
   * - `clear`: the messages before a clear are back
   * - `null`: there was nothing to take back
   */
  readonly undone: "compaction" | "revert" | "branch" | "clear" | null
  readonly version: number
}

interface EditRequest extends Pick<AppendArguments, "idempotencyKey" | "ifVersion" | "prefix"> {
  readonly strategy: Strategy
}

type EditError = SessionError | InvalidInput | UnknownMessage | IdempotencyKeyReused | VersionMismatch
type Parts = Entrance & Pick<MemoryParts, "layers" | "styleOf">

/** All branches of a session: the branch in force, and then the branches that were left, newest first. */
export const branchesOf = ({ branch, total, branches }: SessionState): ReadonlyArray<BranchInfo> => [
  { ...branch, total, leftAt: null },
  ...branches.toReversed().map(({ version: _version, time, ...left }) => ({ ...left, leftAt: time })),
]

/** The index of a message of the branch in force. */
export const indexOf = (
  sessions: Pick<Sessions, "events">,
  { session, total, uncovered, unreadable, gaps, version: newest }: SessionState,
  name: MessageName,
): Effect.Effect<number, SessionError | UnknownMessage> =>
  Effect.gen(function* () {
    if (typeof name === "number") {
      if (Number.isInteger(name) && name >= 0 && name < total) return name
      return yield* new UnknownMessage({ session, index: name, total })
    }
    const { version } = name
    const named = (one: { readonly version: number }) => one.version === version
    const entry = uncovered.slice().findLast(named) ?? unreadable.find(named)
    if (entry !== undefined) return entry.index
    const unknown = new UnknownMessage({ session, version, total })
    if (version < 1 || version > newest || !isOnBranch(gaps, version)) return yield* unknown
    const recorded = yield* Stream.runHead(
      sessions.events(session, { fromVersion: version, toVersion: version }),
    )
    const event = Option.getOrUndefined(recorded)?.event
    return event?._tag === "MessageAppended" ? event.index : yield* unknown
  })

/** The index of the first message behind the newest user message before an index. */
const answerBefore = (
  { sessions }: Parts,
  state: SessionState,
  index: number,
): Effect.Effect<number, SessionError | InvalidInput> =>
  Effect.gen(function* () {
    const question = questionIndex(state, Math.min(index, state.uncovered.to))
    if (question !== null && index >= state.coveredTo) return question + 1
    for (let before: string | null = null; ;) {
      const page: MessagePage = yield* pageOf(sessions, state, before === null ? {} : { before })
      const at = page.messages.findLastIndex(
        ({ role }, position) => role === "user" && page.from + position < index,
      )
      if (at !== -1) return page.from + at + 1
      if (page.before === null) return 0
      before = page.before
    }
  })

/** Where an edit goes on, in a state. */
type Place = (state: SessionState) => Effect.Effect<number, EditError>

/**
 * The switch to the first `index` messages; `null` if the session has no others. If nothing comes behind them, to a state whose summary
 * does not cover all of them, if there is one: a request has to have the question that it is about.
 */
export const findSwitch = (
  sessions: Sessions,
  state: SessionState,
  index: number,
  isEnd: boolean,
): Effect.Effect<Switch | null, SessionError | UnknownMessage> =>
  Effect.gen(function* () {
    if (index === state.total) return null
    const near = switchTo(state, index)
    const wanted = isEnd ? shows : () => true
    if (near !== null && wanted(state, index)) return near
    const { session, total } = state
    const before = yield* sessions.stateReaching(state, index, wanted)
    const far = before === null ? near : switchTo(before, index)
    return far ?? (yield* new UnknownMessage({ session, index, total }))
  })

/** The result of an edit that was written before; `null` if the key is new. */
const writtenBefore = (
  { sessions }: Parts,
  session: string,
  messages: ReadonlyArray<Guarded>,
  { idempotencyKey, ifVersion }: Pick<EditRequest, "idempotencyKey" | "ifVersion">,
): Effect.Effect<Edited | null, SessionError | IdempotencyKeyReused> =>
  Effect.gen(function* () {
    if (idempotencyKey === undefined) return null
    const batch = yield* batchOf(sessions, session, idempotencyKey, ifVersion)
    if (batch === null) return null
    const appended = yield* appendedBy(sessions, session, idempotencyKey, batch)
    if (appended === null) return null
    if (!isStored(messages, appended)) return yield* new IdempotencyKeyReused({ session })
    const before = yield* sessions.stateAt(session, batch.fromVersion - 1)
    const after = yield* sessions.stateAt(session, batch.version)
    return describe(before, after, messages.length, true)
  })

const describe = (
  before: SessionState,
  { total, branch, version }: SessionState,
  count: number,
  duplicate: boolean,
): Edited => ({
  from: total - count,
  to: total,
  version,
  branch: branch.id,
  left: branch.id === before.branch.id ? null : before.branch.id,
  duplicate,
})

/** The prefix of a context with the draft of an edit: the switch of the edit changes what was there before, and the draft knew of it. */
const behindSwitch = (
  prefix: Prefix | undefined,
  { version }: SessionState,
  from: SessionState,
): Prefix | undefined =>
  prefix !== undefined && prefix.total > from.total && prefix.version === version
    ? { ...prefix, version: from.version }
    : prefix

/**
 * Goes on from an earlier place with checked messages, in one batch at the version of the state that the place was found in: if
 * another writer was first, the place is looked for again. What was said behind the place stays in the log, as a branch.
 */
const goOnFrom = (
  parts: Parts,
  session: string,
  place: Place,
  messages: ReadonlyArray<Guarded>,
  { strategy, idempotencyKey, prefix, ifVersion }: EditRequest,
): Effect.Effect<Answered<Edited>, EditError> =>
  Effect.gen(function* () {
    const { sessions, counter, layers, styleOf } = parts
    const added = yield* counted(counter, messages)
    // The log is searched for an earlier write only where the store cannot tell.
    const first = writtenBefore(parts, session, messages, { idempotencyKey, ifVersion })
    for (;;) {
      const state = yield* sessions.load(session)
      const mismatch = mismatchOf(state, ifVersion)
      if (mismatch !== null) {
        const before = yield* first
        return before === null ? yield* mismatch : { answer: before, state }
      }
      const goBack = yield* place(state).pipe(
        Effect.flatMap((index) => findSwitch(sessions, state, index, added.length === 0)),
        Effect.catchTag("UnknownMessage", (unknown) => Effect.succeed(unknown)),
      )
      if (goBack instanceof UnknownMessage || (goBack === null && added.length === 0)) {
        const before = yield* first
        if (before !== null) return { answer: before, state }
        if (goBack !== null) return yield* goBack
        return { answer: describe(state, state, 0, false), state }
      }
      const done: Committed<boolean> = yield* sessions.transact(
        session,
        (now, time) => {
          if (now.version !== state.version) return { events: [], answer: false }
          const origin = (from: SessionState) => ({
            prefix: behindSwitch(prefix, state, from),
            head: layers === null ? headOf(from, styleOf(strategy, from, time)) : undefined,
          })
          return {
            events: edited(now, goBack, { messages: added, strategy, origin, time }),
            answer: true,
            ...(goBack === null ? {} : { states: goBack.states }),
          }
        },
        idempotencyKey,
      )
      if (!done.answer) continue
      if (done.appended?.duplicate === true) {
        const before = yield* first
        if (before !== null) return { answer: before, state: done.state }
      }
      return { answer: describe(state, done.state, added.length, false), state: done.state }
    }
  })

/** Goes on with other messages from where a message stands. */
export const edit = (
  parts: Parts,
  session: string,
  from: MessageName,
  given: unknown,
  request: EditRequest,
): Effect.Effect<Answered<Edited>, EditError | GuardRefused> =>
  Effect.gen(function* () {
    const checked = yield* yield* checkAppend(session, given, request)
    yield* checkMessageName(session, from)
    const messages = yield* guarded(parts, session, checked)
    return yield* goOnFrom(parts, session, (state) => indexOf(parts.sessions, state, from), messages, request)
  })

/** Goes on from where the answer begins that a message is part of; without a name, from where the newest answer begins. */
export const regenerate = (
  parts: Parts,
  session: string,
  { from, ...request }: EditRequest & { readonly from?: MessageName | undefined },
): Effect.Effect<Answered<Edited>, EditError> =>
  Effect.gen(function* () {
    yield* checkAppend(session, [], request)
    if (from === undefined)
      return yield* goOnFrom(parts, session, (state) => answerBefore(parts, state, state.total), [], request)
    yield* checkMessageName(session, from)
    const place: Place = (state) =>
      Effect.flatMap(indexOf(parts.sessions, state, from), (index) => answerBefore(parts, state, index + 1))
    return yield* goOnFrom(parts, session, place, [], request)
  })

/** Switches to what is found in a state, at the version of that state. */
const returnTo = <E>(
  { sessions }: Pick<MemoryParts, "sessions">,
  session: string,
  find: (state: SessionState) => Effect.Effect<SessionState, E | SessionError>,
): Effect.Effect<{ readonly before: SessionState; readonly after: SessionState }, SessionError | E> =>
  Effect.gen(function* () {
    for (;;) {
      const before = yield* sessions.load(session)
      const { event, states } = switchBack(yield* find(before))
      const done = yield* sessions.transact(session, (now) =>
        now.version === before.version
          ? { events: [event], answer: true, states }
          : { events: [], answer: false },
      )
      if (done.answer) return { before, after: done.state }
    }
  })

/** Returns to a branch that was left. */
export const checkout = (
  parts: Pick<MemoryParts, "sessions">,
  session: string,
  branch: number,
): Effect.Effect<Answered<Edited>, SessionError | InvalidInput | UnknownBranch> =>
  Effect.gen(function* () {
    yield* checkCount(session, "branch", branch)
    const { sessions } = parts
    const state = yield* sessions.load(session)
    if (state.branch.id === branch) return { answer: describe(state, state, 0, false), state }
    const { before, after } = yield* returnTo<UnknownBranch>(parts, session, (now) =>
      branchState(sessions, now, branch),
    )
    return { answer: describe(before, after, 0, false), state: after }
  })

/** Whether something may have changed the summary since a version, or shortened tool outputs. */
const mayHaveChanged = ({ summary, invalidatedAt, uncovered }: SessionState, since: number): boolean =>
  invalidatedAt > since ||
  (summary !== null && summary.version > since) ||
  uncovered.slice().some(({ appendedTokens }) => appendedTokens !== undefined)

/** Takes back the newest compaction, revert, switch or clear that is in force. */
export const undo = (
  parts: Pick<MemoryParts, "sessions">,
  session: string,
  { pauseFor = 20 }: { readonly pauseFor?: number | undefined },
): Effect.Effect<Answered<Undone>, SessionError | InvalidInput> =>
  Effect.gen(function* () {
    yield* checkCount(session, "pauseFor", pauseFor)
    const { sessions } = parts
    const state = yield* sessions.load(session)
    // Every switch and every clear leaves a gap that ends with it.
    const last = state.gaps.at(-1)?.to ?? 0
    const changed = mayHaveChanged(state, last)
      ? yield* undoSummary(sessions, session, { since: last, pauseFor })
      : null
    if (changed !== null) {
      const now = yield* sessions.load(session)
      return { answer: { undone: changed, version: now.version }, state: now }
    }
    if (last === 0) return { answer: { undone: null, version: state.version }, state }
    const { before, after } = yield* returnTo(parts, session, (now) =>
      sessions.stateBack(now, (now.gaps.at(-1)?.to ?? 1) - 1),
    )
    const undone = after.clears === before.clears ? "branch" : "clear"
    return { answer: { undone, version: after.version }, state: after }
  })
