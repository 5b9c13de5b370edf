/**
 * Moves sessions while they are written to: `node mover.js STORE SESSIONS MESSAGES`. Each fourth session goes to another shard, one after
 * the other, the first when it has begun and the last shortly before it ends; each is said. What a killed mover has begun is done again:
 * none is left that has begun it.
 */
import { Sharded } from "@memfold/sharded"
import { Effect, Logger, LogLevel, Schedule } from "effect"
import { text } from "node:stream/consumers"
import { sessionOf, shardsIn } from "./talk.js"

const [store = "", sessions = "1", messages = "2"] = process.argv.slice(2)
const done = new Set((await text(process.stdin)).split("\n"))
const count = Number(sessions)
const own = Array.from({ length: Math.ceil(count / 4) }, (_, at) => 4 * at)

await Effect.gen(function* () {
  const log = yield* Sharded
  const names = log.shards.map(({ name }) => name)
  for (const at of own) {
    const session = sessionOf(at)
    if (done.has(`moved ${session}`)) continue
    const wanted = 1 + (0.9 * Number(messages) * at) / count / count
    const version = Effect.map(log.head(session), (head) => head?.version ?? 0)
    yield* Effect.repeat(version, { until: (now) => now >= wanted, schedule: Schedule.spaced("50 millis") })
    const place = yield* log.placeOf(session)
    const next = names[(names.indexOf(place ?? "") + 1) % names.length]!
    const { outcome } = yield* log.move(session, next, { again: true })
    console.log(`moved ${session}`)
    if (outcome !== "moved") process.stderr.write(`${session}: ${outcome}\n`)
  }
}).pipe(
  Effect.retry(Schedule.spaced("500 millis")),
  Effect.provide(shardsIn(store)),
  Logger.withMinimumLogLevel(LogLevel.None),
  Effect.runPromise,
)
console.log("done")
