/**
 * memfold beside the memories of its neighbours, in the same agents: what a turn costs, and what a kill loses.
 *
 * `npm run bench -- neighbours [sample] [kills] [growth [MESSAGES]]`; without a name, all of them.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { growth } from "./growth.js"
import { kills } from "./kills.js"
import { sample } from "./sample.js"

const names = ["sample", "kills", "growth"]
const sizes = [100, 1_000]

/** Measures and prints. Returns whether memfold lost nothing and its turns are within their bounds; what the neighbours do has none. */
export const neighbours = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const numbers = args.filter((arg) => /^\d+$/u.test(arg)).map(Number)
  const asked = args.filter((arg) => !/^\d+$/u.test(arg))
  const unknown = asked.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    process.stderr.write(`memfold: neighbours has no part "${unknown}"; it has: ${names.join(", ")}\n`)
    return false
  }
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name)
  const root = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    return [
      isAsked("sample") ? await sample(join(root, "sample")) : true,
      isAsked("growth") ? await growth(join(root, "growth"), numbers.length > 0 ? numbers : sizes) : true,
      isAsked("kills") ? await kills(join(root, "kills")) : true,
    ].every(Boolean)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
