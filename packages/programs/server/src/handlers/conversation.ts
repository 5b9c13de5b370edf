/** The handlers of the conversation: appends, pages, contexts, and branches. */
import { HttpApiBuilder } from "@effect/platform"
import { api } from "@memfold/client/api"
import { Effect } from "effect"
import { mostPage } from "../changes.js"
import { contextIn } from "../contexts.js"
import { decoded, encoded, formatOf, given, tagOf } from "../requests.js"
import { type Serving, tagged, overview, using, notModified } from "./operation.js"

export const conversation = (serving: Serving) =>
  HttpApiBuilder.group(api, "conversation", (handlers) => {
    const { run, runGen, requested, writing } = using(serving)
    return handlers
      .handle("append", ({ path: { session }, urlParams, headers, payload }) =>
        runGen(function* (memory) {
          const { messages, owner, title, prefix, origin, ...request } = payload
          const options = {
            ...(yield* writing(headers, request)),
            ...given({ owner, title, prefix, origin }),
          }
          const appended = yield* memory.append(session, yield* decoded(urlParams, messages), options)
          yield* tagged(appended.version)
          return appended
        }),
      )
      .handle("messages", ({ path: { session }, urlParams: { format, ...page }, headers }) =>
        runGen(function* (memory) {
          // Read before the page: a write that comes in between makes the tag too old, and never too new.
          const { version } = yield* memory.state(session)
          yield* tagged(version)
          if (headers["if-none-match"] === tagOf(version)) return notModified
          const { messages, ...found } = yield* memory.messages(session, {
            ...given(page),
            length: mostPage,
          })
          return { ...found, messages: encoded({ format }, messages) }
        }),
      )
      .handle("replace", ({ path: { session }, urlParams, headers, payload: { messages, ...request } }) =>
        runGen(function* (memory) {
          const wanted = yield* decoded(urlParams, messages)
          return yield* memory.rewrite(session, () => wanted, yield* writing(headers, request))
        }),
      )
      .handle("context", ({ path: { session }, urlParams }) =>
        runGen(function* (memory) {
          const { systemMessages, atVersion, recall, model, summaries, cacheControl, extraFields, server } =
            urlParams
          const context = yield* memory.context(session, {
            ...(yield* requested(urlParams)),
            ...given({ atVersion, recall: recall === undefined ? undefined : { tokens: recall } }),
          })
          yield* tagged(context.prefix.version)
          const form = given({ model, summaries, cacheControl, extraFields, server })
          return yield* contextIn(formatOf(urlParams), context, { systemMessages, ...form })
        }),
      )
      .handle("edit", ({ path: { session }, urlParams, headers, payload }) =>
        runGen(function* (memory) {
          const { from, messages, prefix, ...request } = payload
          const options = { ...(yield* writing(headers, request)), ...given({ prefix }) }
          const edited = yield* memory.edit(session, from, yield* decoded(urlParams, messages), options)
          yield* tagged(edited.version)
          return edited
        }),
      )
      .handle("regenerate", ({ path: { session }, headers, payload: { from, ...request } }) =>
        runGen(function* (memory) {
          const options = { ...(yield* writing(headers, request)), ...given({ from }) }
          const edited = yield* memory.regenerate(session, options)
          yield* tagged(edited.version)
          return edited
        }),
      )
      .handle("branches", ({ path: { session } }) =>
        run((memory) => Effect.bindTo(memory.branches(session), "branches")),
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
