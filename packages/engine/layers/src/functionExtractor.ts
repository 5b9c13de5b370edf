/** An extractor of a plain function. */
import { MemoryLayers, type Message, OptionGroup } from "@memfold/core"
import { Effect, Schema } from "effect"
import type { Extractor, NewFact } from "./Extractor.js"
import { failing } from "./failing.js"

/** What a function is given: a batch of messages as texts, the facts that are known, and of which session they are. */
export interface FunctionMaterial {
  readonly session: string
  readonly messages: ReadonlyArray<{
    readonly role: Message.Role
    readonly text: string
    readonly index: number
  }>
  readonly known: ReadonlyArray<MemoryLayers.FactInTime>
}

/** A fact as a function finds it. */
export type FunctionFact = NewFact

const { Callable, checkArguments, nested, option } = OptionGroup

const extraction = option(Callable, "a function that returns facts")

const extractorOptions = nested(
  {
    name: option(Schema.String, "a text"),
    version: option(Schema.String, "a text"),
    isFree: option(Schema.Boolean, "true or false"),
  },
  'an object like { name: "mine" }',
)

/**
 * Makes an extractor of a function, which may be asynchronous. What it throws is not shown or logged.
 *
 * @param extract - finds facts in a batch of messages
 * @param options - `name` and `version`, which facts have; `isFree`: it costs nothing, and is asked at each turn
 *   and not in batches
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { functionExtractor } from "@memfold/layers"
 *
 * const diets = functionExtractor(({ messages }) =>
 *   messages.flatMap(({ role, text }) =>
 *     role === "user" && text.includes("I am vegan")
 *       ? [{ predicate: "diet", value: "vegan", quote: "I am vegan" }]
 *       : [],
 *   ),
 * )
 * console.log(diets.name) // function
 * ```
 */
export const functionExtractor = (
  extract: (material: FunctionMaterial) => ReadonlyArray<FunctionFact> | Promise<ReadonlyArray<FunctionFact>>,
  options: Partial<Pick<Extractor, "name" | "version" | "isFree">> = {},
): Extractor => {
  checkArguments(
    "functionExtractor",
    { extract: extraction, options: extractorOptions },
    { extract, options },
  )
  const { name = "function", version, isFree = false } = options
  return {
    name,
    version,
    isFree,
    learnAt: isFree ? "turn" : "compaction",
    extract: ({ state, from, messages, known }) =>
      Effect.tryPromise({
        try: async () =>
          extract({
            session: state.session,
            messages: messages.map((message, position) => ({
              role: message.role,
              text: MemoryLayers.readIn(message),
              index: from + position,
            })),
            known,
          }),
        catch: () => failing(state.session, "learn")(`the extractor "${name}" threw an error`),
      }),
  }
}
