/** New processes: importing the package, and opening a session of 5,000 messages. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Files } from "./disk.js"
import type { Cost } from "./cost.js"
import { compared } from "./pairs.js"

const rounds = 21

const self = fileURLToPath(new URL("fresh.js", import.meta.url))

/** Measures a task of `fresh.ts` in a new process. */
export const fresh = async <A = Cost>(
  flags: ReadonlyArray<string>,
  ...task: ReadonlyArray<string>
): Promise<A> => {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, self, ...task])
  return JSON.parse(stdout) as A
}

/** Measures two tasks by turns; the first round of each only fills the caches of the system. */
const alternating = async (measured: ReadonlyArray<string>, bare: ReadonlyArray<string>) => {
  const pairs: Array<{ measured: Cost; bare: Cost }> = []
  for (let round = 0; round <= rounds; round++) {
    const reference = await fresh([], ...bare)
    const pair = { measured: await fresh([], ...measured), bare: reference }
    if (round > 0) pairs.push(pair)
  }
  return pairs
}

/** Measures and prints. Returns whether every ratio is within its bound. */
export const processes = async ({ bare, compacted }: Files): Promise<boolean> => {
  console.log("\nA new process")
  return [
    compared({
      name: 'import "memfold"',
      reference: 'import "effect"',
      pairs: await alternating(["import memfold"], ["import effect"]),
      most: { processor: 0.4 },
    }),
    compared({
      name: "open, and the first context of a session of 5,000 messages",
      reference: "bare",
      pairs: await alternating(["open", compacted], ["open bare", bare, "50"]),
      most: { processor: 3.5 },
    }),
  ].every(Boolean)
}
