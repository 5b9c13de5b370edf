import { afterEach, expect, it, vi } from "vitest"
import { type Commands, type Crew, startCrew } from "./crew.js"

let crew: Crew | null = null
afterEach(() => crew?.end())

const started = (commands: Commands): Crew => (crew = startCrew(commands))

const stays = "setInterval(() => undefined, 2 ** 30)"
const program = (text: string) => ["--input-type=module", "-e", text]

/** Says its name and process id, and stays. */
const says = (name: string) => program(`console.log("${name} " + process.pid); ${stays}`)

const said = ({ acknowledged }: Crew, name: string) =>
  [...acknowledged].filter((line) => line.startsWith(`${name} `)).length

it("kills the process that has run longest, and none that is still starting", async () => {
  const one = started({ web: [program(stays), says("second"), says("third")], worker: [] })
  await vi.waitFor(() => expect([said(one, "second"), said(one, "third")]).toEqual([1, 1]), 60_000)
  // The first one is the oldest, and has not said anything.
  expect(one.kill()).toBe(true)
  await vi.waitFor(() => expect(said(one, "second")).toBe(2), 60_000)
  expect(one.kill()).toBe(true)
  await vi.waitFor(() => expect(said(one, "third")).toBe(2), 60_000)
  expect(said(one, "second")).toBe(2)
})

it("kills none while all are starting", () => {
  expect(started({ web: [program(stays)], worker: [program(stays)] }).kill()).toBe(false)
})

it("starts a web process again with the appends that were acknowledged, until it is done", async () => {
  const appends = `
    import { readFileSync } from "node:fs"
    const done = readFileSync(0, "utf8").split("\\n").filter(Boolean)
    console.log("append " + done.length)
    if (done.length === 2) console.log("done"); else throw new TypeError("no answer")`
  const one = started({ web: [program(appends)], worker: [] })
  await vi.waitFor(() => expect(one.isAppended()).toBe(true), 60_000)
  expect([...one.acknowledged]).toEqual(["append 0", "append 1", "append 2"])
  expect(one.endedBy).toEqual({ themselves: 2, lastError: "TypeError: no answer" })
})

it("keeps what consumers say, with what they say again when one of them was killed", async () => {
  const fed = program(`console.log("one 1\\none 2"); ${stays}`)
  const one = started({ web: [], worker: [], consumer: [fed] })
  await vi.waitFor(() => expect(one.consumed).toEqual(["one 1", "one 2"]), 60_000)
  expect(one.kill()).toBe(true)
  await vi.waitFor(() => expect(one.consumed).toEqual(["one 1", "one 2", "one 1", "one 2"]), 60_000)
  expect(one.acknowledged.size).toBe(0)
})
