/** L15 while others read: a redaction is done when its bytes are gone from every file, and not before. */
import { Message } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { Effect, Exit, Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { expect, it } from "vitest"
import { make, type Options } from "../src/index.js"
import { openDriver, withDriver } from "@memfold/harness/sqlite"
import { eventually, folder, integrity } from "./support.js"

const secret = "the number is 555-0199-SECRET"

/** Whether the words are anywhere on the disk. */
const isWritten = (file: string): boolean =>
  [file, `${file}-wal`, `${file}-shm`]
    .filter(existsSync)
    .some((one) => readFileSync(one, "latin1").includes("555-0199"))

/** A memory on a file, and what closes it. */
const opened = async (options: Options) => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Effect.runPromise(
    Effect.flatMap(make({ busyTimeout: "200 millis", ...options }), (log) =>
      memoryOver(log, { strategy: pairs, compaction: { mode: "off" } }),
    ).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** A file with the words, open in a memory, and another program in the middle of reading it. */
const beingRead = async (options: Partial<Options> = {}) => {
  const filename = join(folder(), "chats.db")
  const one = await opened({ filename, ...options })
  await Effect.runPromise(one.memory.append("one", [Message.user(secret), Message.assistant("noted")]))
  const reader = openDriver(filename)
  reader.exec("BEGIN")
  reader.prepare("SELECT count(*) FROM events").all()
  return { filename, reader, ...one }
}

const failed = (work: Effect.Effect<unknown, unknown>) => Effect.runPromise(Effect.flip(work))

it("is not done while another program reads, however often it is asked for; then a repeat finishes it", async () => {
  const { filename, reader, memory, close } = await beingRead()
  const late = {
    _tag: "LogError",
    reason: expect.stringContaining("still reads the file as it was before") as string,
  }
  expect(await failed(memory.redact("one", 0))).toMatchObject(late)
  // The message itself is redacted by now; its bytes are not gone.
  expect(await failed(memory.redact("one", 0))).toMatchObject(late)
  expect(isWritten(filename)).toBe(true)
  reader.exec("COMMIT")
  expect(await Effect.runPromise(memory.redact("one", 0))).toEqual({ invalidated: 0 })
  expect(isWritten(filename)).toBe(false)
  await close()
  expect(integrity(filename)).toBe("ok")
})

it("is finished without being asked again, soon after the reader is done", async () => {
  const { filename, reader, memory, close } = await beingRead()
  await failed(memory.redact("one", 0))
  reader.exec("COMMIT")
  await eventually("the words are gone", () => !isWritten(filename))
  await close()
})

it("is finished by whoever opens the file next", async () => {
  const { filename, reader, memory, close } = await beingRead()
  await failed(memory.redact("one", 0))
  await close()
  reader.exec("COMMIT")
  expect(isWritten(filename)).toBe(true)
  const other = await opened({ filename })
  expect(isWritten(filename)).toBe(false)
  await other.close()
  // Nothing is left to do.
  expect(withDriver(filename, (driver) => driver.prepare("SELECT * FROM unfinished_rewrites").all())).toEqual(
    [],
  )
})

it("lets everything else of the process run while it waits", async () => {
  const { reader, memory, close } = await beingRead({ busyTimeout: "1500 millis" })
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  await failed(memory.redact("one", 0))
  delays.disable()
  expect(delays.max / 1e6).toBeLessThan(750)
  reader.exec("COMMIT")
  await close()
})
