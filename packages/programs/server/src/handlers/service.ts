/** The handlers of logs and of the service itself. */
import { HttpApiBuilder, HttpServerRequest } from "@effect/platform"
import { api, Caller, problem } from "@memfold/client/api"
import { Chunk, Duration, Effect, Stream } from "effect"
import { changes, fedBehind, feed, feedPage, type FeedPlace, paged, pageOf, type Steps } from "../changes.js"
import { problemOf } from "../failure.js"
import { onePlace } from "../limits.js"
import { given, named } from "../requests.js"
import { problemFor } from "../TenantMemory.js"
import { consumed } from "../turns.js"
import { type Serving, using } from "./operation.js"

const crowded = problem(503, "Busy", "As many subscribe to changes as may; end others, or come again later")

export const log = (serving: Serving) =>
  HttpApiBuilder.group(api, "log", (handlers) => {
    const { run, runGen } = using(serving)
    const steps: Steps = new Map()
    const feedSteps: Steps<FeedPlace> = new Map()
    return handlers
      .handle("events", ({ path: { session }, urlParams: { limit = 100, ...range } }) =>
        run((memory) =>
          Effect.map(pageOf(memory.events(session, given(range)), limit), (page) => paged(page)),
        ),
      )
      .handle("changes", ({ path: { session }, urlParams: { fromVersion }, headers }) =>
        run((memory, tenant) =>
          // What is wrong with the session is a problem of this response, and not of a stream that nobody understands.
          Effect.as(
            Effect.zipLeft(memory.state(session), onePlace(serving.subscribers, tenant ?? "", crowded)),
            changes(memory, session, {
              steps,
              tenant,
              lastEventId: headers["last-event-id"],
              fromVersion,
              closing: serving.closing,
              problemFor: (error) => problemFor(tenant, error),
            }),
          ),
        ),
      )
      .handle("feed", ({ urlParams: { after: asked, limit = 100, wait = 0 }, headers }) =>
        runGen(function* (memory, tenant) {
          const { headers: all } = yield* HttpServerRequest.HttpServerRequest
          const after = headers["last-event-id"] ?? asked
          const there = feedPage(memory, { after }, limit)
          if (all["accept"]?.includes("text/event-stream") === true) {
            // What is wrong with the position is a problem of this response.
            yield* Stream.runHead(memory.feed({ ...given({ after }), follow: false }))
            yield* onePlace(serving.subscribers, tenant ?? "", crowded)
            return feed(memory, {
              steps: feedSteps,
              tenant,
              lastEventId: after,
              closing: serving.closing,
              problemFor: (error) => problemFor(tenant, error),
            })
          }
          let page = yield* there
          if (page.last === null && wait > 0) {
            yield* onePlace(serving.subscribers, tenant ?? "", crowded)
            const over = Effect.raceFirst(Effect.sleep(Duration.seconds(wait)), serving.closing)
            yield* Effect.raceFirst(Effect.asVoid(fedBehind(memory, { after })), over)
            page = yield* there
          }
          return paged(page, { after: page.last?.position ?? after ?? null })
        }),
      )
      .handle("consume", ({ path: { group }, payload: request }) =>
        runGen(function* (memory, tenant) {
          if ((request.wait ?? 0) > 0) yield* onePlace(serving.subscribers, tenant ?? "", crowded)
          const { page, ...beside } = yield* consumed(memory, { group, request, closing: serving.closing })
          return paged(page, beside)
        }),
      )
      .handle("givenUp", ({ path: { group }, urlParams: { after, limit = 100 } }) =>
        runGen(function* (memory) {
          yield* named("a group", group)
          const some = Stream.take(memory.givenUp(group, after), limit)
          return { givenUp: Chunk.toReadonlyArray(yield* Stream.runCollect(some)) }
        }),
      )
      .handle("deleteGivenUp", ({ path: { group, id } }) =>
        run((memory) =>
          Effect.zipRight(named("a group", group), Effect.bindTo(memory.deleteGivenUp(group, id), "deleted")),
        ),
      )
      .handle("deleteGroup", ({ path: { group } }) =>
        runGen(function* (memory, tenant) {
          yield* named("a group", group)
          const deleted = yield* memory.deleteGroup(group)
          if (deleted) serving.groups.deleted(tenant)
          return { deleted }
        }),
      )
  })

export const service = ({ log, isClosing, settings }: Serving) =>
  HttpApiBuilder.group(api, "service", (handlers) => {
    const ok = { status: "ok" } as const
    return handlers
      .handle("access", () => Caller)
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
