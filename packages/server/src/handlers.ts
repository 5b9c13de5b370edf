/** The handlers: each one is an operation of the memory, with what the request says. */
import { HttpApiBuilder, HttpApp, HttpServerResponse } from "@effect/platform"
import { summarizerOf } from "@memfold/catalog"
import { api, Caller, problem, type schemas } from "@memfold/client/api"
import { type CompactionOutcome, Recall } from "@memfold/core"
import { Chunk, Effect, Layer, Stream } from "effect"
import { changes } from "./changes.js"
import { comparison } from "./comparison.js"
import { contextIn } from "./contexts.js"
import { previewed } from "./previewed.js"
import { exported } from "./exported.js"
import { failureFor, problemOf } from "./failure.js"
import type { MayBegin } from "./limits.js"
import { decoded, encoded, formatOf, given, strategyOf, tagOf, versionIn } from "./requests.js"
import { sessionPage } from "./sessionPages.js"
import type { ServiceSettings } from "./settings.js"
import { problemFor, type Served, type TenantMemory, tenantMemory } from "./TenantMemory.js"

/** What the handlers serve. */
export interface Serving extends Served {
  readonly settings: ServiceSettings
  /** Returns when the service begins to end. */
  readonly closing: Effect.Effect<void>
  /** Whether it has begun to. */
  readonly isClosing: () => boolean
  /** Checks that a tenant may begin a session. */
  readonly mayBegin: MayBegin
}

/** Sends the version of a session as the entity tag of the response. */
const tagged = (version: number): Effect.Effect<void> =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "etag", tagOf(version))),
  )

const notModified = HttpServerResponse.empty({ status: 304 })

/** The state of a session that there is. */
const existing = (memory: TenantMemory, session: string) =>
  Effect.filterOrFail(
    memory.state(session),
    ({ version }) => version > 0,
    () =>
      problem(404, "UnknownSession", `There is no session "${session}"; the first append starts it`, session),
  )

const overview = (memory: TenantMemory, session: string) =>
  Effect.gen(function* () {
    const { version, total, coveredTo, summary, branch, running, description } = yield* existing(
      memory,
      session,
    )
    yield* tagged(version)
    return {
      session,
      version,
      total,
      coveredTo,
      summary: summary?.id ?? null,
      branch: branch.id,
      compacting: running !== null,
      ...description,
    }
  })

const outcomeOf = (outcome: CompactionOutcome): schemas.Outcome => {
  switch (outcome._tag) {
    case "Idle":
      return { outcome: "Idle", reason: outcome.reason }
    case "Committed": {
      const { summary, coveredTo, tokensBefore, tokensAfter } = outcome.committed
      return { outcome: "Committed", summary, coveredTo, tokensBefore, tokensAfter }
    }
    case "Failed":
      return { outcome: "Failed", reason: outcome.error.message }
    case "Pruned":
    case "Lost":
      return { outcome: outcome._tag }
  }
}

/** Writes the summaries of previews, unless the summarizer of the service is asked for. */
const extractive = summarizerOf("extractive")

/** The definitions of the tools of recall. */
const tools: typeof schemas.Tools.Type = {
  openai: Recall.toolDefinitions.map((tool) => ({ type: "function", function: { ...tool } })),
  responses: Recall.toolDefinitions.map((tool) => ({ type: "function", ...tool, strict: true })),
  anthropic: Recall.toolDefinitions.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  })),
}

/** Logs what only who runs the service can mend. */
const logFailure = (error: unknown): Effect.Effect<void> =>
  problemOf(error).status >= 500
    ? Effect.annotateLogs(Effect.logError("an operation failed"), failureFor(error))
    : Effect.void

/** What every group of handlers uses. */
const using = ({ settings, ...served }: Serving) => {
  const requested = strategyOf(settings.current)
  /** Runs an operation on the memory of the caller; its errors become problems. */
  const run = <A, E, R>(use: (memory: TenantMemory, tenant: string | null) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(Caller, ({ tenant }) =>
      use(tenantMemory(served, tenant), tenant).pipe(
        Effect.tapError(logFailure),
        Effect.mapError((error) => problemFor(tenant, error)),
      ),
    )
  /** The options of a write: its key, its strategy, and the version that it is for. */
  const writing = (
    headers: Partial<typeof schemas.WriteHeaders.Type>,
    request: Parameters<typeof requested>[0],
  ) =>
    Effect.gen(function* () {
      const ifVersion = yield* versionIn(headers["if-match"])
      return given({
        ...(yield* requested(request)),
        idempotencyKey: headers["idempotency-key"],
        ifVersion,
      })
    })
  return { run, requested, writing }
}

const sessions = (serving: Serving) =>
  HttpApiBuilder.group(api, "sessions", (handlers) => {
    const { run } = using(serving)
    return handlers
      .handle("list", ({ urlParams }) => run((memory) => sessionPage(memory, urlParams)))
      .handle("session", ({ path: { session }, headers }) =>
        run((memory) =>
          Effect.map(overview(memory, session), (found) =>
            headers["if-none-match"] === tagOf(found.version) ? notModified : found,
          ),
        ),
      )
      .handle("describe", ({ path: { session }, payload }) =>
        run((memory, tenant) =>
          serving
            .mayBegin(memory, tenant, session)
            .pipe(
              Effect.zipRight(memory.describe(session, given(payload))),
              Effect.zipRight(overview(memory, session)),
            ),
        ),
      )
      .handle("delete", ({ path: { session } }) =>
        run((memory) => Effect.map(memory.delete(session), (deleted) => ({ deleted }))),
      )
      .handle("fork", ({ path: { session }, payload: { to, ...options } }) =>
        run((memory, tenant) =>
          Effect.zipRight(
            serving.mayBegin(memory, tenant, to),
            memory.fork(session, to, given(options)),
          ).pipe(Effect.map((version) => ({ session: to, version }))),
        ),
      )
      .handle("recallOf", ({ urlParams, payload: { owner, query, ...options } }) =>
        run((memory) =>
          Effect.map(memory.recallOf(owner, query, given(options)), (found) => ({
            ...found,
            messages: found.messages.map((one) => ({ ...one, message: encoded(urlParams, [one.message]) })),
          })),
        ),
      )
  })

const owners = (serving: Serving) =>
  HttpApiBuilder.group(api, "owners", (handlers) => {
    const { run } = using(serving)
    return handlers
      .handle("eventsOf", ({ path: { owner } }) =>
        run((memory, tenant) =>
          Effect.succeed(exported(memory.eventsOf(owner), (error) => problemFor(tenant, error))),
        ),
      )
      .handle("deleteOf", ({ path: { owner } }) =>
        run((memory) => Effect.map(memory.deleteOf(owner), (deleted) => ({ deleted }))),
      )
  })

const conversation = (serving: Serving) =>
  HttpApiBuilder.group(api, "conversation", (handlers) => {
    const { run, requested, writing } = using(serving)
    return handlers
      .handle("append", ({ path: { session }, urlParams, headers, payload }) =>
        run((memory, tenant) =>
          Effect.gen(function* () {
            yield* serving.mayBegin(memory, tenant, session)
            const { messages, owner, title, prefix, ...request } = payload
            const options = { ...(yield* writing(headers, request)), ...given({ owner, title, prefix }) }
            const appended = yield* memory.append(session, yield* decoded(urlParams, messages), options)
            yield* tagged(appended.version)
            return appended
          }),
        ),
      )
      .handle("messages", ({ path: { session }, urlParams: { format, ...page }, headers }) =>
        run((memory) =>
          Effect.gen(function* () {
            // Read before the page: a write that comes in between makes the tag too old, and never too new.
            const { version } = yield* memory.state(session)
            yield* tagged(version)
            if (headers["if-none-match"] === tagOf(version)) return notModified
            const { messages, ...found } = yield* memory.messages(session, given(page))
            return { ...found, messages: encoded({ format }, messages) }
          }),
        ),
      )
      .handle("replace", ({ path: { session }, urlParams, headers, payload: { messages, ...request } }) =>
        run((memory, tenant) =>
          Effect.gen(function* () {
            yield* serving.mayBegin(memory, tenant, session)
            const wanted = yield* decoded(urlParams, messages)
            return yield* memory.rewrite(session, () => wanted, yield* writing(headers, request))
          }),
        ),
      )
      .handle("context", ({ path: { session }, urlParams }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { systemMessages, atVersion, recall, model, summaries, cacheControl, extraFields } =
              urlParams
            const context = yield* memory.context(session, {
              ...(yield* requested(urlParams)),
              ...given({ atVersion, recall: recall === undefined ? undefined : { tokens: recall } }),
            })
            yield* tagged(context.prefix.version)
            const form = given({ model, summaries, cacheControl, extraFields })
            return contextIn(formatOf(urlParams), context, { systemMessages, ...form })
          }),
        ),
      )
      .handle("edit", ({ path: { session }, urlParams, headers, payload }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { from, messages, prefix, ...request } = payload
            const options = { ...(yield* writing(headers, request)), ...given({ prefix }) }
            const edited = yield* memory.edit(session, from, yield* decoded(urlParams, messages), options)
            yield* tagged(edited.version)
            return edited
          }),
        ),
      )
      .handle("regenerate", ({ path: { session }, headers, payload: { from, ...request } }) =>
        run((memory) =>
          Effect.gen(function* () {
            const options = { ...(yield* writing(headers, request)), ...given({ from }) }
            const edited = yield* memory.regenerate(session, options)
            yield* tagged(edited.version)
            return edited
          }),
        ),
      )
      .handle("branches", ({ path: { session } }) =>
        run((memory) => Effect.map(memory.branches(session), (branches) => ({ branches }))),
      )
      .handle("checkout", ({ path: { session }, payload: { branch, ...request } }) =>
        run((memory) =>
          Effect.flatMap(requested(request), (options) => memory.checkout(session, branch, options)),
        ),
      )
      .handle("undo", ({ path: { session }, payload: { pauseFor, ...request } }) =>
        run((memory) =>
          Effect.flatMap(requested(request), (options) =>
            memory.undo(session, { ...options, ...given({ pauseFor }) }),
          ),
        ),
      )
      .handle("clear", ({ path: { session } }) =>
        run((memory) => Effect.zipRight(memory.clear(session), overview(memory, session))),
      )
      .handle("redact", ({ path: { session }, payload: { message } }) =>
        run((memory) => memory.redact(session, message)),
      )
  })

const memoryGroup = (serving: Serving) =>
  HttpApiBuilder.group(api, "memory", (handlers) => {
    const { run, requested } = using(serving)
    return handlers
      .handle("recall", ({ path: { session }, urlParams, payload }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { query, tokens, after, before, timeZone, messages, atVersion } = payload
            const found = yield* memory.recall(session, query, {
              ...given({ tokens, after, before, timeZone, messages, atVersion }),
              ...(yield* requested(payload)),
            })
            return {
              ...found,
              messages: found.messages.map((one) => ({ ...one, message: encoded(urlParams, [one.message]) })),
            }
          }),
        ),
      )
      .handle("summaries", ({ path: { session } }) =>
        run((memory) => Effect.map(memory.summaries(session), (summaries) => ({ summaries }))),
      )
      .handle("compact", ({ path: { session }, payload }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { which = "next", instructions, takeOver } = payload
            const options = yield* requested(payload)
            const outcomes =
              which === "next"
                ? [yield* memory.compact(session, { ...options, ...given({ instructions, takeOver }) })]
                : yield* memory.compact(session, { ...options, which })
            return { outcomes: outcomes.map(outcomeOf) }
          }),
        ),
      )
      .handle("timeline", ({ path: { session }, headers }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { version } = yield* existing(memory, session)
            yield* tagged(version)
            return headers["if-none-match"] === tagOf(version) ? notModified : yield* memory.timeline(session)
          }),
        ),
      )
      .handle("compare", ({ path: { session }, payload }) =>
        run((memory) =>
          Effect.zipRight(
            existing(memory, session),
            comparison(memory, session, payload, serving.settings.current()),
          ),
        ),
      )
      .handle("trace", ({ path: { session }, payload }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { text, summary } = payload
            if (summary !== undefined && text === undefined) return yield* memory.trace(session, { summary })
            if (text !== undefined && summary === undefined) return yield* memory.trace(session, text)
            return yield* Effect.fail(
              problem(400, "InvalidInput", "Give `text` or `summary`, one of them", session),
            )
          }),
        ),
      )
      .handle("traceMessage", ({ path: { session, message } }) =>
        run((memory) => Effect.map(memory.traceMessage(session, message), (summaries) => ({ summaries }))),
      )
      .handle("preview", ({ path: { session }, payload }) =>
        run((memory) =>
          Effect.gen(function* () {
            const { format, which, instructions, takeOver, summarizer = "extractive" } = payload
            const preview = yield* memory.preview(session, {
              ...(yield* requested(payload)),
              ...given({ which, instructions, takeOver }),
              ...(summarizer === "own" ? {} : { summarizer: extractive }),
            })
            yield* tagged(preview.version)
            return previewed(preview, formatOf({ format }))
          }),
        ),
      )
      .handle("revert", ({ path: { session }, payload }) =>
        run((memory) => Effect.map(memory.revert(session, given(payload)), (reverted) => ({ reverted }))),
      )
      .handle("facts", ({ path: { session } }) =>
        run((memory) => Effect.map(memory.facts(session), (facts) => ({ facts }))),
      )
      .handle("removeFact", ({ path: { session, fact } }) =>
        run((memory) => Effect.map(memory.removeFact(session, fact), (deleted) => ({ deleted }))),
      )
      .handle("tools", () => Effect.succeed(tools))
      .handle("callTool", ({ path: { session }, payload: { name, tokens, ...request } }) =>
        run((memory) =>
          Effect.gen(function* () {
            const call = {
              type: "tool-call",
              id: "call",
              name,
              arguments: JSON.stringify(request.arguments),
            } as const
            const options = { ...(yield* requested(request)), ...given({ tokens }) }
            const message = yield* memory.answerToolCall(session, call, options)
            const [part] = message?.parts ?? []
            if (part?.type !== "tool-result")
              return yield* Effect.fail(
                problem(404, "UnknownTool", `There is no tool "${name}"; /v1/tools lists them`),
              )
            return { text: part.output }
          }),
        ),
      )
  })

const log = (serving: Serving) =>
  HttpApiBuilder.group(api, "log", (handlers) => {
    const { run } = using(serving)
    return handlers
      .handle("events", ({ path: { session }, urlParams: { limit = 100, ...range } }) =>
        run((memory) =>
          Effect.map(
            Stream.runCollect(Stream.take(memory.events(session, given(range)), limit)),
            (events) => ({
              events: Chunk.toReadonlyArray(events).map((recorded) => ({
                ...recorded,
                event: recorded.event as unknown as schemas.Json,
              })),
            }),
          ),
        ),
      )
      .handle("changes", ({ path: { session }, urlParams: { fromVersion }, headers }) =>
        run((memory, tenant) =>
          // What is wrong with the session is a problem of this response, and not of a stream that nobody understands.
          Effect.as(
            memory.state(session),
            changes(memory, session, {
              lastEventId: headers["last-event-id"],
              fromVersion,
              closing: serving.closing,
              problemFor: (error) => problemFor(tenant, error),
            }),
          ),
        ),
      )
  })

const service = ({ log, isClosing, settings }: Serving) =>
  HttpApiBuilder.group(api, "service", (handlers) => {
    const ok = { status: "ok" } as const
    return handlers
      .handle("settings", () => Effect.sync(settings.show))
      .handle("changeSettings", ({ payload }) =>
        Effect.gen(function* () {
          const { tenant } = yield* Caller
          if (tenant !== null)
            return yield* Effect.fail(
              problem(
                403,
                "NotAllowed",
                "The settings are for all tenants: who runs the service changes them",
              ),
            )
          yield* settings.change(payload)
          return settings.show()
        }).pipe(Effect.mapError(problemOf)),
      )
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        isClosing()
          ? Effect.fail(problem(503, "Closing", "The service is ending; ask another one"))
          : Effect.mapError(Effect.as(log.list({ limit: 1 }), ok), problemOf),
      )
  })

/** All handlers. */
export const handlersOf = (serving: Serving) =>
  Layer.mergeAll(
    sessions(serving),
    owners(serving),
    conversation(serving),
    memoryGroup(serving),
    log(serving),
    service(serving),
  )
