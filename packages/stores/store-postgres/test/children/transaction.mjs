// Inserts a row and appends in one transaction, says so, and waits to be killed before the commit.
import { EventLog, Memory, Message, Summarizer } from "@memfold/core"
import { pairs } from "@memfold/harness/engine"
import { Effect } from "effect"
import { Client } from "pg"
import { make } from "../../src/index.js"

const [url, schema] = process.argv.slice(2)
const client = new Client(url)
await client.connect()

const program = Effect.gen(function* () {
  const memory = yield* Memory.make({ strategy: pairs })
  yield* Effect.promise(() => client.query(`BEGIN; INSERT INTO ${schema}.orders (id) VALUES (2)`))
  const inside = yield* memory.within(client)
  yield* inside.append("chat-1", Message.user("uncommitted"))
  process.stdout.write("written\n")
  return yield* Effect.never
}).pipe(
  Effect.provideService(Summarizer.Summarizer, {
    name: "none",
    summarize: () => Effect.succeed({ text: "" }),
  }),
  Effect.provideServiceEffect(EventLog.EventLog, make({ url, schema })),
  Effect.scoped,
)
await Effect.runPromise(program)
