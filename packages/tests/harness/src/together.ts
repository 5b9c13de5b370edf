/** Many processes that append to one session. */
import { EventLog } from "@memfold/core"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { start } from "./children.js"
import { often } from "./depth.js"

/** The names of the processes. */
const processes = ["a", "b", "c", "d", "e", "f", "g", "h"].slice(0, often(4, 8))

/** How many processes append. */
export const writers = processes.length

/** Lets processes of a script that calls `write` append so many records each. Answers with the number of conflicts. */
export const together = async (script: string, options: unknown, count: number): Promise<number> => {
  const running = processes.map((name) => start(script, JSON.stringify(options), name, String(count)))
  for (const child of running) expect(await child.line()).toBe("ready")
  for (const child of running) child.say("go")
  const conflicts = await Promise.all(
    running.map(async (child) => {
      const [last] = await child.end()
      expect(last).toMatch(/^done /)
      return Number(last?.slice(5))
    }),
  )
  return conflicts.reduce((sum, one) => sum + one, 0)
}

/** Checks that every append of these processes is there, once, and each process' in its order. */
export const checkTogether = (log: EventLog.Service, count: number): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    const records = [...(yield* Stream.runCollect(EventLog.records(log, "one")))]
    expect(records.map(({ version }) => version)).toEqual(
      Array.from({ length: processes.length * count }, (_, at) => at + 1),
    )
    for (const name of processes) {
      const mine = records.filter(({ batchId }) => batchId.startsWith(`${name}-`))
      expect(mine.map(({ data }) => data)).toEqual(Array.from({ length: count }, (_, n) => `"${name}.${n}"`))
    }
  })
