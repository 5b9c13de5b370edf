/** Facts that an application declares: a schema for each predicate, which says what an extractor may find and what a reader gets. */
import { type MemoryLayers, OptionGroup } from "@memfold/core"
import { Effect, JSONSchema, Predicate, Schema } from "effect"

/** A schema of any library that follows Standard Schema: Zod, Valibot, ArkType, Effect Schema by `Schema.standardSchemaV1`. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a schema says of a value. */
export type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> }

/** A schema that a declaration takes. */
export type AnySchema<Output> =
  | StandardSchema<unknown, Output>
  | (Schema.Schema.AnyNoContext & { readonly Type: Output })

/** What is said of one predicate. */
export interface FactOptions<Output> {
  /** What the value has to be, in JSON: a Standard Schema, or a schema of Effect. */
  readonly schema: AnySchema<Output>
  /** Whether the subject has one value at a time, so that a new one ends the old one; `false` by default. */
  readonly single?: boolean
  /** `false`: it holds for the moment only, and is not kept. `true` by default. */
  readonly durable?: boolean
  /** Tells a model what to look for, in a sentence. */
  readonly ask?: string
  /** The JSON Schema of the value for a model, where the schema's library cannot make one. */
  readonly jsonSchema?: object
}

/** A declared fact. */
export interface Declaration<Output = unknown, Single extends boolean = boolean> {
  readonly single: Single
  readonly durable: boolean
  readonly ask: string | undefined
  /** The JSON Schema of the value; `{}` if the schema's library cannot make one. */
  readonly jsonSchema: object
  /** Checks a value of JSON. It fails with a text that has nothing of the value. */
  readonly check: (value: unknown) => Effect.Effect<Output, string>
}

/** The facts that an application declares, by predicate. */
export type Declarations = Readonly<Record<string, Declaration>>

/** A fact with its typed value. */
export interface TypedFact<Output> extends Omit<MemoryLayers.FactInTime, "value"> {
  readonly value: Output
}

/** The facts that were declared, by predicate: one where it is single, or else a list of them. */
export type Typed<D extends Declarations> = {
  readonly [Name in keyof D]: D[Name] extends Declaration<infer Output, infer Single>
    ? Single extends true
      ? TypedFact<Output> | undefined
      : ReadonlyArray<TypedFact<Output>>
    : never
}

/** Ways in which libraries make a JSON Schema of their schemas. */
interface WithJsonSchema {
  readonly "~standard"?: {
    readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown }
  }
  readonly toJsonSchema?: () => unknown
  readonly toJSONSchema?: () => unknown
}

const jsonSchemaOf = (schema: unknown): object => {
  try {
    if (Schema.isSchema(schema)) return JSONSchema.make(schema as Schema.Schema<unknown>)
    const given = schema as WithJsonSchema
    const made =
      given["~standard"]?.jsonSchema?.input?.({ target: "draft-2020-12" }) ??
      given.toJSONSchema?.() ??
      given.toJsonSchema?.()
    return typeof made === "object" && made !== null ? made : {}
  } catch {
    // A schema that no JSON Schema can say checks the answer all the same.
    return {}
  }
}

const standardOf = <Output>(schema: AnySchema<Output>): StandardSchema<unknown, Output>["~standard"] =>
  "~standard" in schema
    ? schema["~standard"]
    : Schema.standardSchemaV1(schema as Schema.Schema<Output, unknown>)["~standard"]

const { check, checkedBy, option } = OptionGroup

const factOptions = {
  schema: option(
    checkedBy<AnySchema<unknown>>(
      (value) =>
        Schema.isSchema(value) ||
        (Predicate.hasProperty(value, "~standard") && Predicate.hasProperty(value["~standard"], "validate")),
    ),
    "a Standard Schema, or a schema of Effect",
  ),
  single: option(Schema.Boolean, "true or false"),
  durable: option(Schema.Boolean, "true or false"),
  ask: option(Schema.String, "a text"),
  jsonSchema: option(Schema.Object, "a JSON Schema"),
}

/**
 * Declares a fact of any Standard Schema.
 *
 * @throws InvalidOption: an option is unknown, or not allowed
 *
 * @example
 * ```ts
 * import { Fact } from "@memfold/layers"
 * import { Schema } from "effect"
 *
 * const facts = {
 *   diet: Fact.of({ schema: Schema.Literal("vegan", "vegetarian", "none"), single: true }),
 *   allergy: Fact.of({ schema: Schema.String, ask: "What the user is allergic to." }),
 * }
 * console.log(Object.keys(facts).join(", ")) // diet, allergy
 * ```
 */
export const of = <Output, const Single extends boolean = false>(
  options: FactOptions<Output> & { readonly single?: Single },
): Declaration<Output, Single> => {
  check(factOptions, { ...options, schema: options?.schema ?? null })
  const { validate } = standardOf(options.schema)
  return {
    single: (options.single ?? false) as Single,
    durable: options.durable ?? true,
    ask: options.ask,
    jsonSchema: options.jsonSchema ?? jsonSchemaOf(options.schema),
    check: (value) =>
      Effect.tryPromise({
        try: async () => validate(value),
        catch: () => "its schema threw an error",
      }).pipe(
        Effect.flatMap((checked) =>
          checked.issues === undefined
            ? Effect.succeed(checked.value)
            : Effect.fail("its value does not fit its schema"),
        ),
      ),
  }
}

/**
 * The declared ones of some facts, typed. A value that does not fit its schema any more is left out. Of a single predicate with
 * several values, the newest is taken, and its `conflicts` name the others.
 *
 * @param declarations - the declared facts
 * @param facts - facts as `facts` and `factsOf` return them
 */
export const typed = <D extends Declarations>(
  declarations: D,
  facts: ReadonlyArray<MemoryLayers.FactInTime>,
): Effect.Effect<Typed<D>> =>
  Effect.map(
    Effect.forEach(Object.entries(declarations), ([name, { single, check }]) =>
      Effect.map(
        Effect.forEach(
          facts.filter(({ predicate, subject = "user" }) => predicate === name && subject === "user"),
          (fact) =>
            Effect.option(
              Effect.map(check(fact.value), (value) => ({ ...fact, value }) as TypedFact<unknown>),
            ),
        ),
        (found) => {
          const values = found.flatMap((one) => (one._tag === "Some" ? [one.value] : []))
          return [name, single ? values.at(-1) : values] as const
        },
      ),
    ),
    (entries) => Object.fromEntries(entries) as Typed<D>,
  )
