/** The compiler that the project uses, run over a project's configuration. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const tsc = fileURLToPath(new URL("../../../../node_modules/.bin/tsc", import.meta.url))

/** The errors of a project, a line each; rejects if the compiler failed and named none. */
export const typeErrors = (project: string): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    // Colours, which a variable of the environment may ask for, would stand within "error TS2307".
    execFile(tsc, ["-p", project, "--pretty", "false"], { maxBuffer: 1 << 26 }, (error, out, err) => {
      const errors = out.split("\n").filter((line) => line.includes("error TS"))
      if (error !== null && errors.length === 0) reject(new Error(`tsc -p ${project} failed:\n${out}${err}`))
      else resolve(errors)
    })
  })
