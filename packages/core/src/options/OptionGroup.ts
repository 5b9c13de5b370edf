/**
 * Options, each said once: the title of its schema is what a value must be, in words, the description what the option is for, and the
 * default what it is when it is left out. The check, its error, the defaults and the tables of the documents come from that.
 */
import { Duration, Layer, Option, Predicate, Schema, SchemaAST } from "effect"
import { closest, didYouMean } from "./closest.js"

export { closest, didYouMean } from "./closest.js"

/**
 * An option has a value that is not allowed, or there is no such option. `option` is its name, and `allowed` says what it must be;
 * `known` has the names that there are, where there is none of that name.
 */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  option: Schema.String,
  allowed: Schema.String,
  known: Schema.optional(Schema.Array(Schema.String)),
}) {
  /** The option and what it must be, or what was meant by it, in words. */
  override get message(): string {
    const { option, allowed, known } = this
    if (known === undefined) return `The option "${option}" must be ${allowed}`
    const at = option.lastIndexOf(".") + 1
    const guess = closest(option.slice(at), known)
    const meant = didYouMean(guess === undefined ? undefined : option.slice(0, at) + guess)
    return `There is no option "${option}"; ${meant}it must be ${allowed}`
  }

  /** There is no option of this name, but these. `prefix` is what names begin with. */
  static unknown(name: string, known: ReadonlyArray<string>, prefix = ""): InvalidOption {
    const allowed = `one of the options: ${known.join(", ")}`
    return new InvalidOption({ option: prefix + name, allowed, known })
  }
}

/** Options by their names. Each may be left out. */
export type OptionGroup = Readonly<Record<string, Schema.Schema.AnyNoContext>>

/** The values of the options of a group. */
export type Values<Group extends OptionGroup> = {
  readonly [Name in keyof Group]?: Schema.Schema.Type<Group[Name]>
}

/** An option. `must` is what a value must be, in words. */
export const option = <A>(
  schema: Schema.Schema<A>,
  must: string,
  said: { readonly description?: string; readonly default?: NoInfer<A> } = {},
): Schema.Schema<A> => schema.annotations({ title: must, ...said } as Schema.Annotations.Schema<A>)

/** A value that a function tells. */
export const checkedBy = <A>(isAllowed: (value: unknown) => boolean): Schema.Schema<A> =>
  Schema.declare((value): value is A => isAllowed(value))

/** A function. */
export const Callable = checkedBy<(...given: ReadonlyArray<never>) => unknown>(
  (value) => typeof value === "function",
)

/** An object with these fields and no others: another one is a typing mistake. */
export const exactly = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ parseOptions: { onExcessProperty: "error" } })

/** A value that a schema allows, or a layer of the application. */
export const orLayer = <A>(schema: Schema.Schema<A>): Schema.Schema<A | Layer.Layer<never>> =>
  Schema.Union(schema, checkedBy<Layer.Layer<never>>(Layer.isLayer))

const unitId = Symbol.for("memfold/OptionGroup/unit")

/** A whole number between bounds, of a unit. */
export const numberOf = ({
  from,
  to = Number.MAX_SAFE_INTEGER,
  unit,
  ...said
}: {
  readonly from: number
  readonly to?: number
  readonly unit?: string
  readonly description?: string
  readonly default?: number
}): Schema.Schema<number> => {
  const bounds = to === Number.MAX_SAFE_INTEGER ? `, ${from} or more` : ` from ${from} to ${to}`
  return option(
    Schema.Int.pipe(Schema.between(from, to)),
    `a number${unit === undefined ? "" : ` of ${unit}`}${bounds}`,
    said,
  ).annotations({ [unitId]: unit })
}

/** A whole number of this or more. */
export const wholeFrom = (
  least: number,
  said: { readonly description?: string; readonly default?: number } = {},
): Schema.Schema<number> =>
  option(Schema.Int.pipe(Schema.greaterThanOrEqualTo(least)), `a whole number, ${least} or more`, said)

/** A number of anything that has parts, such as tokens; `Infinity` is all of it. */
export const amount = option(Schema.Number.pipe(Schema.greaterThanOrEqualTo(0)), "a number, 0 or more")

/** A whole number of this or more; `Infinity` is all of them. */
export const countFrom = (least: number): Schema.Schema<number> =>
  option(
    Schema.Number.pipe(
      Schema.filter(
        (value) => value >= least && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY),
      ),
    ),
    `a whole number, ${least} or more, or Infinity`,
  )

/** Whether a duration is given with a sign: Effect takes it for none at all. */
const isNegative = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isNegative) : String(value).trim().startsWith("-")

/** A duration in milliseconds; `NaN` if it is none. */
export const millisOf = (value: unknown): number =>
  Number.isNaN(value) || isNegative(value)
    ? Number.NaN
    : Option.match(Duration.decodeUnknown(value), { onNone: () => Number.NaN, onSome: Duration.toMillis })

/** What is said of a duration. */
export interface SaidOfDuration {
  readonly description?: string
  readonly default?: Duration.DurationInput
}

/** A duration within bounds, in milliseconds; `must` says them. */
export const durationWithin = (
  isWithin: (millis: number) => boolean,
  must: string,
  said: SaidOfDuration = {},
): Schema.Schema<Duration.DurationInput> =>
  option(
    checkedBy<Duration.DurationInput>((value) => isWithin(millisOf(value))),
    must,
    said,
  )

/** A duration: text such as `"30 seconds"`, or a number of milliseconds. */
export const duration = (said: SaidOfDuration = {}): Schema.Schema<Duration.DurationInput> =>
  durationWithin(
    (millis) => millis >= 0,
    'a duration, such as "30 seconds" or a number of milliseconds',
    said,
  )

/** Whether a value fits a schema; what its prototype has counts, too. Without options of its own, the schema ignores other fields. */
export const fits =
  <A>(schema: Schema.Schema<A>) =>
  (value: unknown): value is A =>
    Schema.is(schema)(value, { exact: false })

const innerId = Symbol.for("memfold/OptionGroup")

/** Options that are an option of others, such as `compaction`, or another value that `other` allows. */
export const nested = <Group extends OptionGroup, Other = never>(
  group: Group,
  must: string,
  other: Schema.Schema<Other> = Schema.Never as never,
): Schema.Schema<Values<Group> | Other> =>
  option(Schema.Union(checkedBy<Values<Group>>(Predicate.isRecord), other), must).annotations({
    [innerId]: group,
  })

/** What an option says: what it must be, what it is for, its default, and its unit; and the options within it. */
export const saidOf = ({ ast: { annotations } }: Schema.Schema.AnyNoContext) => ({
  must: String(annotations[SchemaAST.TitleAnnotationId]),
  description: annotations[SchemaAST.DescriptionAnnotationId] as string | undefined,
  default: annotations[SchemaAST.DefaultAnnotationId],
  unit: annotations[unitId] as string | undefined,
  inner: annotations[innerId] as OptionGroup | undefined,
})

/** The first option whose value is not allowed, here or in a group within. `prefix` is what names begin with. */
export const wrongIn = (group: OptionGroup, given: object, prefix = ""): InvalidOption | null => {
  for (const [name, schema] of Object.entries(group)) {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) continue
    const { must, inner } = saidOf(schema)
    if (!fits(schema)(value)) return new InvalidOption({ option: prefix + name, allowed: must })
    if (inner === undefined || !Predicate.isRecord(value)) continue
    const within = `${prefix}${name}.`
    const wrong = problemIn(inner, value, within)
    if (wrong !== null) return wrong
  }
  return null
}

/** The first name that is no option of a group: a typing mistake. */
export const unknownIn = (group: OptionGroup, given: object, prefix = ""): InvalidOption | null => {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(group, name))
  return unknown === undefined ? null : InvalidOption.unknown(unknown, Object.keys(group), prefix)
}

/** The first name that is no option of a group, or else the first option whose value is not allowed. */
export const problemIn = (group: OptionGroup, given: object, prefix = ""): InvalidOption | null =>
  unknownIn(group, given, prefix) ?? wrongIn(group, given, prefix)

/**
 * Throws for the first name that is no option of a group, or else for the first option whose value is not allowed.
 *
 * @param prefix - what names begin with
 * @throws InvalidOption
 */
export const check = (group: OptionGroup, given: object, prefix = ""): void => {
  const wrong = problemIn(group, given, prefix)
  if (wrong !== null) throw wrong
}

/**
 * Throws for an argument that a function cannot take.
 *
 * @param callee - the function, as programs name it
 * @param group - what each argument must be
 * @param given - the arguments by their names; one that is missing is wrong, too
 * @throws InvalidOption
 */
export const checkArguments = (callee: string, group: OptionGroup, given: object): void => {
  const all = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value ?? null]))
  check(group, all, `${callee}.`)
}

/** The options, with the defaults of those that are left out. All options of the group have one. */
export const withDefaults = <Given extends object>(
  group: { readonly [Name in keyof Given]-?: Schema.Schema.AnyNoContext },
  given: Given,
): Required<Given> =>
  Object.fromEntries(
    Object.entries<Schema.Schema.AnyNoContext>(group).map(([name, schema]) => [
      name,
      given[name as keyof Given] ?? saidOf(schema).default,
    ]),
  ) as Required<Given>
