/**
 * A web process of a load run: `node web.js STORE QUEUE SESSIONS MESSAGES PART PARTS`. It appends two messages at a time to its part of the
 * sessions, in turn, and says each acknowledged append. It begins with the lines of its standard input: appends that were
 * acknowledged before, by a process that was killed.
 */
import { createMemory } from "memfold"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { sessionOf, storeIn, strategy, turnOf } from "./talk.js"

const [store = "", queue = "", sessions = "1", messages = "2", part = "0", parts = "1"] =
  process.argv.slice(2)
const done = new Set<string>()
for await (const line of createInterface({ input: process.stdin })) done.add(line)

const memory = createMemory({
  store: storeIn(store),
  queue,
  ...strategy,
  compaction: { mode: "dispatch" },
  cachedSessions: 4_000,
})
const turns = Number(messages) / Number(sessions) / 2
const atOnce = 16

/** Appends until the store has it: a server that is gone comes back. */
const append = async (session: string, turn: number): Promise<void> => {
  for (let tries = 0; ; tries++)
    try {
      await memory.append(session, turnOf(session, turn), { idempotencyKey: `turn-${turn}` })
      console.log(`${session} ${turn}`)
      return
    } catch (error) {
      if (tries === 200) throw error
      await setTimeout(100)
    }
}

const own = Array.from({ length: Number(sessions) }, (_, at) => at)
  .filter((at) => at % Number(parts) === Number(part))
  .map(sessionOf)
for (let turn = 0; turn < turns; turn++) {
  const left = own.filter((session) => !done.has(`${session} ${turn}`))
  const next = left.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const session of next) await append(session, turn)
    }),
  )
}
await memory.close()
console.log("done")
