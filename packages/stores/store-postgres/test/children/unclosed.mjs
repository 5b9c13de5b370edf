/** `unclosed.mjs OPTIONS`: writes, listens for a moment, and ends without closing its log. */
import { Effect, Exit, Scope, Stream } from "effect"
import { writeSync } from "node:fs"
import { make } from "../../src/index.js"

const [options] = process.argv.slice(2)
const scope = await Effect.runPromise(Scope.make())
const log = await Effect.runPromise(Scope.extend(make(JSON.parse(options)), scope))
await Effect.runPromise(Stream.runHead(log.changes("one")))
const record = { time: 0, type: "Test", schemaVersion: 1, data: "{}" }
const appended = await Effect.runPromise(
  log.append("one", [record], { expectedVersion: 0, batchId: "first" }),
)
writeSync(1, `appended ${appended.version}\n`)
process.on("exit", (code) => writeSync(1, `exit ${code}\n`))
if (process.argv[3] === "close") await Effect.runPromise(Scope.close(scope, Exit.void))
