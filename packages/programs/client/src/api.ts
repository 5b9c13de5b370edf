/**
 * The declaration of the service: its routes, what goes in and comes out, and which right each one needs. The service serves it,
 * the client is made from it, and the OpenAPI document and the page of documentation describe it.
 */
import { HttpApi, HttpApiEndpoint, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Problems } from "./problem.js"
import { problemsAlone } from "./problemsAlone.js"
import { erases, group, reads, readsAndWrites, under, writes } from "./route.js"
import * as schemas from "./schemas.js"

export { isProblem, problem, type Problem, Problems, type Status, statuses } from "./problem.js"
export { Begins, Caller, Erasing, Reading, type Right, Writing } from "./route.js"
export * as schemas from "./schemas.js"
export { wrongIn } from "./wrong.js"

const format = Schema.Struct(schemas.inFormat)

const all = under<never>("/v1")
const consumers = under("/v1/feed/groups/:group", schemas.GroupPath)
const letter = under("/v1/feed/groups/:group/given-up/:id", schemas.GivenUpPath)
const session = under("/v1/sessions/:session", schemas.Session)
const owner = under("/v1/owners/:owner", schemas.OwnerPath)
const fact = under("/v1/sessions/:session/facts/:fact", schemas.FactPath)

const sessions = group("sessions", [
  reads("GET", "list", all("/sessions"), {
    query: schemas.ListQuery,
    answer: schemas.SessionPage,
    about: "The sessions, page by page",
  }),
  reads("GET", "session", session(), {
    headers: schemas.ReadHeaders,
    answer: schemas.SessionOverview,
    about: "What a session consists of now",
  }),
  reads("GET", "spend", session("/spend"), {
    answer: schemas.SpentToday,
    about:
      "What summaries, facts and vectors have cost today, of each cap that holds for the session. A tenant does not see the cap of all together",
  }),
  writes("PATCH", "describe", session(), {
    body: schemas.Description,
    answer: schemas.SessionOverview,
    begins: "session",
    about: "Sets or removes the owner and the title",
  }),
  erases("DELETE", "delete", session(), {
    answer: schemas.Deleted,
    about: "Deletes a session with its log",
  }),
  writes("POST", "fork", session("/fork"), {
    body: schemas.Fork,
    answer: schemas.Forked,
    status: 201,
    begins: "to",
    about: "Starts a new session as a copy",
  }),
  reads("POST", "recallOf", all("/recall"), {
    query: format,
    body: schemas.OwnerRecall,
    answer: schemas.OwnerRecalled,
    about: "Searches all sessions of an owner",
  }),
])

const owners = group("owners", [
  reads("GET", "eventsOf", owner("/events"), {
    answer: HttpApiSchema.Text({ contentType: "application/x-ndjson" }),
    about:
      'Every event of an owner, one a line as JSON. The last line is `{"complete":true}`, or a problem if not all could be read',
  }),
  erases("DELETE", "deleteOf", owner(), {
    answer: schemas.OwnerDeleted,
    about: "Deletes everything of an owner: all sessions with their logs, and what was learned in them",
  }),
])

const governance = group("governance", [
  reads("GET", "audit", session("/audit"), {
    answer: schemas.Audit,
    about: "Who did what with a session. It has no text, and still answers once the session is erased",
  }),
  reads("GET", "auditOf", owner("/audit"), {
    answer: schemas.Audit,
    about: "Who did what with an owner, and with each session of the owner",
  }),
  erases("POST", "erase", owner("/erase"), {
    body: schemas.Erase,
    answer: schemas.Receipt,
    about:
      "Takes the keys of an owner out of use at once, and destroys them later: no copy of the store can be read then. Answers with the receipt",
  }),
  erases("POST", "restore", owner("/restore"), {
    body: schemas.RestoreOwner,
    answer: schemas.RestoredOwner,
    about: "Takes an erasure back whose keys are not destroyed",
  }),
  erases("PUT", "hold", session("/hold"), {
    body: schemas.Hold,
    answer: schemas.Hold,
    about: "Holds a session: nothing erases, deletes, archives or redacts it. `null` ends the hold",
  }),
  erases("PUT", "holdOf", owner("/hold"), {
    body: schemas.Hold,
    answer: schemas.Hold,
    about: "Holds an owner, or ends the hold",
  }),
])

const conversation = group("conversation", [
  writes("POST", "append", session("/messages"), {
    query: format,
    headers: schemas.WriteHeaders,
    body: schemas.Append,
    answer: schemas.Appended,
    status: 201,
    begins: "session",
    about:
      "Appends messages, all or none; the first append starts the session. Answers once they are durable",
  }),
  reads("GET", "messages", session("/messages"), {
    query: schemas.PageQuery,
    headers: schemas.ReadHeaders,
    answer: schemas.MessagePage,
    about: "The conversation as it was said, page by page from its end",
  }),
  writes("PUT", "replace", session("/messages"), {
    query: format,
    headers: schemas.KeyHeaders,
    body: schemas.Replace,
    answer: schemas.Rewritten,
    begins: "session",
    about:
      "What the conversation is to consist of. What is new is appended; where it differs, it goes on as a branch",
  }),
  reads("GET", "context", session("/context"), {
    query: schemas.ContextQuery,
    headers: schemas.ReadHeaders,
    answer: schemas.Context,
    about: "The messages to send to the model",
  }),
  writes("POST", "edit", session("/edit"), {
    query: format,
    headers: schemas.WriteHeaders,
    body: schemas.Edit,
    answer: schemas.Edited,
    about: "Goes on from an earlier place with other messages, as a branch",
  }),
  writes("POST", "regenerate", session("/regenerate"), {
    headers: schemas.WriteHeaders,
    body: schemas.Regenerate,
    answer: schemas.Edited,
    about: "Goes back to before an answer",
  }),
  reads("GET", "branches", session("/branches"), {
    answer: schemas.Branches,
    about: "The branch in force, and the branches that were left, newest first",
  }),
  writes("POST", "checkout", session("/checkout"), {
    body: schemas.Checkout,
    answer: schemas.Edited,
    about: "Returns to a branch that was left",
  }),
  writes("POST", "undo", session("/undo"), {
    body: schemas.Undo,
    answer: schemas.Undone,
    about: "Takes back the newest compaction, edit, regeneration, checkout or clear",
  }),
  writes("POST", "clear", session("/clear"), {
    answer: schemas.SessionOverview,
    about: "Starts the session over; the log keeps what was said",
  }),
  erases("POST", "redact", session("/redact"), {
    body: schemas.Redact,
    answer: schemas.Redacted,
    about: "Erases the text of a message from the store",
  }),
])

const memory = group("memory", [
  reads("POST", "recall", session("/recall"), {
    query: format,
    body: schemas.Recall,
    answer: schemas.Recalled,
    about: "Searches the messages of a session",
  }),
  reads("GET", "summaries", session("/summaries"), {
    answer: Schema.Struct({ summaries: Schema.Array(schemas.Summary) }),
    about: "Every summary that the session ever had, oldest first",
  }),
  writes("POST", "compact", session("/compact"), {
    body: schemas.Compact,
    answer: schemas.Compacted,
    about: "Runs compactions, whether they are due or not",
  }),
  reads("GET", "timeline", session("/timeline"), {
    headers: schemas.ReadHeaders,
    answer: schemas.Timeline,
    about: "Every version with the size of its context, and every compaction with what became of it",
  }),
  reads("POST", "compare", session("/compare"), {
    body: schemas.Compare,
    answer: schemas.Compared,
    about:
      "The session under a strategy, call by call: the size of the context, the cost, and what of needed identifiers was there. With `Accept: application/x-ndjson`, lines say how many messages are done, and the last one has the `answer`, or is a problem",
  }),
  reads("POST", "trace", session("/trace"), {
    body: schemas.TraceRequest,
    answer: schemas.Trace,
    about: "Which messages each sentence of a summary, or of a text, rests on",
  }),
  reads(
    "GET",
    "traceMessage",
    { path: "/v1/sessions/:session/messages/:message/trace", schema: schemas.MessagePath },
    {
      answer: Schema.Struct({ summaries: Schema.Array(schemas.TracedSummary) }),
      about: "The summaries that cover a message, with the sentences that rest on it",
    },
  ),
  reads("POST", "preview", session("/preview"), {
    body: schemas.Preview,
    answer: schemas.Previewed,
    about:
      "What `compact` would do, with the contexts before and behind it; nothing is written. With `Accept: application/x-ndjson`, lines say how many messages are done, and the last one has the `answer`, or is a problem",
  }),
  writes("POST", "revert", session("/revert"), {
    body: schemas.Revert,
    answer: schemas.Reverted,
    begins: "session",
    about: "Takes compactions back",
  }),
  reads("GET", "facts", session("/facts"), {
    query: schemas.FactsQuery,
    answer: schemas.Facts,
    about:
      "The facts about the user and the scope that are true, with their quotes; none without memory layers",
  }),
  reads("GET", "factsOf", owner("/facts"), {
    query: schemas.FactsQuery,
    answer: schemas.Facts,
    about: "The facts about an owner that are true, of all sessions",
  }),
  writes("DELETE", "removeFact", fact(""), {
    query: schemas.RemoveFactQuery,
    answer: schemas.Deleted,
    about: "Removes a fact that is wrong, or over",
  }),
  erases("POST", "redactFact", fact("/redact"), {
    answer: schemas.Deleted,
    about: "Erases the text of a fact that must not be known from the store",
  }),
  writes("POST", "confirmFact", fact("/confirm"), {
    answer: schemas.FactConfirmed,
    about: "Notes that somebody has judged a fact to be true",
  }),
  writes("POST", "revertFact", fact("/revert"), {
    answer: schemas.FactReverted,
    about: "Takes back the newest end or retraction of a fact",
  }),
  writes("POST", "rebuildFacts", owner("/facts/rebuild"), {
    query: schemas.RebuiltQuery,
    answer: schemas.FactsRebuilt,
    about: "Learns the facts of an owner anew, by the extractor of the service, beside those in force",
  }),
  reads("GET", "diffFacts", owner("/facts/rebuild"), {
    query: schemas.RebuiltQuery,
    answer: schemas.FactsDiff,
    about: "What would change if the facts that were learned anew were taken",
  }),
  writes("POST", "takeFacts", owner("/facts/rebuild/take"), {
    query: schemas.RebuiltQuery,
    answer: schemas.RebuildTaken,
    about: "Puts the facts that were learned anew in the place of those in force",
  }),
  writes("DELETE", "dropFacts", owner("/facts/rebuild"), {
    query: schemas.RebuiltQuery,
    answer: schemas.RebuildDropped,
    about: "Drops the facts that were learned anew; those in force stay",
  }),
  reads("GET", "tools", all("/tools"), {
    answer: schemas.Tools,
    about: "Tools of recall for the model, in the formats of the providers",
  }),
  reads("POST", "callTool", session("/tools"), {
    body: schemas.ToolCall,
    answer: schemas.ToolResult,
    about: "Answers a call of one of these tools",
  }),
])

const log = group("log", [
  reads("GET", "events", session("/events"), {
    query: schemas.EventQuery,
    answer: schemas.EventPage,
    about: "The events of a session",
  }),
  reads("GET", "changes", session("/changes"), {
    query: Schema.Struct({ fromVersion: schemas.EventQuery.fields.fromVersion }),
    headers: schemas.ChangesHeaders,
    answer: HttpApiSchema.Text({ contentType: "text/event-stream" }),
    about:
      "Server-sent events: the stored events and then new ones as they come. `id` names an event, `event` its type, `data` is the event. With `Last-Event-ID`, the stream goes on where it stopped",
  }),
  reads("GET", "feed", all("/feed"), {
    query: schemas.FeedQuery,
    headers: schemas.ChangesHeaders,
    answer: schemas.FeedPage,
    about:
      "The events of all sessions in one order, at least once: a page, or with `Accept: text/event-stream` the stored events and then new ones as they come, whose `id` is the position. With `Last-Event-ID`, it goes on behind that position",
  }),
  readsAndWrites("POST", "consume", consumers(), {
    body: schemas.Consume,
    answer: schemas.Consumed,
    begins: "group",
    about:
      "The feed for one of a group of consumers. The service keeps how far the group has come; one consumer has its turn at a time, and another one takes over when it ends, or asks for nothing for as long as its lease. Who has lost its turn is told so with 409",
  }),
  reads("GET", "givenUp", consumers("/given-up"), {
    query: schemas.GivenUpQuery,
    answer: schemas.GivenUp,
    about: "The events that a group has given up, the oldest first",
  }),
  writes("DELETE", "deleteGivenUp", letter(), {
    answer: schemas.Deleted,
    about: "Takes an event, by its `id`, from the list of what a group has given up: it was delivered",
  }),
  writes("DELETE", "deleteGroup", consumers(), {
    answer: schemas.Deleted,
    about: "Deletes a group: how far it has come, and what it has given up. A group of this name begins anew",
  }),
])

const service = group("service", [
  reads("GET", "access", all("/access"), {
    answer: schemas.Access,
    about: "What the caller may do",
  }),
  reads("GET", "settings", all("/settings"), {
    answer: schemas.Settings,
    about: "The strategy of the service and its settings, and what every strategy can be set to",
  }),
  writes("PUT", "changeSettings", all("/settings"), {
    body: schemas.SettingsChange,
    answer: schemas.Settings,
    about: "Sets the strategy and its settings, for all requests that name none",
  }),
])
  .add(
    HttpApiEndpoint.get("health", "/health")
      .addSuccess(schemas.Health)
      .annotateContext(OpenApi.annotations({ description: "Whether the process answers" })),
  )
  .add(
    HttpApiEndpoint.get("ready", "/ready")
      .addSuccess(schemas.Health)
      .annotateContext(
        OpenApi.annotations({ description: "Whether the store answers, and the service is not ending" }),
      ),
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
      transform: problemsAlone,
    }),
  )
