/** The extractor that asks a language model through one function, for any provider and library. */
import { type MemoryLayers, type Message, OptionGroup, type Prompt } from "@memfold/core"
import { Cause, Effect, Either, Schema } from "effect"
import type { Extractor, Found } from "../Extractor.js"
import { failing } from "../failing.js"
import { factsIn } from "./answer.js"
import { answerSchema, askedInContext, promptFor, sizeOf } from "./prompt.js"

/**
 * A prompt that asks for facts.
 *
 * - `schema`: the JSON Schema of the answer
 * - `inContext`: the newest context of the session with the question at its end, for a model that the conversation asks as well: its
 *   provider reads the context from its prompt cache. `null` where the context does not show all that is to be read. Missing
 *   where there is no context. `lastCallTime` is when a model has answered last, in milliseconds since the epoch
 */
export interface FactsPrompt extends Prompt.Prompt {
  readonly schema: object
  readonly inContext?: {
    readonly lastCallTime: number | null
    readonly messages: Effect.Effect<ReadonlyArray<Message.Message> | null>
  }
}

/** An answer of a model: JSON as a text or as a value, and the tokens that it took. */
export interface FactsAnswer {
  readonly answer: unknown
  readonly usage?: MemoryLayers.Learned["usage"] | undefined
}

/**
 * - `ask`: sends a prompt to a model and returns the text of the response, or the answer and what it cost. Its errors are not shown
 *   or logged, because a provider's error may repeat the prompt.
 * - `name`: for logs and error texts, and in facts; "model" by default
 * - `version`: changes with the model or the instructions; "1" by default
 * - `instructions`: added to every prompt, for example what matters in your field
 * - `maxCharacters`: UTF-16 units of conversation in one prompt; at least 1,000, by default 60,000 (about
 *   15,000 tokens of English). Longer material takes several prompts, one after the other.
 */
export interface ModelOptions {
  readonly ask: (prompt: FactsPrompt) => Effect.Effect<string | FactsAnswer, unknown>
  readonly name?: string
  readonly version?: string
  readonly instructions?: string
  readonly maxCharacters?: number
}

const text = OptionGroup.option(Schema.String, "a text")

const modelOptions = {
  ask: OptionGroup.option(OptionGroup.Callable, "a function that asks a model"),
  name: text,
  version: text,
  instructions: text,
  maxCharacters: Schema.Unknown,
} satisfies Record<keyof ModelOptions, Schema.Schema.AnyNoContext>

/** At most this many known facts of a layer are in the prompt, the newest. */
const mostKnown = 100

/** The facts the model may update. A digest never changes: its turn is over. */
const updatable = (known: ReadonlyArray<MemoryLayers.FactInTime>): ReadonlyArray<MemoryLayers.FactInTime> =>
  (["user", "scope"] as const).flatMap((layer) =>
    known.filter((fact) => fact.layer === layer && fact.kind !== "digest").slice(-mostKnown),
  )

interface Batch {
  readonly from: number
  readonly messages: Array<Message.Message>
  size: number
}

/** The messages in batches that fit into a prompt, cut before a user message if possible. */
const batches = (
  messages: ReadonlyArray<Message.Message>,
  from: number,
  limit: number,
): ReadonlyArray<Batch> => {
  const found: Array<Batch> = []
  messages.forEach((message, position) => {
    const size = sizeOf(message)
    const last = found.at(-1)
    const fits = last !== undefined && last.size + size <= limit
    const breaks = last !== undefined && message.role === "user" && last.size > limit / 2
    if (!fits || breaks) found.push({ from: from + position, messages: [message], size })
    else {
      last.messages.push(message)
      last.size += size
    }
  })
  return found
}

/** What several prompts have found. What one of them cost that is not known, all together are not known to cost. */
const together = (found: ReadonlyArray<Found>): Found => ({
  facts: found.flatMap(({ facts }) => facts),
  usage: found.reduce<Found["usage"]>(
    (sum, { usage }) => sum && usage && { input: sum.input + usage.input, output: sum.output + usage.output },
    { input: 0, output: 0 },
  ),
})

/** The `_tag` of an error, the only part of it that is safe to show. */
const tagOf = (error: unknown): string => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined
  return typeof tag === "string" && /^[A-Za-z]\w{0,60}$/.test(tag) ? ` (${tag})` : ""
}

/**
 * Finds facts by asking a model. The prompt marks the conversation as data and contains the facts known so far, which
 * the model may update by their keys. A response in any other form than the requested JSON is a `LayersError` without
 * any text of it, and the turns are tried again with the next one. Batches of system messages alone are skipped.
 *
 * @throws RangeError: `maxCharacters` is out of range
 * @throws InvalidOption: another option is unknown, or not allowed
 *
 * @example
 * ```ts
 * import { layer, modelExtractor } from "@memfold/layers"
 * import { Effect } from "effect"
 *
 * const extractor = modelExtractor({
 *   ask: ({ system, user }) =>
 *     Effect.tryPromise(async () => {
 *       const response = await fetch("http://localhost:11434/api/chat", {
 *         method: "POST",
 *         body: JSON.stringify({
 *           model: "llama3.2",
 *           stream: false,
 *           format: "json",
 *           messages: [
 *             { role: "system", content: system },
 *             { role: "user", content: user },
 *           ],
 *         }),
 *       })
 *       const { message } = (await response.json()) as { message: { content: string } }
 *       return message.content
 *     }),
 * })
 * const layers = layer({ extractor })
 * ```
 */
export const modelExtractor = (options: ModelOptions): Extractor => {
  OptionGroup.check(modelOptions, { ...options, ask: options?.ask ?? null })
  const { ask, instructions, name = "model", version, maxCharacters = 60_000 } = options
  if (!Number.isSafeInteger(maxCharacters) || maxCharacters < 1_000) {
    throw new RangeError("maxCharacters has to be a whole number, 1,000 or more")
  }
  return {
    name,
    version,
    learnAt: "compaction",
    extract: ({
      state,
      from,
      messages,
      known,
      declared,
      context,
    }): Effect.Effect<Found, MemoryLayers.LayersError> => {
      const fail = failing(state.session, "learn")
      const schema = answerSchema(declared)
      const worth = batches(messages, from, maxCharacters).filter((batch) =>
        batch.messages.some(({ role }) => role !== "system"),
      )
      const told = { instructions, declared }
      const inContext =
        context === undefined || worth.length !== 1
          ? {}
          : {
              inContext: {
                lastCallTime: state.lastModelCallTime,
                messages: Effect.map(context, (shown) =>
                  askedInContext(shown, worth[0]!.messages, updatable(known), told),
                ),
              },
            }
      const askAbout = (batch: Batch): Effect.Effect<Found, MemoryLayers.LayersError> =>
        Effect.suspend(() =>
          ask({ ...promptFor(batch.messages, updatable(known), told), schema, ...inContext }),
        ).pipe(
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause)
              ? Effect.interrupt
              : fail(
                  `the model could not be asked${tagOf(Cause.squash(cause))}; the turns are tried again with the next one`,
                ),
          ),
          Effect.map((given): FactsAnswer =>
            typeof given === "object" && given !== null && "answer" in given ? given : { answer: given },
          ),
          Effect.flatMap(({ answer, usage }) =>
            Either.match(factsIn(answer), {
              onLeft: () =>
                fail(
                  "the model's response is not the JSON that was asked for; a larger model, or the provider's JSON mode, may help",
                ),
              onRight: (facts) => Effect.succeed({ facts, usage }),
            }),
          ),
        )
      return Effect.map(Effect.forEach(worth, askAbout), together)
    },
  }
}
