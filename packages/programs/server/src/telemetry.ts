/**
 * Traces and metrics for an OpenTelemetry collector, by OTLP over HTTP. They have what was done, how long it took and how large it was,
 * and nothing of what was said: of the attributes, only known ones are sent.
 */
import * as Otlp from "@effect/opentelemetry/OtlpTracer"
import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import { FetchHttpClient } from "@effect/platform"
import { summarizers } from "@memfold/catalog"
import { type Summarizer, TokenCounter } from "@memfold/core"
import { Effect, Layer, type Scope, Tracer } from "effect"
import type { HttpClient } from "@effect/platform"
import { withoutSlashes } from "@memfold/proxy"
import type { ServeOptions } from "./options.js"

/** The attributes that are sent, besides those of the GenAI conventions. No header and no query is among them. */
const sent: ReadonlySet<string> = new Set([
  "session",
  "summarizer",
  "error.type",
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "url.path",
])

const isSent = (key: string): boolean => sent.has(key) || key.startsWith("gen_ai.")

/** A tracer whose spans take only attributes that are sent. */
const guarded = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (...options) => {
      const span = tracer.span(...options)
      const attribute = span.attribute.bind(span)
      span.attribute = (key, value) => {
        if (isSent(key)) attribute(key, value)
      }
      return span
    },
    context: (run, fiber) => tracer.context(run, fiber),
  })

const guardedTracer = (
  options: Parameters<typeof Otlp.make>[0],
): Effect.Effect<
  Tracer.Tracer,
  never,
  HttpClient.HttpClient | OtlpSerialization.OtlpSerialization | Scope.Scope
> => Effect.map(Otlp.make(options), guarded)

/** Where a signal is sent: `http://127.0.0.1:4318` has it at `/v1/traces`. */
const urlOf = (url: string, signal: string): string => `${withoutSlashes(url)}/v1/${signal}`

/** Sends traces and metrics, if a collector is named. What is left is sent when the service ends. */
export const telemetry = ({ otlp }: ServeOptions): Layer.Layer<never> => {
  if (otlp === undefined) return Layer.empty
  const { url, headers, serviceName = "memfold" } = otlp
  const common = { resource: { serviceName }, headers, shutdownTimeout: "3 seconds" } as const
  const traces = Layer.unwrapScoped(
    Effect.map(guardedTracer({ ...common, url: urlOf(url, "traces") }), Layer.setTracer),
  )
  const metrics = OtlpMetrics.layer({ ...common, url: urlOf(url, "metrics") })
  return Layer.mergeAll(traces, metrics).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(FetchHttpClient.layer),
  )
}

/** What a call is by the GenAI conventions: a summarizer that is no model asks no provider. */
const attributesOf = ({ name }: Summarizer.Service, { session, replacesTokens }: Summarizer.Request) => ({
  "gen_ai.operation.name": summarizers.has(name) ? "summarize" : "chat",
  "gen_ai.provider.name": summarizers.has(name) ? "memfold" : name,
  "gen_ai.request.model": name,
  "gen_ai.output.type": "text",
  "gen_ai.conversation.id": session,
  "gen_ai.usage.input_tokens": replacesTokens,
})

/**
 * A summarizer whose calls are spans by the GenAI conventions, without the prompt and the text. The tokens are those of the text that is
 * replaced and of the summary, by memfold's estimate: a summarizer does not say what its provider counted.
 */
export const tracedSummarizer = (summarizer: Summarizer.Service): Summarizer.Service => ({
  ...summarizer,
  summarize: (request) =>
    Effect.suspend(() => summarizer.summarize(request)).pipe(
      Effect.tap(({ text, finish = "stop" }) =>
        Effect.annotateCurrentSpan({
          "gen_ai.usage.output_tokens": TokenCounter.estimating.count(text),
          "gen_ai.response.finish_reasons": [finish],
        }),
      ),
      Effect.tapError(({ reason }) => Effect.annotateCurrentSpan("error.type", reason)),
      Effect.withSpan(`${summarizers.has(summarizer.name) ? "summarize" : "chat"} ${summarizer.name}`, {
        kind: "client",
        attributes: attributesOf(summarizer, request),
        captureStackTrace: false,
      }),
    ),
  ...(summarizer.fallback === undefined ? {} : { fallback: tracedSummarizer(summarizer.fallback) }),
})
