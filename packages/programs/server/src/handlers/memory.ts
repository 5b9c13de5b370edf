/** The handlers of what the memory makes of a conversation: summaries, recall, facts. */
import { HttpApiBuilder } from "@effect/platform"
import { summarizerOf } from "@memfold/catalog"
import { api, problem, schemas } from "@memfold/client/api"
import { type CompactionOutcome, type Memory, Recall, type Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { comparison } from "../comparison.js"
import { previewed } from "../previewed.js"
import { encoded, formatOf, given, tagOf } from "../requests.js"
import type { TenantMemory } from "../TenantMemory.js"
import { notModified, type Serving, tagged, existing, using } from "./operation.js"
import { progressed, type Tell } from "./progressed.js"

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

const extractive = summarizerOf("extractive")

/** Writes the summaries of previews, unless the summarizer of the service is asked for, and tells up to where messages are summarized. */
const writerOf = (
  asked: (typeof schemas.Preview.Type)["summarizer"],
  tell: Tell,
): Summarizer.Service | undefined =>
  asked === "own"
    ? undefined
    : {
        ...extractive,
        summarize: (request) => Effect.suspend(() => (tell(request.from), extractive.summarize(request))),
      }

/** What a request would compact. */
const previewOf = (
  memory: TenantMemory,
  session: string,
  { format, which, instructions, takeOver, summarizer }: typeof schemas.Preview.Type,
  { asked, tell }: { readonly asked: Memory.PreviewOptions; readonly tell: Tell },
) =>
  Effect.gen(function* () {
    const written = { which, instructions, takeOver, summarizer: writerOf(summarizer, tell) }
    const preview = yield* memory.preview(session, { ...asked, ...given(written) })
    yield* tagged(preview.version)
    return yield* previewed(preview, formatOf({ format }))
  })

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

/** Which facts a query asks for. */
const queried = ({ at, asOfVersion }: typeof schemas.FactsQuery.Type) => ({
  at: at === "always" ? null : at,
  asOfVersion,
})

export const memory = (serving: Serving) =>
  HttpApiBuilder.group(api, "memory", (handlers) => {
    const { run, runGen, requested } = using(serving)
    return handlers
      .handle("recall", ({ path: { session }, urlParams, payload }) =>
        runGen(function* (memory) {
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
      )
      .handle("summaries", ({ path: { session } }) =>
        run((memory) => Effect.bindTo(memory.summaries(session), "summaries")),
      )
      .handle("compact", ({ path: { session }, payload }) =>
        runGen(function* (memory) {
          const { which = "next", instructions, takeOver } = payload
          const options = yield* requested(payload)
          const outcomes =
            which === "next"
              ? [yield* memory.compact(session, { ...options, ...given({ instructions, takeOver }) })]
              : yield* memory.compact(session, { ...options, which })
          return { outcomes: outcomes.map(outcomeOf) }
        }),
      )
      .handle("timeline", ({ path: { session }, headers }) =>
        runGen(function* (memory) {
          const { version } = yield* existing(memory, session)
          yield* tagged(version)
          return headers["if-none-match"] === tagOf(version) ? notModified : yield* memory.timeline(session)
        }),
      )
      .handle("compare", ({ path: { session }, payload }) =>
        run((memory, tenant) =>
          Effect.flatMap(existing(memory, session), ({ total }) =>
            progressed(serving, tenant, schemas.Compared, total, (tell) =>
              comparison(memory, session, payload, { ...serving.settings.current(), tell }),
            ),
          ),
        ),
      )
      .handle("trace", ({ path: { session }, payload }) =>
        runGen(function* (memory) {
          const { text, summary } = payload
          if (summary !== undefined && text === undefined) return yield* memory.trace(session, { summary })
          if (text !== undefined && summary === undefined) return yield* memory.trace(session, text)
          return yield* Effect.fail(
            problem(400, "InvalidInput", "Give `text` or `summary`, one of them", session),
          )
        }),
      )
      .handle("traceMessage", ({ path: { session, message } }) =>
        run((memory) => Effect.bindTo(memory.traceMessage(session, message), "summaries")),
      )
      .handle("preview", ({ path: { session }, payload }) =>
        run((memory, tenant) =>
          Effect.flatMap(memory.state(session), ({ total }) =>
            progressed(serving, tenant, schemas.Previewed, total, (tell) =>
              Effect.flatMap(requested(payload), (asked) =>
                previewOf(memory, session, payload, { asked, tell }),
              ),
            ),
          ),
        ),
      )
      .handle("revert", ({ path: { session }, payload }) =>
        run((memory) => Effect.bindTo(memory.revert(session, given(payload)), "reverted")),
      )
      .handle("facts", ({ path: { session }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.facts(session, queried(urlParams)), "facts")),
      )
      .handle("factsOf", ({ path: { owner }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.factsOf(owner, queried(urlParams)), "facts")),
      )
      .handle("removeFact", ({ path: { session, fact }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.removeFact(session, fact, given(urlParams)), "deleted")),
      )
      .handle("redactFact", ({ path: { session, fact } }) =>
        run((memory) => Effect.bindTo(memory.removeFact(session, fact, { as: "redacted" }), "deleted")),
      )
      .handle("confirmFact", ({ path: { session, fact } }) =>
        run((memory) => Effect.bindTo(memory.confirmFact(session, fact), "confirmed")),
      )
      .handle("revertFact", ({ path: { session, fact } }) =>
        run((memory) => Effect.bindTo(memory.revertFact(session, fact), "reverted")),
      )
      .handle("rebuildFacts", ({ path: { owner }, urlParams }) =>
        run((memory) =>
          // Whoever may write need not be able to read.
          Effect.map(memory.rebuildFacts(owner, given(urlParams)), ({ come, go, change }) => ({
            come: come.length,
            go: go.length,
            change: change.length,
          })),
        ),
      )
      .handle("diffFacts", ({ path: { owner }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.diffFacts(owner, given(urlParams)), "diff")),
      )
      .handle("takeFacts", ({ path: { owner }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.takeFacts(owner, given(urlParams)), "taken")),
      )
      .handle("dropFacts", ({ path: { owner }, urlParams }) =>
        run((memory) => Effect.bindTo(memory.dropFacts(owner, given(urlParams)), "dropped")),
      )
      .handle("tools", () => Effect.succeed(tools))
      .handle("callTool", ({ path: { session }, payload: { name, tokens, ...request } }) =>
        runGen(function* (memory) {
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
      )
  })
