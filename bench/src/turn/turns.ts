/** A turn appended and the context after it, against bare better-sqlite3, with and without a compaction due. */
import { join } from "node:path"
import { type Bare, openBare } from "./bare.js"
import { turnAt, turnsBefore } from "./conversation.js"
import { type Compaction, effects, type Measured, promises } from "./memories.js"
import { type Cost, costOf } from "./cost.js"
import { type Bounds, compared, mean, middle } from "./pairs.js"

/** The number of measured rounds, after the warm-up. */
const counted = 60
/**
 * The turns before the measured rounds: V8 needs about this many to compile the code on both sides. A younger process is
 * measured as well, but without a bound.
 */
const warmUpTurns = 2_500
/** The first rounds of a young process, in which the disk and the file settle, do not count for it either. */
const settling = 20
/**
 * Turns of a round. After a compaction, the sliding window has 40 messages and takes the next 12 when they have come:
 * with 5 turns none comes due.
 */
const perRound: Readonly<Record<"without" | "with", number>> = { without: 5, with: 12 }

/** Some turns and the contexts after them: the cost of one as a rule, and the mean with what comes now and then. */
interface Turns {
  readonly append: Cost
  readonly context: Cost
  readonly "mean append": Cost
  readonly "mean context": Cost
}

/** Appends turns, each with a context after it. */
const together = async (
  count: number,
  append: (index: number) => unknown,
  context: () => unknown,
): Promise<Turns> => {
  const costs = { append: [] as Array<Cost>, context: [] as Array<Cost> }
  for (let index = 0; index < count; index++) {
    costs.append.push(await costOf(() => append(index)))
    costs.context.push(await costOf(context))
  }
  return {
    append: middle(costs.append),
    context: middle(costs.context),
    "mean append": mean(costs.append),
    "mean context": mean(costs.context),
  }
}

/** One interface of memfold beside the reference: prints, and returns whether the ratios are within their bounds. */
const measure = async (
  name: string,
  memory: Measured,
  bare: Bare,
  kind: "without" | "with",
): Promise<boolean> => {
  const pairs: Array<{ readonly measured: Turns; readonly bare: Turns }> = []
  let next = turnsBefore
  const warmUp = Math.ceil(warmUpTurns / perRound[kind])
  for (let round = 0; round < warmUp + counted; round++) {
    const start = next
    next += perRound[kind]
    if (kind === "without") await memory.compactDue("s")
    const messages = await memory.context("s")
    const work = {
      measured: () =>
        together(
          perRound[kind],
          (index) => memory.append("s", turnAt(start + index)),
          () => memory.context("s"),
        ),
      bare: () =>
        together(
          perRound[kind],
          (index) => bare.append("s", turnAt(start + index)),
          () => bare.context("s", messages),
        ),
    }
    const first = round % 2 === 0 ? "measured" : "bare"
    const one = await work[first]()
    const other = await work[first === "bare" ? "measured" : "bare"]()
    const [measured, reference] = first === "measured" ? [one, other] : [other, one]
    pairs.push({ measured, bare: reference })
  }
  const claimed = (what: string, of: keyof Turns, most: Bounds = {}, from = warmUp): boolean =>
    compared({
      name: `${name}: ${what}`,
      reference: "bare",
      pairs: pairs
        .slice(from, from + counted)
        .map(({ measured, bare: reference }) => ({ measured: measured[of], bare: reference[of] })),
      most,
    })
  return [
    claimed("a turn", "append", { processor: 12.5, wait: 2 }),
    claimed("a context after it", "context", { processor: 3 }),
    claimed("a turn, the mean", "mean append"),
    claimed("a context, the mean", "mean context"),
    claimed("a turn, in a young process", "append", {}, settling),
    claimed("a context, in a young process", "context", {}, settling),
  ].every(Boolean)
}

const interfaces = { "Promise API": promises, "Effect API": effects }

/** Measures and prints. Returns whether every ratio is within its bound. */
export const turns = async (folder: string): Promise<boolean> => {
  const outcomes: Array<boolean> = []
  const kinds: ReadonlyArray<readonly ["without" | "with", Compaction]> = [
    ["without", "manual"],
    ["with", "background"],
  ]
  for (const [kind, compaction] of kinds) {
    console.log(
      `\nA turn and its context, SQLite FULL, ${kind} compactions that come due; bare better-sqlite3`,
    )
    for (const [name, open] of Object.entries(interfaces)) {
      const bare = openBare(join(folder, `${kind}-${name}-bare.db`))
      const memory = await open(join(folder, `${kind}-${name}.db`), compaction)
      try {
        for (let index = turnsBefore - 100; index < turnsBefore; index++) {
          bare.append("s", turnAt(index))
          await memory.append("s", turnAt(index))
        }
        outcomes.push(await measure(name, memory, bare, kind))
      } finally {
        await memory.close()
        bare.close()
      }
    }
  }
  return outcomes.every(Boolean)
}
