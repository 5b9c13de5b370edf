/** Processes that append to one session without a pause: each gets on, and none fails. */
import { start } from "@memfold/harness/children"
import { join } from "node:path"
import { expect, it } from "vitest"
import { bundled, folder, integrity, textsOf, withLog } from "./support.js"

const script = bundled("loop")
const appends = 50

it.each([2, 3])("%i processes: each makes its appends, and nothing of them is lost", async (processes) => {
  const file = join(folder(), "chats.db")
  const names = Array.from({ length: processes }, (_, index) => `p${index}`)
  const running = names.map((name) => start(script("loop"), file, name, String(appends)))
  for (const child of running) expect(await child.line()).toBe("ready")
  for (const child of running) child.say("go")
  for (const child of running) expect(await child.line()).toBe("enough")
  for (const child of running) child.say("stop")
  const counts: Array<number> = []
  for (const child of running) {
    const [count = 0, failed = 0] = ((await child.line()) ?? "").split(" ").map(Number)
    expect(failed).toBe(0)
    counts.push(count)
    await child.end()
  }
  const texts = await withLog({ filename: file }, (log) => textsOf(log, "one"))
  for (const [position, name] of names.entries())
    expect(texts.filter((text) => text.startsWith(`${name}.`))).toEqual(
      Array.from({ length: counts[position]! }, (_, index) => `${name}.${index}`),
    )
  expect(integrity(file)).toBe("ok")
})
