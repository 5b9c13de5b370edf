/** `URL GROUP`: a consumer of a group of the feed, which says each event; a test kills it. */
import { writeSync } from "node:fs"
import { createClient } from "@memfold/client"

const [url, group] = process.argv.slice(2)
const memory = createClient({ url })
await memory.consume(
  group,
  (events) => {
    for (const { session, version } of events) writeSync(1, `${session} ${version}\n`)
  },
  { lease: 1, batch: 16 },
)
