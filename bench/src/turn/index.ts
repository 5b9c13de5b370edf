/**
 * The path of a user: a turn is a user message and its reply, appended in one call, and then a context. Measured against
 * what a program would do without memfold, in the same run and with the same durability.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sealedTurns } from "../sealed.js"
import { disk } from "./disk.js"
import { footprint } from "./footprint.js"
import { processes } from "./processes.js"
import { reading } from "./reading.js"
import { redisTurn } from "./redisTurn.js"
import { stalls } from "./stalls.js"
import { turns } from "./turns.js"

/** Measures and prints. Returns whether every figure is within its bound. */
export const turn = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const outcomes = [await turns(folder)]
    const { held, ...files } = await disk(folder)
    outcomes.push(
      held,
      await processes(files),
      await redisTurn(folder),
      await reading(folder),
      await stalls(folder, 50),
      await footprint(folder),
      await sealedTurns(folder),
    )
    return outcomes.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
