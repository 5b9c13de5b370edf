/**
 * The declaration of the service: its routes, what goes in and comes out, and which right each one needs. The service serves it,
 * the client is made from it, and the OpenAPI document and the page of documentation describe it.
 */
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSchema,
  HttpApiSecurity,
  OpenApi,
} from "@effect/platform"
import { Context, Schema } from "effect"
import { Problems } from "./problem.js"
import * as schemas from "./schemas.js"

export { problem, type Problem, Problems, type Status, statuses } from "./problem.js"
export * as schemas from "./schemas.js"

/** What a token allows: to read, to write, or to erase what cannot be brought back. */
export type Right = "read" | "write" | "erase"

/**
 * Who a request comes from. Without tokens, there is no tenant, and every session of the store is theirs; and no actor, which is the
 * name of the token.
 */
export class Caller extends Context.Tag("@memfold/client/Caller")<
  Caller,
  {
    readonly tenant: string | null
    readonly rights: ReadonlyArray<Right>
    readonly actor: { readonly id: string; readonly via: string } | null
  }
>() {}

const options = {
  provides: Caller,
  failure: Problems,
  security: { bearer: HttpApiSecurity.bearer },
} as const

/** The caller may read. */
export class Reading extends HttpApiMiddleware.Tag<Reading>()("@memfold/client/Reading", options) {}
/** The caller may write. */
export class Writing extends HttpApiMiddleware.Tag<Writing>()("@memfold/client/Writing", options) {}
/** The caller may erase. */
export class Erasing extends HttpApiMiddleware.Tag<Erasing>()("@memfold/client/Erasing", options) {}

/**
 * That a route may begin a session, which its service can have too many of: the one in its path, or the one that its body names as
 * `to`.
 */
export class Begins extends Context.Tag("@memfold/client/Begins")<Begins, "session" | "to">() {}

const format = Schema.Struct(schemas.inFormat)
const of = <const Path extends string>(path: Path) => `/v1/sessions/:session${path}` as const
const described = (description: string) => OpenApi.annotations({ description })

const sessions = HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("list", "/v1/sessions")
      .setUrlParams(schemas.ListQuery)
      .addSuccess(schemas.SessionPage)
      .middleware(Reading)
      .annotateContext(described("The sessions, page by page")),
  )
  .add(
    HttpApiEndpoint.get("session", of(""))
      .setPath(schemas.Session)
      .setHeaders(schemas.ReadHeaders)
      .addSuccess(schemas.SessionOverview)
      .middleware(Reading)
      .annotateContext(described("What a session consists of now")),
  )
  .add(
    HttpApiEndpoint.get("spend", of("/spend"))
      .setPath(schemas.Session)
      .addSuccess(schemas.SpentToday)
      .middleware(Reading)
      .annotateContext(
        described(
          "What summaries, facts and vectors have cost today, of each cap that holds for the session. A tenant does not see the cap of all together",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.patch("describe", of(""))
      .setPath(schemas.Session)
      .setPayload(schemas.Description)
      .addSuccess(schemas.SessionOverview)
      .middleware(Writing)
      .annotate(Begins, "session")
      .annotateContext(described("Sets or removes the owner and the title")),
  )
  .add(
    HttpApiEndpoint.del("delete", of(""))
      .setPath(schemas.Session)
      .addSuccess(schemas.Deleted)
      .middleware(Erasing)
      .annotateContext(described("Deletes a session with its log")),
  )
  .add(
    HttpApiEndpoint.post("fork", of("/fork"))
      .setPath(schemas.Session)
      .setPayload(schemas.Fork)
      .addSuccess(schemas.Forked, { status: 201 })
      .middleware(Writing)
      .annotate(Begins, "to")
      .annotateContext(described("Starts a new session as a copy")),
  )
  .add(
    HttpApiEndpoint.post("recallOf", "/v1/recall")
      .setUrlParams(format)
      .setPayload(schemas.OwnerRecall)
      .addSuccess(schemas.OwnerRecalled)
      .middleware(Reading)
      .annotateContext(described("Searches all sessions of an owner")),
  )

const owners = HttpApiGroup.make("owners")
  .add(
    HttpApiEndpoint.get("eventsOf", "/v1/owners/:owner/events")
      .setPath(schemas.OwnerPath)
      .addSuccess(HttpApiSchema.Text({ contentType: "application/x-ndjson" }))
      .middleware(Reading)
      .annotateContext(
        described(
          'Every event of an owner, one a line as JSON. The last line is `{"complete":true}`, or a problem if not all could be read',
        ),
      ),
  )
  .add(
    HttpApiEndpoint.del("deleteOf", "/v1/owners/:owner")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.OwnerDeleted)
      .middleware(Erasing)
      .annotateContext(
        described(
          "Deletes everything of an owner: all sessions with their logs, and what was learned in them",
        ),
      ),
  )

const governance = HttpApiGroup.make("governance")
  .add(
    HttpApiEndpoint.get("audit", of("/audit"))
      .setPath(schemas.Session)
      .addSuccess(schemas.Audit)
      .middleware(Reading)
      .annotateContext(
        described(
          "Who did what with a session. It has no text, and still answers once the session is erased",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("auditOf", "/v1/owners/:owner/audit")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.Audit)
      .middleware(Reading)
      .annotateContext(described("Who did what with an owner, and with each session of the owner")),
  )
  .add(
    HttpApiEndpoint.post("erase", "/v1/owners/:owner/erase")
      .setPath(schemas.OwnerPath)
      .setPayload(schemas.Erase)
      .addSuccess(schemas.Receipt)
      .middleware(Erasing)
      .annotateContext(
        described(
          "Takes the keys of an owner out of use at once, and destroys them later: no copy of the store can be read then. Answers with the receipt",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.post("restore", "/v1/owners/:owner/restore")
      .setPath(schemas.OwnerPath)
      .setPayload(schemas.RestoreOwner)
      .addSuccess(schemas.RestoredOwner)
      .middleware(Erasing)
      .annotateContext(described("Takes an erasure back whose keys are not destroyed")),
  )
  .add(
    HttpApiEndpoint.put("hold", of("/hold"))
      .setPath(schemas.Session)
      .setPayload(schemas.Hold)
      .addSuccess(schemas.Hold)
      .middleware(Erasing)
      .annotateContext(
        described("Holds a session: nothing erases, deletes, archives or redacts it. `null` ends the hold"),
      ),
  )
  .add(
    HttpApiEndpoint.put("holdOf", "/v1/owners/:owner/hold")
      .setPath(schemas.OwnerPath)
      .setPayload(schemas.Hold)
      .addSuccess(schemas.Hold)
      .middleware(Erasing)
      .annotateContext(described("Holds an owner, or ends the hold")),
  )

const conversation = HttpApiGroup.make("conversation")
  .add(
    HttpApiEndpoint.post("append", of("/messages"))
      .setPath(schemas.Session)
      .setUrlParams(format)
      .setHeaders(schemas.WriteHeaders)
      .setPayload(schemas.Append)
      .addSuccess(schemas.Appended, { status: 201 })
      .middleware(Writing)
      .annotate(Begins, "session")
      .annotateContext(
        described(
          "Appends messages, all or none; the first append starts the session. Answers once they are durable",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("messages", of("/messages"))
      .setPath(schemas.Session)
      .setUrlParams(schemas.PageQuery)
      .setHeaders(schemas.ReadHeaders)
      .addSuccess(schemas.MessagePage)
      .middleware(Reading)
      .annotateContext(described("The conversation as it was said, page by page from its end")),
  )
  .add(
    HttpApiEndpoint.put("replace", of("/messages"))
      .setPath(schemas.Session)
      .setUrlParams(format)
      .setHeaders(schemas.KeyHeaders)
      .setPayload(schemas.Replace)
      .addSuccess(schemas.Rewritten)
      .middleware(Writing)
      .annotate(Begins, "session")
      .annotateContext(
        described(
          "What the conversation is to consist of. What is new is appended; where it differs, it goes on as a branch",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("context", of("/context"))
      .setPath(schemas.Session)
      .setUrlParams(schemas.ContextQuery)
      .setHeaders(schemas.ReadHeaders)
      .addSuccess(schemas.Context)
      .middleware(Reading)
      .annotateContext(described("The messages to send to the model")),
  )
  .add(
    HttpApiEndpoint.post("edit", of("/edit"))
      .setPath(schemas.Session)
      .setUrlParams(format)
      .setHeaders(schemas.WriteHeaders)
      .setPayload(schemas.Edit)
      .addSuccess(schemas.Edited)
      .middleware(Writing)
      .annotateContext(described("Goes on from an earlier place with other messages, as a branch")),
  )
  .add(
    HttpApiEndpoint.post("regenerate", of("/regenerate"))
      .setPath(schemas.Session)
      .setHeaders(schemas.WriteHeaders)
      .setPayload(schemas.Regenerate)
      .addSuccess(schemas.Edited)
      .middleware(Writing)
      .annotateContext(described("Goes back to before an answer")),
  )
  .add(
    HttpApiEndpoint.get("branches", of("/branches"))
      .setPath(schemas.Session)
      .addSuccess(schemas.Branches)
      .middleware(Reading)
      .annotateContext(described("The branch in force, and the branches that were left, newest first")),
  )
  .add(
    HttpApiEndpoint.post("checkout", of("/checkout"))
      .setPath(schemas.Session)
      .setPayload(schemas.Checkout)
      .addSuccess(schemas.Edited)
      .middleware(Writing)
      .annotateContext(described("Returns to a branch that was left")),
  )
  .add(
    HttpApiEndpoint.post("undo", of("/undo"))
      .setPath(schemas.Session)
      .setPayload(schemas.Undo)
      .addSuccess(schemas.Undone)
      .middleware(Writing)
      .annotateContext(described("Takes back the newest compaction, edit, regeneration, checkout or clear")),
  )
  .add(
    HttpApiEndpoint.post("clear", of("/clear"))
      .setPath(schemas.Session)
      .addSuccess(schemas.SessionOverview)
      .middleware(Writing)
      .annotateContext(described("Starts the session over; the log keeps what was said")),
  )
  .add(
    HttpApiEndpoint.post("redact", of("/redact"))
      .setPath(schemas.Session)
      .setPayload(schemas.Redact)
      .addSuccess(schemas.Redacted)
      .middleware(Erasing)
      .annotateContext(described("Erases the text of a message from the store")),
  )

const memory = HttpApiGroup.make("memory")
  .add(
    HttpApiEndpoint.post("recall", of("/recall"))
      .setPath(schemas.Session)
      .setUrlParams(format)
      .setPayload(schemas.Recall)
      .addSuccess(schemas.Recalled)
      .middleware(Reading)
      .annotateContext(described("Searches the messages of a session")),
  )
  .add(
    HttpApiEndpoint.get("summaries", of("/summaries"))
      .setPath(schemas.Session)
      .addSuccess(Schema.Struct({ summaries: Schema.Array(schemas.Summary) }))
      .middleware(Reading)
      .annotateContext(described("Every summary that the session ever had, oldest first")),
  )
  .add(
    HttpApiEndpoint.post("compact", of("/compact"))
      .setPath(schemas.Session)
      .setPayload(schemas.Compact)
      .addSuccess(schemas.Compacted)
      .middleware(Writing)
      .annotateContext(described("Runs compactions, whether they are due or not")),
  )
  .add(
    HttpApiEndpoint.get("timeline", of("/timeline"))
      .setPath(schemas.Session)
      .setHeaders(schemas.ReadHeaders)
      .addSuccess(schemas.Timeline)
      .middleware(Reading)
      .annotateContext(
        described("Every version with the size of its context, and every compaction with what became of it"),
      ),
  )
  .add(
    HttpApiEndpoint.post("compare", of("/compare"))
      .setPath(schemas.Session)
      .setPayload(schemas.Compare)
      .addSuccess(schemas.Compared)
      .middleware(Reading)
      .annotateContext(
        described(
          "The session under a strategy, call by call: the size of the context, the cost, and what of needed identifiers was there",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.post("trace", of("/trace"))
      .setPath(schemas.Session)
      .setPayload(schemas.TraceRequest)
      .addSuccess(schemas.Trace)
      .middleware(Reading)
      .annotateContext(described("Which messages each sentence of a summary, or of a text, rests on")),
  )
  .add(
    HttpApiEndpoint.get("traceMessage", of("/messages/:message/trace"))
      .setPath(schemas.MessagePath)
      .addSuccess(Schema.Struct({ summaries: Schema.Array(schemas.TracedSummary) }))
      .middleware(Reading)
      .annotateContext(described("The summaries that cover a message, with the sentences that rest on it")),
  )
  .add(
    HttpApiEndpoint.post("preview", of("/preview"))
      .setPath(schemas.Session)
      .setPayload(schemas.Preview)
      .addSuccess(schemas.Previewed)
      .middleware(Reading)
      .annotateContext(
        described("What `compact` would do, with the contexts before and behind it; nothing is written"),
      ),
  )
  .add(
    HttpApiEndpoint.post("revert", of("/revert"))
      .setPath(schemas.Session)
      .setPayload(schemas.Revert)
      .addSuccess(schemas.Reverted)
      .middleware(Writing)
      .annotate(Begins, "session")
      .annotateContext(described("Takes compactions back")),
  )
  .add(
    HttpApiEndpoint.get("facts", of("/facts"))
      .setPath(schemas.Session)
      .setUrlParams(schemas.FactsQuery)
      .addSuccess(schemas.Facts)
      .middleware(Reading)
      .annotateContext(
        described(
          "The facts about the user and the scope that are true, with their quotes; none without memory layers",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("factsOf", "/v1/owners/:owner/facts")
      .setPath(schemas.OwnerPath)
      .setUrlParams(schemas.FactsQuery)
      .addSuccess(schemas.Facts)
      .middleware(Reading)
      .annotateContext(described("The facts about an owner that are true, of all sessions")),
  )
  .add(
    HttpApiEndpoint.del("removeFact", of("/facts/:fact"))
      .setPath(schemas.FactPath)
      .setUrlParams(schemas.RemoveFactQuery)
      .addSuccess(schemas.Deleted)
      .middleware(Writing)
      .annotateContext(described("Removes a fact that is wrong, or over")),
  )
  .add(
    HttpApiEndpoint.post("redactFact", of("/facts/:fact/redact"))
      .setPath(schemas.FactPath)
      .addSuccess(schemas.Deleted)
      .middleware(Erasing)
      .annotateContext(described("Erases the text of a fact that must not be known from the store")),
  )
  .add(
    HttpApiEndpoint.post("confirmFact", of("/facts/:fact/confirm"))
      .setPath(schemas.FactPath)
      .addSuccess(schemas.FactConfirmed)
      .middleware(Writing)
      .annotateContext(described("Notes that somebody has judged a fact to be true")),
  )
  .add(
    HttpApiEndpoint.post("revertFact", of("/facts/:fact/revert"))
      .setPath(schemas.FactPath)
      .addSuccess(schemas.FactReverted)
      .middleware(Writing)
      .annotateContext(described("Takes back the newest end or retraction of a fact")),
  )
  .add(
    HttpApiEndpoint.post("rebuildFacts", "/v1/owners/:owner/facts/rebuild")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.FactsRebuilt)
      .middleware(Writing)
      .annotateContext(
        described(
          "Learns the facts of an owner anew, by the extractor of the service, beside those in force",
        ),
      ),
  )
  .add(
    HttpApiEndpoint.get("diffFacts", "/v1/owners/:owner/facts/rebuild")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.FactsDiff)
      .middleware(Reading)
      .annotateContext(described("What would change if the facts that were learned anew were taken")),
  )
  .add(
    HttpApiEndpoint.post("takeFacts", "/v1/owners/:owner/facts/rebuild/take")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.RebuildTaken)
      .middleware(Writing)
      .annotateContext(described("Puts the facts that were learned anew in the place of those in force")),
  )
  .add(
    HttpApiEndpoint.del("dropFacts", "/v1/owners/:owner/facts/rebuild")
      .setPath(schemas.OwnerPath)
      .addSuccess(schemas.RebuildDropped)
      .middleware(Writing)
      .annotateContext(described("Drops the facts that were learned anew; those in force stay")),
  )
  .add(
    HttpApiEndpoint.get("tools", "/v1/tools")
      .addSuccess(schemas.Tools)
      .middleware(Reading)
      .annotateContext(described("Tools of recall for the model, in the formats of the providers")),
  )
  .add(
    HttpApiEndpoint.post("callTool", of("/tools"))
      .setPath(schemas.Session)
      .setPayload(schemas.ToolCall)
      .addSuccess(schemas.ToolResult)
      .middleware(Reading)
      .annotateContext(described("Answers a call of one of these tools")),
  )

const log = HttpApiGroup.make("log")
  .add(
    HttpApiEndpoint.get("events", of("/events"))
      .setPath(schemas.Session)
      .setUrlParams(schemas.EventQuery)
      .addSuccess(schemas.EventPage)
      .middleware(Reading)
      .annotateContext(described("The events of a session")),
  )
  .add(
    HttpApiEndpoint.get("changes", of("/changes"))
      .setPath(schemas.Session)
      .setUrlParams(Schema.Struct({ fromVersion: schemas.EventQuery.fields.fromVersion }))
      .setHeaders(schemas.ChangesHeaders)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .middleware(Reading)
      .annotateContext(
        described(
          "Server-sent events: the stored events and then new ones as they come. `id` names an event, `event` its type, `data` is the event. With `Last-Event-ID`, the stream goes on where it stopped",
        ),
      ),
  )

  .add(
    HttpApiEndpoint.get("feed", "/v1/feed")
      .setUrlParams(schemas.FeedQuery)
      .setHeaders(schemas.ChangesHeaders)
      .addSuccess(schemas.FeedPage)
      .middleware(Reading)
      .annotateContext(
        described(
          "The events of all sessions in one order, at least once: a page, or with `Accept: text/event-stream` the stored events and then new ones as they come, whose `id` is the position. With `Last-Event-ID`, it goes on behind that position",
        ),
      ),
  )

const service = HttpApiGroup.make("service")
  .add(
    HttpApiEndpoint.get("access", "/v1/access")
      .addSuccess(schemas.Access)
      .middleware(Reading)
      .annotateContext(described("What the caller may do")),
  )
  .add(
    HttpApiEndpoint.get("settings", "/v1/settings")
      .addSuccess(schemas.Settings)
      .middleware(Reading)
      .annotateContext(
        described("The strategy of the service and its settings, and what every strategy can be set to"),
      ),
  )
  .add(
    HttpApiEndpoint.put("changeSettings", "/v1/settings")
      .setPayload(schemas.SettingsChange)
      .addSuccess(schemas.Settings)
      .middleware(Writing)
      .annotateContext(described("Sets the strategy and its settings, for all requests that name none")),
  )
  .add(
    HttpApiEndpoint.get("health", "/health")
      .addSuccess(schemas.Health)
      .annotateContext(described("Whether the process answers")),
  )
  .add(
    HttpApiEndpoint.get("ready", "/ready")
      .addSuccess(schemas.Health)
      .annotateContext(described("Whether the store answers, and the service is not ending")),
  )

/**
 * The API of the service.
 *
 * @example
 * ```ts
 * import { OpenApi } from "@effect/platform"
 * import { api } from "@memfold/client/api"
 *
 * console.log(Object.keys(OpenApi.fromApi(api).paths))
 * ```
 */
export const api = HttpApi.make("memfold")
  .add(sessions)
  .add(owners)
  .add(governance)
  .add(conversation)
  .add(memory)
  .add(log)
  .add(service)
  .addError(Problems)
  .annotateContext(
    OpenApi.annotations({
      title: "memfold",
      version: "1",
      description:
        "Conversation memory for LLM applications. A session is a log; its context is what the model is sent. Errors are problem details (RFC 9457): `detail` says what to do.",
    }),
  )
