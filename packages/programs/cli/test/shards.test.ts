/** The shards of a store over stores, as the command line shows them and moves sessions between them. */
import { join } from "node:path"
import { sharded } from "@memfold/sharded"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { inFolder, lines } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("shards")
const url = (name: string) => `sqlite:${join(folder, `${name}.db`)}`

it("memfold shards shows, moves and rebalances", async () => {
  const two = { a: url("a"), b: url("b") }
  const memory = createMemory({ store: sharded({ shards: two }) })
  for (const session of ["one", "two", "three", "four", "five", "six"])
    await memory.append(session, { role: "user", content: session }, { owner: "ann" })
  await memory.close()
  const shards = ["--shards", file("shards.json", { shards: two })]
  const run = async (...args: ReadonlyArray<string>) =>
    lines((await memfold("shards", ...args, "--json")).out)
  const show = () => run("show", ...shards)
  const [a, b] = await show()
  expect(Number(a!["sessions"]) + Number(b!["sessions"])).toBe(6)
  const text = await memfold("shards", "show", ...shards)
  expect(text.out).toMatch(/shard +region +sessions +events\n.*\na +\d +\d+\nb +\d +\d+/)

  const owned = await run("move", "--owner", "ann", "--to", "b", ...shards)
  expect(owned.map(({ outcome }) => outcome).toSorted()).toEqual(
    [
      ...Array<string>(Number(a!["sessions"])).fill("moved"),
      ...Array<string>(Number(b!["sessions"])).fill("there"),
    ].toSorted(),
  )
  expect(await show()).toMatchObject([
    { shard: "a", sessions: 0 },
    { shard: "b", sessions: 6 },
  ])

  const three = ["--shards", file("three.json", { shards: { ...two, c: { store: url("c"), region: "eu" } } })]
  expect(await run("move", "one", "--to", "c", ...three)).toMatchObject([
    { type: "move", session: "one", outcome: "moved", from: "b", to: "c" },
  ])
  const back = await memfold("shards", "move", "one", "--to", "b", ...three)
  expect([back.code, back.err]).toEqual([2, expect.stringContaining("never returns")])
  for (const moved of await run("rebalance", ...three))
    expect(moved).toMatchObject({ outcome: "moved", to: "c" })
  expect(await run("rebalance", ...three)).toEqual([])
  const wrong = await memfold("shards", "show", "--shards", file("wrong.json", { shards: {} }))
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('{"shards":{"NAME":"URL"}}')])
})
