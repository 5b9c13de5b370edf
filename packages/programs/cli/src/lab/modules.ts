/** Policies, summarizers and extractors of the user's own, from a module named on the command line. */
import { Memory, Strategy, SummaryMode, Keep, type Summarizer, Trigger } from "@memfold/core"
import type { Policy } from "@memfold/lab"
import {
  checkOptions as checkLayers,
  type Extractor,
  type FunctionFact,
  functionExtractor,
  type FunctionMaterial,
} from "@memfold/layers"
import { Effect, Either } from "effect"
import { statSync } from "node:fs"
import { parse, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { byName, type GivenSummarizer, summarizerOf, summarizers, type UnknownName } from "@memfold/catalog"
import { UsageError } from "../command/failure.js"

type Exports = Readonly<Record<string, unknown>>

/** Whether an argument names a file, and not a shipped part. */
export const namesFile = (given: string): boolean =>
  /[/\\]/.test(given) || /\.[cm]?[jt]s(?:#.*)?$/.test(given)

/** Whether there is a file. Node would read a device without an end. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The exports of a module. The error names what the module threw, but quotes nothing. */
const importModule = (option: string, path: string): Effect.Effect<Exports, UsageError> =>
  isFile(path)
    ? Effect.tryPromise({
        try: async () => (await import(pathToFileURL(resolve(path)).href)) as Exports,
        catch: (error) =>
          new UsageError({
            problem: `${option} ${path}: the module cannot be loaded: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
          }),
      })
    : new UsageError({ problem: `${option} ${path}: there is no such file` })

const isStrategy = (value: unknown): value is Strategy.Strategy =>
  Memory.checkOptions({ strategy: value }) === null

/** The strategies in an export, which is a strategy, or a list or an object of strategies. */
const strategiesIn = (name: string, value: unknown): ReadonlyArray<Policy> => {
  if (isStrategy(value)) return [{ name: name === "default" ? value.name : name, strategy: value }]
  if (Array.isArray(value)) return value.flatMap((one: unknown) => strategiesIn("default", one))
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, one]) => (isStrategy(one) ? [{ name, strategy: one }] : []))
    : []
}

/**
 * The policies that a module exports: `FILE` for all of them, `FILE#NAME` for one. A policy has the name of its export; a
 * policy from the default export has the name of its strategy.
 */
export const policiesIn = (given: string): Effect.Effect<ReadonlyArray<Policy>, UsageError> =>
  Effect.gen(function* () {
    const [path = "", wanted] = given.split("#")
    const exported = Object.entries(yield* importModule("--policy", path))
    const found = exported.flatMap(([name, value]) => strategiesIn(name, value))
    if (found.length === 0) {
      const problem = `--policy ${path}: no export is a strategy; export the result of Strategy.make, or of a family such as Rounds({})`
      return yield* new UsageError({ problem })
    }
    if (wanted === undefined) return found
    const one = found.filter(({ name }) => name === wanted)
    const allowed = found.map(({ name }) => name).join(", ")
    return one.length > 0
      ? one
      : yield* new UsageError({
          problem: `--policy ${path}: there is no policy "${wanted}"; allowed: ${allowed}`,
        })
  })

const anyStrategy = Strategy.make({
  name: "any",
  when: Trigger.never,
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.drop,
})

/** A shipped summarizer by its name, or the summarizer that a module exports as `summarizer` or by default. */
export const labSummarizer = (given: string): Effect.Effect<Summarizer.Service, UsageError | UnknownName> =>
  Effect.gen(function* () {
    if (!namesFile(given)) return yield* byName("summarizer", summarizers, given)
    const exported = yield* importModule("--summarizer", given)
    const value = exported["summarizer"] ?? exported["default"]
    const wrong = new UsageError({
      problem: `--summarizer ${given}: its default export is no summarizer; export a function that gets { system, user } and returns a text, or an object with a name and a function summarize`,
    })
    if (typeof value !== "function" && (typeof value !== "object" || value === null)) return yield* wrong
    const summarizer = yield* Either.try({
      try: () => summarizerOf(value as GivenSummarizer),
      catch: () => wrong,
    })
    return Memory.checkOptions({ strategy: anyStrategy, summarizer }) === null ? summarizer : yield* wrong
  })

/** The extractor that a module exports as `extractor` or by default: an extractor, or a function that finds facts in messages. */
export const labExtractor = (given: string): Effect.Effect<Extractor, UsageError> =>
  Effect.gen(function* () {
    const exported = yield* importModule("--extractor", given)
    const value = exported["extractor"] ?? exported["default"]
    if (typeof value === "function")
      return functionExtractor(value as (material: FunctionMaterial) => ReadonlyArray<FunctionFact>, {
        name: parse(given).name,
      })
    return checkLayers({ extractor: value }) === null && value !== undefined
      ? (value as Extractor)
      : yield* new UsageError({
          problem: `--extractor ${given}: its default export is no extractor; export a function that gets { messages } and returns facts, each with a quote, or an object with a name and a function extract`,
        })
  })
