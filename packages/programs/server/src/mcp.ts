/** The Model Context Protocol at `/mcp`, behind the guard: the token says whose sessions the tools see, and what they may do. */
import { HttpApiBuilder, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { codecs, type Formats } from "@memfold/catalog"
import type { Caller, schemas } from "@memfold/client/api"
import { EventLog, Memory, type Recall } from "@memfold/core"
import { Effect, Layer, Stream } from "effect"
import { passedCaller } from "./authorization.js"
import { mostPage } from "./changes.js"
import { contextIn } from "./contexts.js"
import type { GuardOptions } from "./guard.js"
import { decoded, given } from "./requests.js"
import { problemFor, type TenantMemory, tenantMemory } from "./TenantMemory.js"

type Messages = Formats["openai"]["context"]

const names = ["state", "summaries", "events", "facts", "compact", "revert"] as const

/** A memory as tools use it: with Promises, and with messages of Chat Completions. The strategy of the service decides every call. */
export interface ToolMemory extends Pick<
  Memory.Operations<Omit<Memory.Promises, "request"> & { readonly request: object }>,
  "state" | "summaries" | "events" | "facts" | "compact" | "revert"
> {
  readonly append: (
    session: string,
    messages: unknown,
    options?: { readonly idempotencyKey?: string; readonly owner?: string; readonly title?: string },
  ) => Promise<Memory.AppendedMessages>
  readonly context: (
    session: string,
    options?: Pick<Memory.ContextOptions, "atVersion" | "recall">,
  ) => Promise<
    Omit<typeof schemas.Context.Type, "messages"> & { readonly messages: Formats["openai"]["context"] }
  >
  readonly messages: (
    session: string,
    page?: { readonly limit?: number; readonly before?: string },
  ) => Promise<Omit<Memory.MessagePage, "messages"> & { readonly messages: Formats["openai"]["context"] }>
  readonly recall: (
    session: string,
    query: string,
    options?: Memory.RecallOptions,
  ) => Promise<Recall.Recalled>
  readonly sessions: () => AsyncIterable<EventLog.SessionInfo>
  readonly sessionsOf: (
    owner: string,
    page: { readonly limit: number },
  ) => Promise<{ readonly sessions: ReadonlyArray<EventLog.SessionInfo>; readonly before: string | null }>
}

/** Answers requests of MCP with the tools of a memory: `mcpHandler` of `@memfold/mcp`. */
export type ToolHandler = (
  memory: ToolMemory,
  options: { readonly readOnly: boolean },
) => { readonly fetch: (request: Request) => Promise<Response>; readonly close: () => Promise<void> }

/** The headers of a request that the protocol has a meaning for. */
const heard = /^(?:accept|content-type|last-event-id|mcp-.*)$/

/** An error of the memory, with the ids that its tenant knows. */
const toldTo = (tenant: string | null) => (error: unknown) =>
  Object.assign(new Error(problemFor(tenant, error).detail), {
    _tag: error instanceof Error && "_tag" in error ? error._tag : "Refused",
  })

/** The memory of a caller as tools use it. */
const toolMemory = (
  options: Pick<GuardOptions, "memory" | "log" | "mayBegin">,
  { tenant, actor }: Caller["Type"],
) => {
  const memory = tenantMemory(options, tenant, actor === null ? null : { ...actor, via: "mcp" })
  const run = <A>(use: (memory: TenantMemory) => Effect.Effect<A, unknown>): Promise<A> =>
    Memory.asPromise(Effect.mapError(use(memory), toldTo(tenant)))
  const { encodeExact } = codecs.openai
  return {
    ...Memory.promised<
      (typeof names)[number],
      Omit<Memory.Promises, "request"> & { readonly request: object }
    >({
      names: [...names],
      run,
      iterate: (use) => Stream.toAsyncIterable(Stream.mapError(use(memory), toldTo(tenant))),
    }),
    append: (session, messages, write = {}) =>
      run(() =>
        options.mayBegin(memory, tenant, session).pipe(
          Effect.zipRight(decoded({}, messages)),
          Effect.flatMap((list) => memory.append(session, list, given(write))),
        ),
      ),
    context: (session, read = {}) =>
      run(() =>
        Effect.map(
          Effect.flatMap(memory.context(session, given(read)), (context) => contextIn("openai", context)),
          (told) => ({ ...told, messages: told.messages as unknown as Messages }),
        ),
      ),
    messages: (session, read = {}) =>
      run(() =>
        Effect.map(memory.messages(session, { ...given(read), length: mostPage }), (found) => ({
          ...found,
          messages: encodeExact(found.messages) as Messages,
        })),
      ),
    recall: (session, query, read) => run(() => memory.recall(session, query, read)),
    sessions: () => Stream.toAsyncIterable(EventLog.sessions(memory)),
    sessionsOf: (owner, { limit }) =>
      run(() =>
        Effect.map(memory.list({ owner, limit: limit + 1 }), (found) => ({
          sessions: found.slice(0, limit),
          before: found.length > limit ? found[limit]!.session : null,
        })),
      ),
  } satisfies ToolMemory
}

/**
 * Serves tools at `/mcp`. Each token has tools of its own, made at its first request: without the right to write, those that only read.
 *
 * @param handler - answers the requests; without it, there is no such path
 * @param options - the memory, and the limit of sessions
 */
export const mcp = (
  handler: ToolHandler | undefined,
  options: Pick<GuardOptions, "memory" | "log" | "mayBegin">,
): Layer.Layer<never, never, HttpApiBuilder.Router> =>
  handler === undefined
    ? Layer.empty
    : HttpApiBuilder.Router.use((router) =>
        Effect.gen(function* () {
          const made = new Map<string, ReturnType<ToolHandler>>()
          const handlerFor = (caller: Caller["Type"]) => {
            const { tenant, rights, actor } = caller
            const readOnly = !rights.includes("write")
            const key = JSON.stringify([tenant, readOnly, actor?.id])
            const known = made.get(key)
            if (known !== undefined) return known
            const fresh = handler(toolMemory(options, caller), { readOnly })
            made.set(key, fresh)
            return fresh
          }
          yield* Effect.addFinalizer(() =>
            Effect.promise(() => Promise.all([...made.values()].map((one) => one.close()))),
          )
          const app = Effect.gen(function* () {
            const request = yield* HttpServerRequest.HttpServerRequest
            const { method } = request
            const body = method === "POST" ? yield* request.text : undefined
            const headers = Object.entries(request.headers).filter(([name]) => heard.test(name))
            const asked = new Request("http://localhost/mcp", { method, headers, ...given({ body }) })
            const { fetch } = handlerFor(yield* passedCaller)
            return HttpServerResponse.fromWeb(yield* Effect.promise(() => fetch(asked)))
          })
          for (const method of ["get", "post", "del"] as const) yield* router[method]("/mcp", app)
        }),
      )
