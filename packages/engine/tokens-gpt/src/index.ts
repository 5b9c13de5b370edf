/** Exact token counts for OpenAI's models, with gpt-tokenizer's vocabularies. */
import { OptionGroup, TokenCounter } from "@memfold/core"
import { Effect, Layer, Schema } from "effect"
import { piecesOf } from "./split.js"

/** `o200k_base` is the vocabulary of GPT-4o and later models, `cl100k_base` that of GPT-4 and GPT-3.5 Turbo. */
export type Encoding = "o200k_base" | "cl100k_base"

/** Options of {@link gpt} and {@link layer}. */
export interface Options {
  /** The vocabulary to count with; `o200k_base` by default. */
  readonly encoding?: Encoding
}

const argumentsOfGpt = {
  options: OptionGroup.nested({ encoding: Schema.Unknown }, 'an object like { encoding: "cl100k_base" }'),
}

type CountTokens = (text: string, options: { readonly disallowedSpecial: Set<string> }) => number

// Imported on demand: o200k_base takes half a second and 30 MB, cl100k_base half of that.
const encodings: Readonly<Record<Encoding, () => Promise<{ readonly countTokens: CountTokens }>>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
}

/** Nothing is disallowed: text that spells a special token, such as `<|endoftext|>`, is counted as plain text. */
const plainText = { disallowedSpecial: new Set<string>() }

/** How many UTF-16 code units are counted in a step, or as far as the next place goes where a text can be cut. */
const stepLength = 4_096

/**
 * Loads a vocabulary and returns a counter that uses it. The vocabulary is loaded once for all counters.
 *
 * The count is what gpt-tokenizer gives, for every text without a run of more than 512 letters, punctuation
 * characters or white space. A longer run, which ordinary text does not have, is counted in pieces, because
 * counting it whole takes time that grows with the square of its length. That changes its count by 0.1 % at most
 * in what was measured: repeated, random and rare characters.
 *
 * Special tokens in a text are counted as the plain text they are, and a lone surrogate as U+FFFD, which is what
 * it becomes in UTF-8. The count never throws.
 *
 * @throws RangeError if there is no such encoding, InvalidOption for other options (the promise rejects)
 *
 * @example
 * ```ts
 * import { gpt } from "@memfold/tokens-gpt"
 *
 * const counter = await gpt({ encoding: "o200k_base" })
 * console.log(counter.count("How many tokens is this?"))
 * ```
 */
export const gpt = async (options: Options = {}): Promise<TokenCounter.Service> => {
  OptionGroup.checkArguments("gpt", argumentsOfGpt, { options })
  const encoding = options.encoding ?? "o200k_base"
  if (!Object.hasOwn(encodings, encoding)) {
    throw new RangeError(`No encoding "${encoding}": use one of ${Object.keys(encodings).join(", ")}`)
  }
  const { countTokens } = await encodings[encoding]()
  const countPiece = (piece: string): number => countTokens(piece, plainText)
  return {
    name: encoding,
    count: (text) => {
      let tokens = 0
      for (const piece of piecesOf(text, stepLength)) tokens += countPiece(piece)
      return tokens
    },
    *countInSteps(text) {
      let tokens = 0
      for (const piece of piecesOf(text, stepLength)) {
        tokens += countPiece(piece)
        yield
      }
      return tokens
    },
  }
}

/**
 * Provides the counter of {@link gpt} in place of the estimate. The layer has no error: a vocabulary that
 * cannot be loaded is a defect.
 *
 * @example
 * ```ts
 * import { TokenCounter } from "@memfold/core"
 * import { layer } from "@memfold/tokens-gpt"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(TokenCounter.TokenCounter, (counter) => counter.count("How many tokens is this?"))
 * console.log(await Effect.runPromise(program.pipe(Effect.provide(layer()))))
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<TokenCounter.TokenCounter> =>
  Layer.effect(
    TokenCounter.TokenCounter,
    Effect.promise(() => gpt(options)),
  )
