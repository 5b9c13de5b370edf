/** What the handlers of every group use: who asks, what a request says, and how errors become problems. */
import { HttpApp, HttpServerResponse } from "@effect/platform"
import type { UnknownName } from "@memfold/catalog"
import { Caller, type Problem, problem, type schemas } from "@memfold/client/api"
import { Memory, Session, type Strategy } from "@memfold/core"
import { type Duration, Effect } from "effect"
import type { YieldWrap } from "effect/Utils"
import { failureFor, problemOf } from "../failure.js"
import type { GroupLimit, Room } from "../limits.js"
import { given, strategyOf, tagOf, versionIn, type StrategyRequest } from "../requests.js"
import type { ServiceSettings } from "../settings.js"
import { problemFor, type Served, type TenantMemory, tenantMemory } from "../TenantMemory.js"

/** What the handlers serve. */
export interface Serving extends Served {
  readonly settings: ServiceSettings
  /** Returns when the service begins to end. */
  readonly closing: Effect.Effect<void>
  /** Whether it has begun to. */
  readonly isClosing: () => boolean
  /** The longest time that a request may take. */
  readonly timeout: Duration.DurationInput
  /** The places of subscribers to changes. */
  readonly subscribers: Room
  readonly groups: GroupLimit
  /** What calls may cost in a day. */
  readonly spend: Memory.SpendOptions | undefined
}

/** Sends the version of a session as the entity tag of the response. */
export const tagged = (version: number): Effect.Effect<void> =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "etag", tagOf(version))),
  )

/** The answer to a client that has this version already. */
export const notModified = HttpServerResponse.empty({ status: 304 })

/** The state of a session that there is. */
export const existing = (
  memory: TenantMemory,
  session: string,
): Effect.Effect<Session.SessionState, Memory.MemoryError | Problem> =>
  Effect.filterOrFail(
    memory.state(session),
    ({ version }) => version > 0,
    () =>
      problem(404, "UnknownSession", `There is no session "${session}"; the first append starts it`, session),
  )

/** What a session consists of. */
export const overview = (
  memory: TenantMemory,
  session: string,
): Effect.Effect<schemas.SessionOverview, Memory.MemoryError | Problem> =>
  Effect.gen(function* () {
    const state = yield* existing(memory, session)
    const { version, total, coveredTo, summary, branch, running, description } = state
    yield* tagged(version)
    return {
      session,
      version,
      total,
      coveredTo,
      summary: summary?.id ?? null,
      branch: branch.id,
      compacting: running !== null,
      tokens: Session.contextTokens(state),
      summaries: state.supersededCount + (summary === null ? 0 : 1),
      failures: state.failures?.count ?? 0,
      ...description,
    }
  })

/** Logs what only who runs the service can mend. */
export const logFailure = (error: unknown): Effect.Effect<void> =>
  problemOf(error).status >= 500 && !(error instanceof Memory.Overloaded)
    ? Effect.annotateLogs(Effect.logError("an operation failed"), failureFor(error))
    : Effect.void

/** The options of a write. */
interface Writing {
  readonly strategy?: Strategy.Strategy
  readonly idempotencyKey: string
  readonly ifVersion: number
}

/** What every group of handlers uses. */
export const using = ({ settings, ...served }: Serving) => {
  const requested = strategyOf(settings.current)
  /** Runs an operation on the memory of the caller; its errors become problems. */
  const run = <A, E, R>(
    use: (memory: TenantMemory, tenant: string | null) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, Problem, R | Caller> =>
    Effect.flatMap(Caller, ({ tenant, actor }) =>
      use(tenantMemory(served, tenant, actor), tenant).pipe(
        Effect.tapError(logFailure),
        Effect.mapError((error) => problemFor(tenant, error)),
      ),
    )
  /** Runs an operation of several effects, written as in `Effect.gen`. */
  const runGen = <Eff extends YieldWrap<Effect.Effect<unknown, unknown, unknown>>, A>(
    use: (memory: TenantMemory, tenant: string | null) => Generator<Eff, A, never>,
  ) => run((memory, tenant) => Effect.gen(() => use(memory, tenant)))
  /** The options of a write: its key, its strategy, and the version that it is for. */
  const writing = (
    headers: Partial<typeof schemas.WriteHeaders.Type>,
    request: StrategyRequest,
  ): Effect.Effect<Partial<Writing>, Problem | UnknownName | Strategy.SettingsError> =>
    Effect.gen(function* () {
      const ifVersion = yield* versionIn(headers["if-match"])
      const idempotencyKey = headers["idempotency-key"]
      return given({ ...(yield* requested(request)), idempotencyKey, ifVersion })
    })
  return { run, runGen, requested, writing }
}
