import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { echo, pairs, said } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"

it.effect("an edit of a covered message reads few events, however long the conversation is", () =>
  Effect.gen(function* () {
    let records = 0
    const log = yield* InMemoryEventLog.make
    const counting: EventLog.Service = {
      ...log,
      read: (session, page) =>
        Effect.tap(log.read(session, page), ({ length }) =>
          Effect.sync(() => {
            records += length
          }),
        ),
    }
    const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "inline" } }).pipe(
      Effect.provideService(EventLog.EventLog, counting),
      Effect.provideService(Summarizer.Summarizer, echo),
    )
    for (let turns = 150; turns < 190; turns += 5) {
      const session = `of ${turns} turns`
      for (let turn = 0; turn < turns; turn++) yield* memory.append(session, said(2))
      const { coveredTo, version } = yield* memory.state(session)
      records = 0
      yield* memory.edit(session, coveredTo - 1, said(1))
      expect(records, session).toBeLessThan(version / 3)
    }
  }).pipe(Effect.scoped),
)
