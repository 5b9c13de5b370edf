/** How often a memory asks the server when it goes on with a session that its process has not seen: the server tells each request. */
import { EventLog, Memory, Message, Summarizer } from "@memfold/core"
import { eventually, servers } from "@memfold/harness/redisServers"
import { pairs } from "@memfold/harness/engine"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { tenant, withLog } from "./support.js"

const { server } = servers()
const repeating: Summarizer.Service = { name: "one", summarize: () => Effect.succeed({ text: "so far" }) }
const turn = [Message.user("a question"), Message.assistant("an answer")]

it("the first append of a process to a session is two requests, and a context that is not cached is one", async () => {
  const { url, client } = await server()
  const prefix = tenant()
  const opened = (use: (memory: Memory.Service) => Effect.Effect<unknown, unknown>) =>
    withLog({ url, prefix }, (log) =>
      Effect.flatMap(Memory.make({ strategy: pairs, compaction: { mode: "manual" } }), use).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, repeating),
      ),
    )
  await opened((memory) =>
    Effect.gen(function* () {
      for (const session of ["short", "summarized"])
        for (let at = 0; at < 3; at++) yield* memory.append(session, turn)
      yield* memory.compact("summarized", { which: "due" })
    }),
  )
  const told: Array<string> = []
  const monitor = await client.duplicate().monitor()
  monitor.on("monitor", (_time: string, [command = "", ...rest]: ReadonlyArray<string>, source: string) => {
    // What a script does is no request of its own.
    if (source !== "lua") told.push([command.toLowerCase(), ...rest].join(" "))
  })
  let marks = 0
  const asked = <A, E>(session: string, effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      told.splice(0)
      yield* effect
      const mark = `mark ${marks++}`
      yield* Effect.promise(() => client.echo(mark))
      yield* Effect.promise(() =>
        eventually("all is told", async () => told.some((one) => one.includes(mark))),
      )
      // Beside them, a log that was opened looks for rewrites that were not finished.
      return told.filter((one) => one.includes(`:log:${session}`) || one.includes(`:meta:${session}`)).length
    })
  try {
    await opened((memory) =>
      Effect.gen(function* () {
        // The server has the scripts by now.
        yield* memory.append("another", turn)
        yield* memory.context("short")
        expect(yield* asked("summarized", memory.context("summarized"))).toBe(1)
        expect(yield* asked("summarized", memory.context("summarized"))).toBe(1)
      }),
    )
    await opened((memory) =>
      Effect.gen(function* () {
        for (const session of ["short", "summarized"])
          expect([session, yield* asked(session, memory.append(session, turn))]).toEqual([session, 2])
        expect((yield* memory.state("summarized")).summary).not.toBeNull()
      }),
    )
  } finally {
    monitor.disconnect()
  }
})
