/** `fill.mjs FILE`: opens and appends until that fails; says how many appends were acknowledged, and the error. */
import { Effect } from "effect"
import { make } from "../../src/index.js"

const record = { time: 0, type: "Test", schemaVersion: 1, data: JSON.stringify("x".repeat(4_000)) }

const fill = Effect.gen(function* () {
  const log = yield* make({ filename: process.argv[2] })
  for (let version = 0; ; version++) {
    const appended = log.append("one", [record], { expectedVersion: version, batchId: `c${version}` })
    const failed = yield* Effect.flip(appended).pipe(Effect.option)
    if (failed._tag === "Some") return { version, tag: failed.value._tag, message: failed.value.message }
  }
})
const told = Effect.catchAll(fill, ({ _tag, message }) => Effect.succeed({ version: 0, tag: _tag, message }))
console.log(JSON.stringify(await Effect.runPromise(Effect.scoped(told))))
