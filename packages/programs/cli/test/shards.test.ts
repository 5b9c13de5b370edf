/** The shards of a store over stores, as the command line shows them and moves sessions between them. */
import { join } from "node:path"
import { Memory, Message } from "@memfold/core"
import { sharded } from "@memfold/sharded"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, TestContext } from "effect"
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

it("every command reaches the sessions of all shards by --store sharded:FILE", async () => {
  const store = { shards: { d: url("d"), e: url("e") } }
  const sessions = ["one", "two", "three", "four", "five", "six"]
  // The clock of a test begins in 1970.
  await Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
    Effect.flatMap((memory) =>
      Effect.forEach(sessions, (session) => memory.append(session, Message.user(session))),
    ),
    Effect.scoped,
    Effect.provide(sharded(store)),
    Effect.provide(ExtractiveSummarizer.layer()),
    Effect.provide(TestContext.TestContext),
    Effect.runPromise,
  )
  const path = file("archived.json", store)
  const shards = ["--store", `sharded:${path}`]
  const cold = join(folder, "cold")
  const run = async (...args: ReadonlyArray<string>) =>
    lines((await memfold("archive", ...shards, "--to", cold, "--idle", "90 days", "--json", ...args)).out)
  const planned = await run()
  expect(planned.map(({ outcome }) => outcome)).toEqual(sessions.map(() => "planned"))
  expect((await run("--run")).map(({ session }) => session as string).toSorted()).toEqual(sessions.toSorted())
  expect(await run("--run")).toEqual([])
  for (const session of sessions) {
    const back = await memfold("restore", session, ...shards, "--from", cold, "--json")
    expect(lines(back.out)).toMatchObject([{ type: "restored", session, restored: true }])
  }
  const memory = createMemory({ store: sharded(store) })
  for (const session of sessions) expect((await memory.state(session)).total).toBe(1)
  await memory.close()
  const listed = lines((await memfold("sessions", ...shards, "--json")).out)
  expect(listed.map(({ session }) => session)).toEqual(expect.arrayContaining(sessions))
  expect((await memfold("context", "one", ...shards)).out).toContain("one")
  expect((await memfold("verify", ...shards)).code).toBe(0)
  const copied = await memfold("copy", "--from", `sharded:${path}`, "--to", url("copied"), "--json")
  expect(lines(copied.out).at(-1)).toMatchObject({ type: "copy" })
  const wrong = await memfold("sessions", "--store", `sharded:${file("broken.json", { shards: [] })}`)
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('{"shards":{"NAME":"URL"}}')])
})
