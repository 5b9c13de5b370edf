/** `listener.mjs OPTIONS`: listens to a session until its standard input ends, and closes its log. */
import { Deferred, Effect, Stream } from "effect"
import { once } from "node:events"
import { writeSync } from "node:fs"
import { make } from "../../src/index.js"

const [options] = process.argv.slice(2)
const ended = once(process.stdin.resume(), "end")

await Effect.flatMap(make(JSON.parse(options)), (log) =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make()
    yield* Effect.forkScoped(Stream.runForEach(log.changes("s"), () => Deferred.succeed(begun, undefined)))
    yield* Deferred.await(begun)
    writeSync(1, "listening\n")
    yield* Effect.promise(() => ended)
  }),
).pipe(Effect.scoped, Effect.runPromise)
