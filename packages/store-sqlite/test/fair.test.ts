/** Processes that append to one session all the time: each gets its share, and none fails. */
import { join } from "node:path"
import { expect, it, vi } from "vitest"
import { start } from "@memfold/harness/children"
import { bundled, folder } from "./support.js"

const script = bundled("fair")

vi.setConfig({ testTimeout: 300_000 })

/** Lets processes append to one session until each has made so many appends. */
const shared = async (processes: number, appends: number) => {
  const file = join(folder(), "chats.db")
  const names = Array.from({ length: processes }, (_, index) => `p${index}`)
  const running = names.map((name) => start(script("fair"), file, name, String(appends)))
  for (const child of running) expect(await child.line()).toBe("ready")
  for (const child of running) child.say("go")
  for (const child of running) expect(await child.line()).toBe("enough")
  for (const child of running) child.say("stop")
  const results = []
  for (const child of running) {
    const [count = 0, failed = 0] = ((await child.line()) ?? "").split(" ").map(Number)
    results.push({ count, failed })
    await child.end()
  }
  return results
}

it.each([2, 3])("%i processes: each appends at least a fifth as often as any other", async (processes) => {
  const results = await shared(processes, 500)
  const counts = results.map(({ count }) => count)
  expect(Math.max(...counts)).toBeLessThanOrEqual(5 * Math.min(...counts))
  expect(results.map(({ failed }) => failed)).toEqual(results.map(() => 0))
})
