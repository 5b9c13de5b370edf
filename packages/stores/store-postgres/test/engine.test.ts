/** Whole memories over PostgreSQL, with texts that it does not keep as they are. */
import { EventLog, Memory, Message, Summarizer, Verify } from "@memfold/core"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { pairs } from "@memfold/harness/engine"
import { summariesOf } from "@memfold/harness/logs"
import { postgresServers } from "@memfold/harness/postgresServers"
import { newSchema, withLog } from "./support.js"

const { server } = postgresServers()
it("messages with NUL characters and halves of surrogate pairs are kept, summarized and found", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const odd = "a\0b \ud83d"
  const repeating: Summarizer.Service = { name: "repeating", summarize: () => Effect.succeed({ text: odd }) }
  await withLog({ url, schema: newSchema() }, (log) =>
    Effect.gen(function* () {
      const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "manual" } })
      yield* memory.append("s", [
        Message.user(`${odd} a lighthouse in the north of the country`),
        Message.assistant(odd),
      ])
      yield* memory.append("s", [
        Message.user("so"),
        Message.assistant("it goes"),
        Message.user("on"),
        Message.assistant(odd),
      ])
      yield* memory.compact("s", { which: "due" })
      const [row] = yield* summariesOf(log, "s")
      expect(row?.text).toBe("a\ufffdb \ufffd")
      expect(JSON.stringify((yield* memory.context("s")).messages)).toContain(
        JSON.stringify("a\0b").slice(1, -1),
      )
      expect((yield* memory.recall("s", "lighthouse")).messages.length).toBeGreaterThan(0)
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, repeating),
    ),
  )
})
