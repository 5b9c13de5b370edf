/**
 * `untilKilled.mjs FILE SYNCHRONOUS ROUND`: once told to go, appends until it is killed, and says after each append how
 * much has been acknowledged, and after each compaction which session was compacted. To two sessions in batches of one, two, three messages and again from one; and to the
 * session `rows` one record at a time, each with a new active summary row and the one before superseded.
 */
import { Message } from "@memfold/core"
import { Effect } from "effect"
import { once } from "node:events"
import { make } from "../../src/index.js"
import { heard, pause, run, say } from "./engine.mjs"

const [filename, synchronous, round] = process.argv.slice(2)

const summary = (version, status) => ({
  version,
  id: `s${version}`,
  status,
  supersededBy: status === "active" ? null : `s${version + 1}`,
  coveredTo: version,
  total: version,
  text: `summary ${version}`,
  turnPrefix: null,
  tokens: 7,
  time: 0,
})

const row = (version, status) => ({
  key: `s${version}`,
  data: JSON.stringify(summary(version, status)),
  ...(status === "active" ? { mark: "active" } : {}),
})

/** Appends to the log itself: what the summary rows are is decided here, not by the engine. */
const rows = Effect.gen(function* () {
  const log = yield* make({ filename, synchronous })
  for (let version = ((yield* log.head("rows"))?.version ?? 0) + 1; ; version++) {
    const changed = version === 1 ? [] : [row(version - 1, "superseded")]
    yield* log.append("rows", [{ time: 0, type: "Test", schemaVersion: 1, data: "{}" }], {
      expectedVersion: version - 1,
      batchId: `c${version}`,
      projections: [{ kind: "summary", rows: [...changed, row(version, "active")] }],
    })
    say(`rows ${version}`)
    yield* pause
  }
})

say("ready")
await once(heard, "line")
const hooks = {
  afterCompaction: ({ session, outcome }) =>
    Effect.sync(() => {
      if (outcome._tag === "Committed") say(`compacted ${session}`)
    }),
}
// What a killed process was compacting is taken over soon.
await run({ filename, synchronous, lease: "50 millis", hooks }, (memory) => {
  const talk = (session) =>
    Effect.gen(function* () {
      for (let count = 0, size = 1; ; size = (size % 3) + 1) {
        const batch = Array.from({ length: size }, () => Message.user(`${round}.${count++}`))
        yield* memory.append(session, batch)
        say(`${session} ${count}`)
        yield* pause
      }
    })
  return Effect.all([talk("one"), talk("two"), Effect.scoped(rows)], { concurrency: "unbounded" })
})
