/** Redacted text is gone everywhere (L15). */
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import * as fc from "fast-check"
import { conversation } from "../../arbitrary/conversation.js"
import { batched } from "../../arbitrary/interleaving.js"
import { echo } from "../../fakes/summarizers.js"
import { canonical, type Law, makeLaw, must } from "../../law/Law.js"
import { picture } from "../../strategy/picture.js"
import { rehearse } from "../../strategy/rehearse.js"
import { checkSession } from "../checkSession.js"
import { type MemoryKit, session } from "../input.js"
import { inWorld } from "../world.js"

export const redactionLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L15",
    name: "redacted text remains nowhere",
    explanation:
      "After a redaction the words are in no record of the log, in no snapshot, and in no context,\n" +
      "also if a summary had repeated them.",
    numRuns,
    arbitrary: fc.record({ strategy: strategies, batches: batched(conversation), which: fc.nat() }),
    describe: ({ strategy, batches, which }) =>
      `${strategy.name}\nmessage ${which % Math.max(batches.flat().length, 1)} is redacted\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, batches, which }) =>
      inWorld(options, async (world) => {
        const secret = "q7-secret-7q"
        const index = which % Math.max(batches.flat().length, 1)
        let next = 0
        // A summarizer that repeats what it reads, secrets and all.
        const repeating = {
          ...echo(),
          summarize: (request: Parameters<ReturnType<typeof echo>["summarize"]>[0]) =>
            Effect.map(echo().summarize(request), ({ text }) => ({
              text: canonical([request.previous, request.messages]).includes(secret)
                ? `${text} ${secret}`
                : text,
            })),
        }
        const memory = await world.open({ strategy, compaction: { mode: "inline" }, summarizer: repeating })
        for (const batch of batches) {
          const marked = batch.map((message) =>
            next++ === index
              ? { ...message, parts: [...message.parts, { type: "text" as const, text: secret }] }
              : message,
          )
          await world.run(memory.append(session, marked))
        }
        if (next === 0) return
        await world.run(memory.redact(session, index))
        await world.run(memory.compact(session, { which: "due" }))
        const records = Chunk.toReadonlyArray(
          await world.run(Stream.runCollect(EventLog.records(world.log, session))),
        )
        const having = records.find((record) => canonical(record).includes(secret))
        must(having === undefined, () => `event ${having?.version} (${having?.type}) still has it`)
        for (const kind of ["snapshot", "summary", "index"]) {
          const rows = await world.run(world.log.projections.get(session, kind))
          must(!canonical(rows).includes(secret), () => `the ${kind} rows still have it`)
        }
        const context = await world.run(memory.context(session))
        must(!canonical(context).includes(secret), () => "the context still has it")
        await checkSession(world, memory, session)
      }),
  })
