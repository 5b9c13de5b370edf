/**
 * A process in which the built program is called many times, one call after another: a process for each call spends most
 * of its time starting. Gets the arguments of a call as a message; answers with its exit code and with what it printed.
 */
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

const main = createRequire(import.meta.url).resolve("@memfold/cli/main")
// What `main.js` starts lies beside it.
const { call } = await import(new URL("program.js", pathToFileURL(main)).href)

/** Keeps what is written to a stream, until it is taken. */
const kept = (stream) => {
  let text = ""
  stream.write = (chunk, ...rest) => {
    text += String(chunk)
    rest.find((one) => typeof one === "function")?.()
    return true
  }
  return () => {
    const taken = text
    text = ""
    return taken
  }
}

const out = kept(process.stdout)
const err = kept(process.stderr)

/** Answers a call once the call before it has its answer. */
const answer = async (before, args) => {
  await before
  const code = await call(args).exitCode
  process.send({ code, out: out(), err: err() })
}

let last = Promise.resolve()
process.on("message", (args) => {
  last = answer(last, args)
})
