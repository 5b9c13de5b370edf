/**
 * Prices of models, as data with a date. Prices change: take today's prices from your provider, and give them to whatever
 * asks for prices.
 */
import { Schema } from "effect"

const Price = Schema.Number.pipe(Schema.finite(), Schema.nonNegative())

/**
 * What a model costs, in dollars for a million tokens, and how long its prompt cache lives.
 *
 * - `input`: prompt tokens that are neither read from the cache nor written to it
 * - `cached`: prompt tokens read from the cache
 * - `cacheWrite`: prompt tokens written to the cache; what `input` costs if a provider charges nothing more for it
 * - `output`: tokens that the model writes
 * - `cacheMinutes`: how long the cache lives after a call, in minutes
 * - `cacheUnit`: what the cache keeps: whole messages, up to a mark behind one of them, or any leading tokens. Where it keeps
 *   whole messages, a summary that grows at its end is written anew each time
 * - `asOf`: the day on which somebody looked at the source, as `2026-11-22`
 * - `source`: where the prices are from
 */
export const Prices = Schema.Struct({
  model: Schema.String,
  input: Price,
  cached: Price,
  cacheWrite: Price,
  output: Price,
  cacheMinutes: Price,
  cacheUnit: Schema.Literal("message", "token"),
  asOf: Schema.String,
  source: Schema.String,
})
export type Prices = typeof Prices.Type

/** The prices of some models, each as of its day. */
export const presets = {
  "claude-sonnet-5.5": {
    model: "Claude Sonnet 5.5",
    input: 2,
    cached: 0.1,
    cacheWrite: 2.5,
    output: 10,
    cacheMinutes: 5,
    cacheUnit: "message",
    asOf: "2026-10-24",
    source: "claudit 1.9.2",
  },
  "claude-sonnet-5.5-1h": {
    model: "Claude Sonnet 5.5, cache of an hour",
    input: 2,
    cached: 0.1,
    cacheWrite: 4,
    output: 10,
    cacheMinutes: 60,
    cacheUnit: "message",
    asOf: "2026-10-24",
    source: "claudit 1.9.2",
  },
  "claude-sonnet-5": {
    model: "Claude Sonnet 5",
    input: 2,
    cached: 0.2,
    cacheWrite: 2.5,
    output: 10,
    cacheMinutes: 5,
    cacheUnit: "message",
    asOf: "2026-11-22",
    source: "as Claude Sonnet 5.5, but 0.20 for a cached token",
  },
  "claude-opus-5.5": {
    model: "Claude Opus 5.5",
    input: 4,
    cached: 0.2,
    cacheWrite: 5,
    output: 20,
    cacheMinutes: 5,
    cacheUnit: "message",
    asOf: "2026-11-22",
    source: "Anthropic's models page, an undated copy",
  },
  "gpt-6.2-sol": {
    model: "GPT-6.2 Sol, up to 272K",
    input: 2,
    cached: 0.1,
    cacheWrite: 2.5,
    output: 10,
    cacheMinutes: 5,
    cacheUnit: "token",
    asOf: "2026-11-17",
    source: "OpenAI's model page; the lifetime of the cache is assumed",
  },
  "gemini-3.8-flash": {
    model: "Gemini 3.8 Flash",
    input: 0.75,
    cached: 0.075,
    cacheWrite: 0.75,
    output: 3.75,
    cacheMinutes: 5,
    cacheUnit: "token",
    asOf: "2026-11-22",
    source: "litellm#39357; doubles on 2027-01-01; the lifetime of the cache is assumed",
  },
} as const satisfies Readonly<Record<string, Prices>>

/** The name of a preset. */
export type PresetName = keyof typeof presets
