/** What sealing costs: a turn and a search of a SQLite file with the layer, against the file without it, in alternation. */
import { EventLog, Memory } from "@memfold/core"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { claim, median, milliseconds, told, turn } from "./measure.js"

const layers = ["without", "with"] as const
type Layers = (typeof layers)[number]

/** A memory over a file, sealed or not. */
const opened = async (folder: string, layer: Layers) => {
  const scope = await Effect.runPromise(Scope.make())
  const keyring = folderKeyring({ folder: join(folder, "owners"), root: fileRoot(join(folder, "root.key")) })
  const memory = await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* SqliteEventLog.make({ filename: join(folder, `sealed-${layer}.db`) })
      return yield* Memory.make({ strategy: SlidingWindow() }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
        Effect.provideService(EventLog.EventLog, layer === "with" ? sealLog(log, keyring) : log),
      )
    }).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Milliseconds of some work on a memory, with the layer and without it, in turn. */
const both = async (
  folder: string,
  rounds: number,
  work: (memory: Memory.Service, round: number) => Effect.Effect<unknown, Error>,
): Promise<Readonly<Record<Layers, ReadonlyArray<number>>>> => {
  const memories = { without: await opened(folder, "without"), with: await opened(folder, "with") }
  const times: Record<Layers, Array<number>> = { without: [], with: [] }
  for (let round = 0; round < rounds; round++)
    for (const layer of round % 2 === 0 ? layers : layers.toReversed()) {
      const took = await milliseconds(() => Effect.runPromise(work(memories[layer].memory, round)))
      // The first rounds compile.
      if (round >= rounds / 5) times[layer].push(took)
    }
  for (const { close } of Object.values(memories)) await close()
  return times
}

const compared = (what: string, times: Awaited<ReturnType<typeof both>>, bound: number): boolean => {
  for (const layer of layers) told(`${what}, ${layer} the layer`, `${median(times[layer]).toFixed(2)} ms`)
  return claim(`${what}, sealed against not sealed`, median(times.with) / median(times.without), bound)
}

const appended = (memory: Memory.Service, round: number) =>
  memory.append("s", [turn(2 * round), turn(2 * round + 1)], { owner: "ann" })

/** A turn: a message and its reply, and a context. */
export const sealedTurns = async (folder: string): Promise<boolean> => {
  console.log("\nA turn of a sealed SQLite file")
  const turns = await both(folder, 500, (memory, round) =>
    Effect.zipRight(appended(memory, round), memory.context("s")),
  )
  return compared("a turn", turns, 1.3)
}

/** A search behind a turn. */
export const sealedSearches = async (folder: string): Promise<boolean> => {
  console.log("\nRecall in a sealed SQLite file")
  for (const layer of layers) {
    const { memory, close } = await opened(folder, layer)
    for (let round = 0; round < 2_000; round += 50) {
      const said = Array.from({ length: 100 }, (_, at) => turn(2 * round + at))
      await Effect.runPromise(memory.append("s", said, { owner: "ann" }))
    }
    await Effect.runPromise(memory.recall("s", "message 1700"))
    await close()
  }
  const found = await both(folder, 200, (memory) => memory.recall("s", "message 1700"))
  return compared("a search", found, 1.5)
}
