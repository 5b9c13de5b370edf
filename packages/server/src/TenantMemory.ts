/**
 * The memory as one tenant sees it: with the sessions and the owners of this tenant, and no way to name others. In the store, their
 * ids begin with the name of the tenant and a slash, which no name of a tenant has. Handlers get nothing but this.
 */
import { type EventCodec, type EventLog, Memory, type Session } from "@memfold/core"
import type { Problem } from "@memfold/client/api"
import { Effect, Stream } from "effect"
import { problemOf } from "./failure.js"

/** The names of tenants: what a session id in the store begins with. */
export const tenantNames = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** A memory, and the log that it is over. */
export interface Served {
  readonly memory: Memory.Service
  readonly log: EventLog.Service
}

/** Which sessions to list. */
export interface ListRequest {
  readonly owner?: string | undefined
  readonly after?: EventLog.SessionPosition | undefined
  readonly limit: number
}

/**
 * The memory of a tenant: the operations of a memory, and lists of sessions. A transaction of an application is in its own process, so
 * `within` has no request, and `look` is for workers, which have the store.
 */
export interface TenantMemory extends Omit<Memory.Service, "sessions" | "sessionsOf" | "within" | "look"> {
  /** Sessions in the order of the store: see `EventLog.ListOptions`. */
  readonly list: (
    request: ListRequest,
  ) => Effect.Effect<ReadonlyArray<EventLog.SessionInfo>, EventLog.LogError>
  /** What a log counts that counts a spend; `null` if nothing was counted. What all tenants spend together is hidden from each. */
  readonly spent: (
    scope: Memory.SpendScope,
    name: string,
  ) => Effect.Effect<Session.Spent | null | "hidden", Memory.MemoryError>
}

type Described = Session.DescriptionChange

/**
 * The memory of a tenant.
 *
 * @param served - the memory of the whole store
 * @param tenant - the name of the tenant; `null` for the whole store
 */
export const tenantMemory = ({ memory, log }: Served, tenant: string | null): TenantMemory => {
  const spentOf = (scope: Memory.SpendScope, name: string) =>
    Effect.map(memory.state(Memory.spendLog(scope, name)), ({ spent }) => spent)
  if (tenant === null) return { ...memory, list: (request) => log.list(request), spent: spentOf }
  const prefix = `${tenant}/`
  const inside = (id: string): string => `${prefix}${id}`
  const outside = (id: string): string => (id.startsWith(prefix) ? id.slice(prefix.length) : id)
  const owned = <Change extends Described>(change: Change): Change =>
    typeof change.owner === "string" ? { ...change, owner: inside(change.owner) } : change
  const shownOwner = <Shown extends { readonly owner?: string | null | undefined }>(shown: Shown): Shown =>
    typeof shown.owner === "string" ? { ...shown, owner: outside(shown.owner) } : shown
  const shownInfo = (info: EventLog.SessionInfo): EventLog.SessionInfo =>
    shownOwner({ ...info, session: outside(info.session) })
  const shownEvents = <E>(
    events: Stream.Stream<EventCodec.RecordedEvent, E>,
  ): Stream.Stream<EventCodec.RecordedEvent, E> =>
    Stream.map(events, (recorded) => ({
      ...recorded,
      session: outside(recorded.session),
      event: recorded.event._tag === "SessionDescribed" ? shownOwner(recorded.event) : recorded.event,
    }))
  return {
    append: (session, messages, options = {}) => memory.append(inside(session), messages, owned(options)),
    context: (session, options) => memory.context(inside(session), options),
    messages: (session, options) => memory.messages(inside(session), options),
    recall: (session, query, options) => memory.recall(inside(session), query, options),
    recallOf: (owner, query, options = {}) =>
      Effect.map(
        memory.recallOf(inside(owner), query, {
          ...options,
          ...(options.without === undefined ? {} : { without: options.without.map(inside) }),
        }),
        ({ messages, text, unreadable, ...rest }) => ({
          ...rest,
          messages: messages.map((message) => ({ ...message, session: outside(message.session) })),
          text: text.replaceAll(`# Session ${prefix}`, "# Session "),
          unreadable: unreadable.map(outside),
        }),
      ),
    answerToolCall: (session, call, options) => memory.answerToolCall(inside(session), call, options),
    state: (session, options) =>
      Effect.map(memory.state(inside(session), options), (state) => ({
        ...state,
        session,
        description: shownOwner(state.description),
      })),
    events: (session, options) => shownEvents(memory.events(inside(session), options)),
    subscribe: (session, options) => shownEvents(memory.subscribe(inside(session), options)),
    summaries: (session) => memory.summaries(inside(session)),
    trace: (session, what) => memory.trace(inside(session), what),
    traceMessage: (session, message) => memory.traceMessage(inside(session), message),
    timeline: (session) => memory.timeline(inside(session)),
    facts: (session) => memory.facts(inside(session)),
    removeFact: (session, fact, options) => memory.removeFact(inside(session), fact, options),
    compact: ((session: string, options: Memory.CompactOptions) =>
      memory.compact(inside(session), options)) as Memory.Compact,
    preview: (session, options) => memory.preview(inside(session), options),
    revert: (session, options) => memory.revert(inside(session), options),
    fork: (session, to, options) => memory.fork(inside(session), inside(to), options),
    redact: (session, message) => memory.redact(inside(session), message),
    describe: (session, change) => memory.describe(inside(session), owned(change)),
    rewrite: (session, rewrite, options) => memory.rewrite(inside(session), rewrite, options),
    edit: (session, from, messages, options) => memory.edit(inside(session), from, messages, options),
    regenerate: (session, options) => memory.regenerate(inside(session), options),
    branches: (session) => memory.branches(inside(session)),
    checkout: (session, branch, options) => memory.checkout(inside(session), branch, options),
    undo: (session, options) => memory.undo(inside(session), options),
    clear: (session) => memory.clear(inside(session)),
    delete: (session) => memory.delete(inside(session)),
    deleteOf: (owner) => memory.deleteOf(inside(owner)),
    eventsOf: (owner) => shownEvents(memory.eventsOf(inside(owner))),
    spent: (scope, name) =>
      scope === "total" ? Effect.succeed("hidden" as const) : spentOf(scope, inside(name)),
    list: ({ owner, after, limit }) =>
      Effect.map(
        log.list({
          limit,
          owner: owner === undefined ? undefined : inside(owner),
          // Without an owner, sessions come in the order of their ids: those of the tenant stand behind its prefix.
          after: after === undefined ? undefined : { ...after, session: inside(after.session) },
          ...(owner === undefined && after === undefined
            ? { after: { session: prefix, updatedTime: 0 } }
            : {}),
        }),
        (found) => found.filter(({ session }) => session.startsWith(prefix)).map(shownInfo),
      ),
  }
}

/** The problem that an error is, with the ids that its tenant knows. */
export const problemFor = (tenant: string | null, error: unknown): Problem => {
  const problem = problemOf(error)
  if (tenant === null) return problem
  const { session, detail } = problem
  return {
    ...problem,
    detail: detail.replaceAll(`"${tenant}/`, '"'),
    ...(session?.startsWith(`${tenant}/`) === true ? { session: session.slice(tenant.length + 1) } : {}),
  }
}
