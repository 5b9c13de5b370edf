/** The handlers of sessions and their owners. */
import { HttpApiBuilder } from "@effect/platform"
import { api, problem } from "@memfold/client/api"
import { Effect } from "effect"
import { exported } from "../exported.js"
import { makeRoom, onePlace } from "../limits.js"
import { encoded, given, tagOf } from "../requests.js"
import { sessionPage } from "../sessionPages.js"
import { spentToday } from "../spent.js"
import { problemFor } from "../TenantMemory.js"
import { notModified, type Serving, overview, using } from "./operation.js"

export const sessions = (serving: Serving) =>
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
      .handle("spend", ({ path: { session } }) => run((memory) => spentToday(memory, session, serving.spend)))
      .handle("describe", ({ path: { session }, payload }) =>
        run((memory) => Effect.zipRight(memory.describe(session, given(payload)), overview(memory, session))),
      )
      .handle("delete", ({ path: { session } }) =>
        run((memory) => Effect.bindTo(memory.delete(session), "deleted")),
      )
      .handle("fork", ({ path: { session }, payload: { to, ...options } }) =>
        run((memory) =>
          Effect.map(memory.fork(session, to, given(options)), (version) => ({ session: to, version })),
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

const busy = problem(503, "Busy", "As many exports are under way as may be; ask again when one has ended")

export const owners = (serving: Serving) =>
  HttpApiBuilder.group(api, "owners", (handlers) => {
    const { run } = using(serving)
    const exports = makeRoom(16)
    return handlers
      .handle("eventsOf", ({ path: { owner } }) =>
        run((memory, tenant) =>
          Effect.as(
            // Each has a page of a log in memory, as long as its client reads.
            onePlace(exports, tenant ?? "", busy),
            exported(memory.eventsOf(owner), (error) => problemFor(tenant, error)),
          ),
        ),
      )
      .handle("deleteOf", ({ path: { owner } }) =>
        run((memory) => Effect.bindTo(memory.deleteOf(owner), "deleted")),
      )
  })
