/** Several processes on one server: every append once (law L12), and nothing acknowledged is lost when one is killed (law L14). */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { beforeEach, expect, it } from "vitest"
import { bundled, start } from "@memfold/harness/children"
import { all } from "@memfold/harness/crowd"
import { often } from "@memfold/harness/depth"
import { checkTogether, together, writers } from "@memfold/harness/together"
import { libsqlServers, type Server } from "@memfold/harness/libsqlServers"
import { withLog } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["writer", "untilKilled"])
const server = libsqlServers()
let one: Server
beforeEach(async () => {
  one = await server()
})

const count = often(20, 500)

it(`${writers} processes append to one session, ${count} records each`, async () => {
  const options = { url: one.url }
  const conflicts = await together(script("writer"), options, count)
  await withLog(options, (log) => checkTogether(log, count))
  // They have met each other.
  expect(conflicts).toBeGreaterThan(0)
})

const kills = often(3, 50)

it.each([
  ["the process that appends", false],
  ["the server", true],
] as const)(`%s is killed, ${kills} times`, async (_what, killsServer) => {
  const { url } = one
  let acknowledged = 0
  for (let turn = 0; turn < kills; turn++) {
    const child = start(script("untilKilled"), url)
    expect(await child.line()).toBe("ready")
    for (let heard = 0; heard <= turn * 3; heard++) acknowledged = Number(await child.line())
    if (killsServer) await one.kill()
    child.kill()
    acknowledged = Number((await child.end()).at(-1) ?? acknowledged)
    if (killsServer) await one.start()
    const records = await withLog({ url }, (log) => all(EventLog.records(log, "one")))
    // One more batch may be there whose acknowledgement was not heard: the whole of it, or nothing.
    expect([acknowledged, acknowledged + 2]).toContain(records.length)
    expect(records.map(({ data }) => Number(data))).toEqual(records.map((_, at) => at + 1))
    acknowledged = records.length
  }
  expect(acknowledged).toBeGreaterThan(kills)
})

it("a session that is deleted leaves nothing", async () => {
  const { url } = one
  const rows = await withLog({ url }, (log) =>
    Effect.gen(function* () {
      const record = { time: 0, type: "Test", schemaVersion: 1, data: "{}" }
      yield* log.append("one", [record], { expectedVersion: 0, batchId: "a" })
      yield* log.projections.put("one", { version: 1, batchId: "a" }, [
        { kind: "snapshot", rows: [{ key: "", data: "{}" }] },
      ])
      expect(yield* log.delete("one")).toBe(true)
      yield* log.append("one", [record], { expectedVersion: 0, batchId: "b" })
      return yield* log.projections.get("one", "snapshot")
    }),
  )
  expect(rows).toEqual([])
})
