/** Runs in a process of its own (see `processes.ts`), measures one thing there and prints its cost as JSON. */
import type { PromiseMemory } from "memfold"
import { type Cost, costOf } from "./cost.js"
import type { Footprint } from "./footprint.js"

const [task, filename = "", count = "0"] = process.argv.slice(2)

const open = async (): Promise<Cost> => {
  const { createMemory } = await import("memfold")
  return costOf(async () => {
    const memory = createMemory({ store: `sqlite:${filename}`, strategy: "sliding-window" })
    await memory.context("s")
  })
}

/** Both load the driver when they open a file: memfold loads a store when its URL is used. */
const openBare = (): Promise<Cost> =>
  costOf(async () => {
    const bare = await import("./bare.js")
    return bare.openBare(filename).context("s", Number(count))
  })

/** The memory that a process takes after some work, beyond what it took before, in MiB. */
const footprint = async (
  work: (memory: PromiseMemory<"openai", "inline">) => Promise<unknown>,
): Promise<Footprint> => {
  const { createMemory } = await import("memfold")
  const memory = createMemory({ store: `sqlite:${filename}`, strategy: "sliding-window" })
  await memory.context("warm-up")
  const heap = () => {
    global.gc?.()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const before = heap()
  await work(memory)
  const after = { heap: heap() - before, peak: process.resourceUsage().maxRSS / 1_024 }
  await memory.close()
  return after
}

const tasks: Readonly<Record<string, () => Promise<Cost | Footprint>>> = {
  "import memfold": () => costOf(() => import("memfold")),
  "import effect": () => costOf(() => import("effect")),
  open,
  "open bare": openBare,
  "large session": () => footprint((memory) => memory.context("s")),
  "many sessions": () =>
    footprint(async (memory) => {
      for (let index = 0; index < Number(count); index++) await memory.context(`s${index}`)
    }),
}

const run = tasks[task ?? ""]
if (run === undefined) throw new Error(`there is no task ${task}`)
process.stdout.write(JSON.stringify(await run()))
process.exit()
