/**
 * Runs a law over generated inputs, shrinks a counterexample, and reports it with the seed that finds it again.
 */
import { Effect } from "effect"
import * as fc from "fast-check"
import { Broken, type Law } from "./Law.js"

/**
 * How a law is checked.
 *
 * - `numRuns`: how many inputs are generated, from 1; by default the law's own number. The law's `examples` come before them.
 * - `seed`, `path`: the values of a report, to find the same counterexample again; by default a random seed. The environment
 *   variable `MEMFOLD_SEED` (`SEED` or `SEED:PATH`) does the same from outside.
 * - `timeLimit` (30,000): the limit for one input in milliseconds; an input that takes longer is reported as a
 *   counterexample
 * - `within`: the limit for the whole check in milliseconds, including shrinking; no limit by default
 */
export interface CheckOptions {
  readonly numRuns?: number | undefined
  readonly seed?: number | undefined
  readonly path?: string | undefined
  readonly timeLimit?: number | undefined
  readonly within?: number | undefined
}

/** The result of checking a law. */
export type Verdict =
  | { readonly _tag: "Holds"; readonly law: Law; readonly runs: number; readonly seed: number }
  | {
      readonly _tag: "Broken"
      readonly law: Law
      /** How many inputs it took, the broken one included. */
      readonly runs: number
      readonly shrinks: number
      readonly seed: number
      readonly path: string
      /** The smallest input found for which the law does not hold. */
      readonly counterexample: unknown
      /** Why the law does not hold for it. */
      readonly detail: string
      /** The whole report as text. */
      readonly report: string
    }

/** A law that does not hold. Its message is the report. */
export class LawBroken extends Error {
  override readonly name = "LawBroken"
  constructor(readonly verdict: Extract<Verdict, { readonly _tag: "Broken" }>) {
    super(verdict.report)
  }
}

/** The title of a law, as suites and reports show it. */
export const title = ({ id, name }: Pick<Law, "id" | "name">): string => `${id}: ${name}`

/** The environment, in runtimes that have one. */
const environment = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { readonly process?: { readonly env?: Record<string, string | undefined> } }).process?.env ??
  {}

/** A seed with or without a path, as `MEMFOLD_SEED` has it. */
export const parseSeed = (text: string): Pick<CheckOptions, "seed" | "path"> => {
  const [, seed, path] = /^\s*(-?\d+)(?::([\d:]+))?\s*$/.exec(text) ?? []
  if (seed === undefined) {
    throw new TypeError(`MEMFOLD_SEED is "${text}"; a seed is a whole number, or one with a path: 1234:5:0`)
  }
  return { seed: Number(seed), ...(path === undefined ? {} : { path }) }
}

/** Of the environment, where nothing was said in the program. */
const replayed = ({ seed, path }: CheckOptions): Pick<CheckOptions, "seed" | "path"> => {
  if (seed !== undefined) return { seed, path }
  const text = environment()["MEMFOLD_SEED"]
  return text === undefined || text.trim() === "" ? {} : parseSeed(text)
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ")

const detailOf = (error: unknown): string =>
  error instanceof Error
    ? error.name === "Broken"
      ? error.message
      : `${error.name}: ${error.message}\n${error.stack?.split("\n").slice(1, 4).join("\n") ?? ""}`
    : String(error)

/** How many inputs that do not end are waited for. After them, shrinking stops. */
const mostHanging = 3

/**
 * A property whose runs have a time limit in milliseconds. A run that exceeds the limit fails, and is not
 * waited for.
 */
const limited = (property: Law["property"], millis: number): fc.IRawProperty<unknown> => {
  let hanging = 0
  const run = (input: unknown) =>
    hanging >= mostHanging
      ? Promise.resolve(null)
      : Effect.promise(async () => property.run(input)).pipe(
          Effect.timeoutTo({
            duration: millis,
            onSuccess: (failure) => failure,
            onTimeout: (): fc.PropertyFailure => {
              hanging++
              return { error: new Broken(`this input did not end within ${millis / 1_000} s`) }
            },
          }),
          Effect.runPromise,
        )
  return {
    isAsync: () => true,
    generate: (random, runId) => property.generate(random, runId),
    shrink: (value) => property.shrink(value),
    runBeforeEach: () => property.runBeforeEach(),
    runAfterEach: () => property.runAfterEach(),
    run,
  }
}

/**
 * Checks a law and returns a {@link Verdict}, whether it holds or not. Rejects with a `TypeError` if `MEMFOLD_SEED` is
 * no seed.
 */
export const examine = async (law: Law, options: CheckOptions = {}): Promise<Verdict> => {
  const { seed, path } = replayed(options)
  const { timeLimit = 30_000, within } = options
  const numRuns = (options.numRuns ?? law.numRuns) + law.examples.length
  const details = await fc.check(limited(law.property, timeLimit), {
    numRuns,
    examples: [...law.examples],
    ...(within === undefined ? {} : { interruptAfterTimeLimit: within, markInterruptAsFailure: true }),
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined || law.replay === "seed" ? {} : { path }),
  })
  if (!details.failed) return { _tag: "Holds", law, runs: details.numRuns, seed: details.seed }
  const { numRuns: runs, numShrinks: shrinks, counterexample } = details
  const detail =
    counterexample === null
      ? `it did not end within ${(within ?? 0) / 1_000} s: ${runs} of ${numRuns} inputs were tried, ` +
        "and nothing was wrong with them; give it more time, or fewer runs"
      : detailOf(details.errorInstance)
  const found = { seed: details.seed, path: details.counterexamplePath ?? "" }
  const again = law.replay === "seed" || found.path === "" ? `${found.seed}` : `${found.seed}:${found.path}`
  const report = [
    `${title(law)}`,
    "",
    indented(law.explanation),
    "",
    `What is wrong: ${detail}`,
    "",
    ...(counterexample === null ? [] : [indented(law.describe(counterexample)), ""]),
    `Found in run ${runs}, made smaller ${shrinks} times. To see it again, this law alone:`,
    `MEMFOLD_SEED=${again} vitest -t "${title(law)}", ` +
      (law.replay === "seed"
        ? `or { seed: ${found.seed} }`
        : `or { seed: ${found.seed}, path: "${found.path}" }`),
  ].join("\n")
  return { _tag: "Broken", law, runs, shrinks, ...found, counterexample, detail, report }
}

/**
 * Checks a law, and rejects with {@link LawBroken} if it does not hold. The message of the error is the whole report.
 *
 * @example
 * ```ts
 * import { check, strategyProperties } from "@memfold/testing"
 * import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"
 *
 * const mine = Strategy.make({
 *   name: "mine",
 *   when: Trigger.uncovered({ messages: 12 }),
 *   keep: Keep.lastTurns(2),
 *   summaryMode: SummaryMode.rolling,
 * })
 * for (const law of strategyProperties(mine)) await check(law)
 * ```
 */
export const check = async (law: Law, options?: CheckOptions): Promise<void> => {
  const verdict = await examine(law, options)
  if (verdict._tag === "Broken") throw new LawBroken(verdict)
}
