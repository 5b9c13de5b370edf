/**
 * A law as a property: its number, its text, and a check of generated input.
 */
import * as fc from "fast-check"

/**
 * A law that can be checked: with {@link check}, with the suites of `@memfold/testing/vitest`, or with fast-check
 * itself (`fc.assert(law.property)`) in any other runner.
 */
export interface Law {
  /** The number of the law, `L1` to `L18`; `L0` for a precondition. Several properties may belong to one law. */
  readonly id: string
  readonly name: string
  /** What it says and why, for the author of a part that breaks it. */
  readonly explanation: string
  readonly property: fc.IAsyncProperty<unknown>
  /** The default number of generated inputs it is checked with. */
  readonly numRuns: number
  /** Inputs that once broke the law, as arguments of the property. They are tried before the generated inputs. */
  readonly examples: ReadonlyArray<[unknown]>
  /** Describes a counterexample as text. */
  readonly describe: (counterexample: unknown) => string
  /** Whether a counterexample is found again by its seed and path, or by the seed alone. */
  readonly replay: "path" | "seed"
}

/** The parts of a law from which its property is made. */
export interface LawOptions<A> {
  readonly id: string
  readonly name: string
  readonly explanation: string
  readonly numRuns: number
  readonly arbitrary: fc.Arbitrary<A>
  /** Inputs that once broke the law; none by default. */
  readonly examples?: ReadonlyArray<A>
  /** Throws, or returns a rejected promise, if the law does not hold. */
  readonly holds: (input: A) => void | Promise<void>
  readonly describe: (input: A) => string
  /** How a counterexample is found again: by its path, unless said otherwise. */
  readonly replay?: Law["replay"]
}

/** The error of a law that does not hold; its message says why. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/** Fails with what is wrong unless the condition holds. */
export function must(condition: boolean, wrong: () => string): asserts condition {
  if (!condition) throw new Broken(wrong())
}

/** Fails with a finding of the naive model, if there is one; `where` says in which session or at which message. */
export const failOn = (
  finding: { readonly detail: string } | null | undefined,
  where?: () => string,
): void => {
  if (finding) throw new Broken(where === undefined ? finding.detail : `${where()}: ${finding.detail}`)
}

const sorted = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("toJSON" in value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : typeof value === "bigint"
      ? `${value}n`
      : value

/** A value as text. Values that differ only in the order of fields have equal texts; `undefined` fields are left out. */
export const canonical = (value: unknown): string => JSON.stringify(value, sorted) ?? String(value)

const shortened = (text: string): string =>
  text.length <= 400 ? text : `${text.slice(0, 300)} … ${text.slice(-80)} (${text.length} characters)`

/** Fails unless two values are equal by their contents. */
export const same = (actual: unknown, expected: unknown, what: () => string): void => {
  const [one, other] = [canonical(actual), canonical(expected)]
  if (one !== other) {
    throw new Broken(`${what()}\n  expected ${shortened(other)}\n  found    ${shortened(one)}`)
  }
}

/** Makes a law. */
export const makeLaw = <A>({
  arbitrary,
  examples = [],
  holds,
  describe,
  replay = "path",
  ...law
}: LawOptions<A>): Law => ({
  ...law,
  replay,
  examples: examples.map((input) => [input]),
  property: fc.asyncProperty(arbitrary, async (input) => {
    await holds(input)
  }),
  describe: (counterexample) => describe((counterexample as readonly [A])[0]),
})
