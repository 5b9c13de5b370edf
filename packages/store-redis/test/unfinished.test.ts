/** L15 when a server cannot rewrite its files: a redaction is done when its bytes are gone from them, and not before. */
import { Message } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { keysOf, make } from "../src/index.js"
import { eventually, type Server, servers } from "@memfold/harness/redisServers"
import { tenant } from "./support.js"

const { server } = servers()
const secret = "the number is 555-0199-SECRET"

/** Whether the words are in any file of a server. */
const isWritten = ({ folder }: Server): boolean =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .some((file) => readFileSync(file, "latin1").includes("555-0199"))

/** The largest file that a server and the processes it starts may write: as if its disk were full beyond that. */
const limitFiles = async ({ client }: Server, bytes: number | "unlimited") => {
  const [, pid = ""] = /process_id:(\d+)/.exec(await client.info("server")) ?? []
  execFileSync("prlimit", ["--pid", pid, `--fsize=${bytes}:unlimited`])
}

const opened = async (one: Server, prefix: string) => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Effect.runPromise(
    Effect.flatMap(make({ url: one.url, prefix }), (log) =>
      memoryOver(log, { strategy: pairs, compaction: { mode: "off" } }),
    ).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** A server with the words, which has so much else that it cannot rewrite its files. */
const full = async () => {
  const one = await server({ config: ["appendonly yes", "appendfsync everysec"] })
  await one.client.set("other", randomBytes(2_000_000))
  await one.client.bgrewriteaof()
  await eventually("the large value is in the base file", async () =>
    /aof_rewrite_in_progress:0/.test(await one.client.info("persistence")),
  )
  const prefix = tenant()
  const own = await opened(one, prefix)
  await Effect.runPromise(own.memory.append("one", [Message.user(secret), Message.assistant("noted")]))
  await limitFiles(one, 1_000_000)
  return { one, prefix, ...own }
}

const failed = (work: Effect.Effect<unknown, unknown>) => Effect.runPromise(Effect.flip(work))

const late = {
  _tag: "LogError",
  reason: expect.stringContaining("could not rewrite its file, which still has the old text") as string,
}

it("is not done while the server cannot rewrite its files, however often it is asked for", async () => {
  const { one, prefix, memory, close } = await full()
  expect(await failed(memory.redact("one", 0))).toMatchObject(late)
  expect(await failed(memory.redact("one", 0))).toMatchObject(late)
  expect(isWritten(one)).toBe(true)
  await limitFiles(one, "unlimited")
  expect(await Effect.runPromise(memory.redact("one", 0))).toEqual({ invalidated: 0 })
  await eventually("the words are gone", async () => !isWritten(one))
  expect(await one.client.exists(keysOf(prefix, "one").unfinished)).toBe(0)
  await close()
})

it("is finished without being asked again, soon after it can be", async () => {
  const { one, memory, close } = await full()
  await failed(memory.redact("one", 0))
  await limitFiles(one, "unlimited")
  await eventually("the words are gone", async () => !isWritten(one))
  await close()
})

it("is finished by whoever opens the log next, even if the session is deleted by then", async () => {
  const { one, prefix, memory, close } = await full()
  await failed(memory.redact("one", 0))
  expect(await failed(memory.delete("one"))).toMatchObject(late)
  await close()
  await limitFiles(one, "unlimited")
  const other = await opened(one, prefix)
  await eventually("the words are gone", async () => !isWritten(one))
  await eventually(
    "nothing is left to do",
    async () => (await one.client.exists(keysOf(prefix, "one").unfinished)) === 0,
  )
  await other.close()
})

it("is a deletion, too: it is done when the words are in no file, and not before", async () => {
  const { one, prefix, memory, close } = await full()
  await limitFiles(one, "unlimited")
  await Effect.runPromise(memory.append("two", [Message.user(secret)], { owner: "ann" }))
  await Effect.runPromise(memory.append("three", [Message.user(secret)], { owner: "ann" }))
  await limitFiles(one, 1_000_000)
  expect(await failed(memory.delete("one"))).toMatchObject(late)
  expect(isWritten(one)).toBe(true)
  await limitFiles(one, "unlimited")
  // It is gone from the store, and what is left is finished.
  expect(await Effect.runPromise(memory.delete("one"))).toBe(false)
  expect(await Effect.runPromise(memory.deleteOf("ann"))).toBe(2)
  await eventually("the words are gone", async () => !isWritten(one))
  for (const session of ["one", "two", "three"])
    expect(await one.client.exists(keysOf(prefix, session).unfinished)).toBe(0)
  await close()
})
