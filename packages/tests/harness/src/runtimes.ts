/** Other runtimes, under which tests run stores: see `scripts/runtimes.mjs`. */
import { hasRuntimes, installedRuntimes } from "../../../../scripts/runtimes.mjs"
import { deep } from "./depth.js"

/** A program, and the arguments before the script. */
export interface Runtime {
  readonly name: string
  readonly command: () => readonly [program: string, ...before: ReadonlyArray<string>]
}

const usual = ["node-22", "node-24"]
const further = ["node-26", "bun", "deno"]

/** The runtimes with a SQLite of their own: two in a quick run, all in a deep one, and none for a system for which npm has no programs. */
export const runtimes: ReadonlyArray<Runtime> = (
  !hasRuntimes ? [] : deep ? [...usual, ...further] : usual
).map((name) => ({
  name,
  command: () => {
    const found = installedRuntimes().find((one) => one.name === name)
    if (found === undefined)
      throw new Error(
        `${name} is not installed; type: node scripts/runtimes.mjs${usual.includes(name) ? "" : " --all"}`,
      )
    return name === "deno" ? [found.program, "run", "--allow-all"] : [found.program]
  },
}))
