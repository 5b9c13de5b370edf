/**
 * Laws held against what they are about: run, shrunk, and reported so that a person can read what went wrong and run
 * exactly that again.
 */
import * as fc from "fast-check"
import type { Law } from "./Law.js"

/**
 * How a law is checked.
 *
 * - `numRuns`: how many inputs are tried; the law's own number by default
 * - `seed`, `path`: those of a report, to find the same counterexample again; a random seed by default. The environment
 *   variable `MEMFOLD_SEED` (`SEED` or `SEED:PATH`) does the same from outside.
 */
export interface CheckOptions {
  readonly numRuns?: number | undefined
  readonly seed?: number | undefined
  readonly path?: string | undefined
}

/** What came of checking a law. */
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
      /** What is wrong with it. */
      readonly detail: string
      /** All of it for a person. */
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

/** Checks a law and answers with what was found, whether it holds or not. */
export const examine = async (law: Law, options: CheckOptions = {}): Promise<Verdict> => {
  const { seed, path } = replayed(options)
  const details = await fc.check(law.property, {
    numRuns: options.numRuns ?? law.numRuns,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined || law.replay === "seed" ? {} : { path }),
  })
  if (!details.failed) return { _tag: "Holds", law, runs: details.numRuns, seed: details.seed }
  const { numRuns: runs, numShrinks: shrinks, counterexample } = details
  const detail = detailOf(details.errorInstance)
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
    `Found in run ${runs}, made smaller ${shrinks} times. To see it again: MEMFOLD_SEED=${again}, ` +
      (law.replay === "seed"
        ? `or { seed: ${found.seed} }`
        : `or { seed: ${found.seed}, path: "${found.path}" }`),
  ].join("\n")
  return { _tag: "Broken", law, runs, shrinks, ...found, counterexample, detail, report }
}

/**
 * Checks a law; fails with {@link LawBroken}, whose message is the whole report, where it does not hold.
 *
 * @example
 * ```ts
 * import { check, strategyProperties } from "@memfold/testing"
 * import { Fold, Keep, Strategy, Trigger } from "@memfold/core"
 *
 * const mine = Strategy.make({
 *   name: "mine",
 *   when: Trigger.raw({ messages: 12 }),
 *   keep: Keep.lastRounds(2),
 *   fold: Fold.rolling,
 * })
 * for (const law of strategyProperties(mine)) await check(law)
 * ```
 */
export const check = async (law: Law, options?: CheckOptions): Promise<void> => {
  const verdict = await examine(law, options)
  if (verdict._tag === "Broken") throw new LawBroken(verdict)
}
