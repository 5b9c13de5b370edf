/**
 * The memory as one tenant sees it: with the sessions and the owners of this tenant, and no way to name others. In the store, their
 * ids begin with the name of the tenant and a slash, which no name of a tenant has. Handlers get nothing but this.
 */
import { type Audit, type EventCodec, EventLog, Memory, type MemoryLayers, type Session } from "@memfold/core"
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
 * `within` has no request, and `look` and `consume` are for programs that have the store: a consumer over HTTP takes its turn and keeps it by itself.
 */
export interface TenantMemory extends Omit<
  Memory.Service,
  "sessions" | "sessionsOf" | "within" | "look" | "consume"
> {
  /** Whether a group of the feed has begun. */
  readonly hasGroup: (group: string) => Effect.Effect<boolean, EventLog.LogError>
  /** Takes the turn of a group of the feed: see `EventLog.takeTurn`. */
  readonly takeTurn: (
    group: string,
    options: Parameters<typeof EventLog.takeTurn>[2],
  ) => Effect.Effect<EventLog.Turn | null, EventLog.LogError>
  /** Keeps the turn of a group: see `EventLog.keepTurn`. */
  readonly keepTurn: (
    group: string,
    at: EventLog.LogPosition,
    options: Parameters<typeof EventLog.keepTurn>[3],
  ) => Effect.Effect<EventLog.Turn, EventLog.LogError | EventLog.TurnLost>
  /** What a group has given up: see `EventLog.givenUp`. */
  readonly givenUp: (group: string, after?: number) => Stream.Stream<EventLog.Listed, EventLog.LogError>
  /** Takes an event from what a group has given up: see `EventLog.deleteGivenUp`. */
  readonly deleteGivenUp: (group: string, id: number) => Effect.Effect<boolean, EventLog.LogError>
  /** Deletes a group: see `EventLog.deleteGroup`. */
  readonly deleteGroup: (group: string) => Effect.Effect<boolean, EventLog.LogError>
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
 * @param actor - who does what is done with it; `null` if nobody has shown a token
 */
export const tenantMemory = (
  served: Served,
  tenant: string | null,
  actor: Audit.Actor | null,
): TenantMemory => {
  const { log } = served
  const memory: Memory.Service =
    actor === null ? served.memory : { ...served.memory, ...Memory.actedBy(served.memory, () => actor) }
  const spentOf = (scope: Memory.SpendScope, name: string) =>
    Effect.map(memory.state(Memory.spendLog(scope, name)), ({ spent }) => spent)
  const prefix = tenant === null ? "" : `${tenant}/`
  const inside = (id: string): string => `${prefix}${id}`
  const outside = (id: string): string => (id.startsWith(prefix) ? id.slice(prefix.length) : id)
  const groups = {
    hasGroup: (group) => Effect.map(log.head(EventLog.groupLog(inside(group))), (head) => head !== null),
    takeTurn: (group, options) => EventLog.takeTurn(log, inside(group), options),
    keepTurn: (group, at, { givenUp = [], ...kept } = {}) =>
      EventLog.keepTurn(log, inside(group), at, {
        ...kept,
        givenUp: givenUp.map((one) => ({ ...one, session: inside(one.session) })),
      }),
    givenUp: (group, after) =>
      Stream.map(EventLog.givenUp(log, inside(group), after), (one) => ({
        ...one,
        session: outside(one.session),
      })),
    deleteGivenUp: (group, id) => EventLog.deleteGivenUp(log, inside(group), id),
    deleteGroup: (group) => EventLog.deleteGroup(log, inside(group)),
  } satisfies Partial<TenantMemory>
  if (tenant === null) return { ...memory, ...groups, list: (request) => log.list(request), spent: spentOf }
  const owned = <Change extends Described>(change: Change): Change =>
    typeof change.owner === "string" ? { ...change, owner: inside(change.owner) } : change
  const shownOwner = <Shown extends { readonly owner?: string | null | undefined }>(shown: Shown): Shown =>
    typeof shown.owner === "string" ? { ...shown, owner: outside(shown.owner) } : shown
  const shownInfo = (info: EventLog.SessionInfo): EventLog.SessionInfo =>
    shownOwner({ ...info, session: outside(info.session) })
  const shownEvents = <Shown extends EventCodec.RecordedEvent, E>(
    events: Stream.Stream<Shown, E>,
  ): Stream.Stream<Shown, E> =>
    Stream.map(events, (recorded) => ({
      ...recorded,
      session: outside(recorded.session),
      event: recorded.event._tag === "SessionDescribed" ? shownOwner(recorded.event) : recorded.event,
    }))
  const shownSessions = <Shown extends { readonly session: string }>(sessions: ReadonlyArray<Shown>) =>
    sessions.map((one) => ({ ...one, session: outside(one.session) }))
  const shownFacts = (facts: ReadonlyArray<MemoryLayers.FactInTime>) =>
    facts.map((fact) =>
      fact.sources === undefined ? fact : { ...fact, sources: shownSessions(fact.sources) },
    )
  const shownDiff = <Shown extends MemoryLayers.FactsDiff | null>(diff: Shown) =>
    diff === null
      ? diff
      : {
          ...diff,
          come: shownFacts(diff.come),
          go: shownFacts(diff.go),
          change: diff.change.map(({ before, after }) => {
            const [one, other] = shownFacts([before, after])
            return { before: one!, after: other! }
          }),
        }
  const shownAudit = ({ entries, ...rest }: Audit.AuditReport): Audit.AuditReport => ({
    ...rest,
    entries: entries.map((entry) => ({
      ...entry,
      session: entry.session === null ? null : outside(entry.session),
      ...(entry.sessions === undefined ? {} : { sessions: shownSessions(entry.sessions) }),
    })),
  })
  const { sessionsOf: _sessionsOf, look: _look, ...named } = Memory.withPrefix(memory, prefix)
  return {
    ...named,
    ...groups,
    append: (session, messages, options = {}) => named.append(session, messages, owned(options)),
    describe: (session, change) => named.describe(session, owned(change)),
    recallOf: (owner, query, options = {}) =>
      Effect.map(
        named.recallOf(owner, query, {
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
    state: (session, options) =>
      Effect.map(named.state(session, options), (state) => ({
        ...state,
        session,
        description: shownOwner(state.description),
      })),
    facts: (session, options) => Effect.map(named.facts(session, options), shownFacts),
    factsOf: (owner, options) => Effect.map(named.factsOf(owner, options), shownFacts),
    rebuildFacts: (owner, options) => Effect.map(named.rebuildFacts(owner, options), shownDiff),
    diffFacts: (owner, options) => Effect.map(named.diffFacts(owner, options), shownDiff),
    events: (session, options) => shownEvents(named.events(session, options)),
    subscribe: (session, options) => shownEvents(named.subscribe(session, options)),
    eventsOf: (owner) => shownEvents(named.eventsOf(owner)),
    feed: (options) =>
      shownEvents(Stream.filter(memory.feed(options), ({ session }) => session.startsWith(prefix))),
    erase: (owner, options) =>
      Effect.map(named.erase(owner, options), (receipt) =>
        shownOwner({ ...receipt, sessions: shownSessions(receipt.sessions) }),
      ),
    audit: (session) => Effect.map(named.audit(session), shownAudit),
    auditOf: (owner) => Effect.map(named.auditOf(owner), shownAudit),
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
