/** The handlers of erasures, holds and the audit. */
import { HttpApiBuilder } from "@effect/platform"
import { api } from "@memfold/client/api"
import { Effect } from "effect"
import { given } from "../requests.js"
import { type Serving, using } from "./operation.js"

/** Answering for what is kept. */
export const governance = (serving: Serving) =>
  HttpApiBuilder.group(api, "governance", (handlers) => {
    const { run } = using(serving)
    return handlers
      .handle("audit", ({ path: { session } }) => run((memory) => memory.audit(session)))
      .handle("auditOf", ({ path: { owner } }) => run((memory) => memory.auditOf(owner)))
      .handle("erase", ({ path: { owner }, payload: { reason, after } }) =>
        run((memory) => memory.erase(owner, { reason, ...given({ after }) })),
      )
      .handle("restore", ({ path: { owner }, payload }) =>
        run((memory) => Effect.bindTo(memory.restore(owner, given(payload)), "keys")),
      )
      .handle("hold", ({ path: { session }, payload }) =>
        run((memory) => Effect.as(memory.hold(session, payload.reason), payload)),
      )
      .handle("holdOf", ({ path: { owner }, payload }) =>
        run((memory) => Effect.as(memory.holdOf(owner, payload.reason), payload)),
      )
  })
