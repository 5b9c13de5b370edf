/** The process of the command line: its arguments, its exit code, and what becomes of output that nobody can write. */
import { getSystemErrorMap } from "node:util"
import { call } from "./program.js"

const { exitCode, interrupt } = call(process.argv.slice(2))

/** Whether writing to standard output failed; the error is printed already. */
let unwritable = false

/** The commands that work for others: they go on, whoever reads what they print. */
const serving: ReadonlySet<string | undefined> = new Set(["serve", "studio", "worker", "wrap"])

// Nobody reads what went wrong, and there is no other place to say it.
process.stderr.on("error", () => undefined)

process.stdout.on("error", ({ code, errno, message }: NodeJS.ErrnoException) => {
  // A closed pipe (`| head`) or terminal is no failure, and writes to the store are finished.
  if (code === "EPIPE" || code === "EIO" || unwritable) return
  unwritable = true
  const [, reason = message] = getSystemErrorMap().get(errno ?? 0) ?? []
  process.stderr.write(`memfold: standard output cannot be written: ${reason}\n`)
  if (serving.has(process.argv[2])) return
  process.exitCode = 2
  interrupt()
})

const code = await exitCode
if (code !== null && code !== 0) process.exitCode = code
