/**
 * A move under load: `npm run bench -- shards [--sessions N] [--writers N] [--seconds N]`. Writers append to the sessions of three databases of
 * PostgreSQL while a fourth one gets what belongs to it. Then each session is read, and must have every append that was acknowledged, once.
 */
import { sharded, Sharded } from "@memfold/sharded"
import { Effect, Stream } from "effect"
import { createMemory } from "memfold"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startServer } from "./load/server.js"
import { median, percentile, told } from "./measure.js"

const content = "x".repeat(100)
const turn = [
  { role: "user" as const, content },
  { role: "assistant" as const, content },
]

/** Moves what belongs to a shard that is new; how many sessions, and for how many milliseconds. */
const rebalanced = async (shards: Readonly<Record<string, string>>) => {
  const began = performance.now()
  const moves = Effect.flatMap(Sharded, ({ rebalance }) =>
    Stream.runFold(rebalance, 0, (sum, { outcome }) => (outcome === "moved" ? sum + 1 : sum)),
  )
  const moved = await Effect.runPromise(Effect.provide(moves, sharded({ shards })))
  return { moved, millis: performance.now() - began }
}

/** Measures it. Returns whether nothing is lost and nothing is there twice. */
export const movingUnderLoad = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sessions: { type: "string", default: "400" },
      writers: { type: "string", default: "4" },
      seconds: { type: "string", default: "5" },
    },
  })
  const [count, writers, seconds] = [values.sessions, values.writers, values.seconds].map(Number) as [
    number,
    number,
    number,
  ]
  const sessions = Array.from({ length: count }, (_, at) => `chat-${at}`)
  const folder = mkdtempSync(join(tmpdir(), "memfold-shards-"))
  const servers = await Promise.all(
    ["a", "b", "c", "d"].map(async (name) => [name, await startServer("postgres", folder)] as const),
  )
  const shards = Object.fromEntries(servers.map(([name, { url }]) => [name, url]))
  const { d: _added, ...three } = shards
  const open = (of: Readonly<Record<string, string>>) =>
    createMemory({ store: sharded({ shards: of }), compaction: { mode: "manual" } })
  const acknowledged = new Map(sessions.map((session) => [session, 0]))
  const append = async (memory: ReturnType<typeof open>, session: string) => {
    await memory.append(session, turn)
    acknowledged.set(session, acknowledged.get(session)! + turn.length)
  }
  try {
    const before = open(three)
    for (const session of sessions) await append(before, session)
    await before.close()
    const memory = open(shards)
    const under = async (what: string, goesOn: () => boolean) => {
      const took: Array<number> = []
      const began = performance.now()
      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          for (let at = writer; goesOn(); at += writers + 5) {
            const start = performance.now()
            await append(memory, sessions[at % count]!)
            took.push(performance.now() - start)
          }
        }),
      )
      const rate = Math.round((took.length / (performance.now() - began)) * 1_000)
      const [half, most] = [median(took), percentile(took, 0.99)].map((millis) => millis.toFixed(1))
      told(what, `${rate} appends a second; ${half}, ${most} ms`)
    }
    const forSeconds = () => {
      const end = performance.now() + seconds * 1_000
      return () => performance.now() < end
    }
    console.log("four databases of PostgreSQL, median and 99th percentile of an append of two messages:")
    await under("the first appends of a process", forSeconds())
    await under("before", forSeconds())
    let isMoving = true
    const moving = rebalanced(shards).finally(() => void (isMoving = false))
    await under("while sessions move", () => isMoving)
    const { moved, millis } = await moving
    await under("behind", forSeconds())
    told("moved", `${moved} of ${count} sessions in ${(millis / 1_000).toFixed(1)} s`)
    let [wrong, total] = [0, 0]
    for (const session of sessions) {
      let found = 0
      for await (const { event } of memory.events(session)) found += event._tag === "MessageAppended" ? 1 : 0
      total += found
      if (found !== acknowledged.get(session)) wrong++
    }
    told("sessions with a message lost or twice", `${wrong}, among ${total} messages`)
    await memory.close()
    return wrong === 0 && moved > 0
  } finally {
    await Promise.all(servers.map(([, { end }]) => end()))
    rmSync(folder, { recursive: true, force: true })
  }
}
