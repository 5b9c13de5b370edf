/** `untilKilled.mjs URL`: appends batches of two records to the session `one` until it is killed, and says each version that is acknowledged. */
import { Effect } from "effect"
import { make } from "../../src/index.js"

const [url] = process.argv.slice(2)
const program = Effect.gen(function* () {
  const log = yield* make({ url })
  let expectedVersion = (yield* log.head("one"))?.version ?? 0
  console.log("ready")
  for (;;) {
    const records = [0, 1].map((at) => ({
      time: 0,
      type: "Test",
      schemaVersion: 1,
      data: String(expectedVersion + 1 + at),
    }))
    const { version } = yield* log.append("one", records, {
      expectedVersion,
      batchId: `at ${expectedVersion}`,
    })
    expectedVersion = version
    // As text: a number would be written in colour where colours are forced.
    console.log(String(version))
  }
})
await Effect.runPromise(Effect.scoped(program))
