/** L15 on a disk: what is redacted is in no file of the database any more. */
import { SummaryMode, Keep, Memory, Message, Strategy, Trigger, Verify, Summarizer } from "@memfold/core"
import { EventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { layer } from "../src/index.js"
import { folder, integrity } from "./support.js"

const secret = "the number is 555-0199-SECRET"

/** Everything that lies on the disk for a database. */
const bytes = (file: string): string =>
  [file, `${file}-wal`, `${file}-shm`]
    .filter(existsSync)
    .map((one) => readFileSync(one, "latin1"))
    .join("\n")

const strategy = Strategy.make({
  name: "s",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

/** Writes down all it has read. */
const parrot = {
  name: "parrot",
  summarize: ({
    messages,
    previous,
  }: {
    messages: ReadonlyArray<Message.Message>
    previous?: string | undefined
  }) => Effect.succeed({ text: [previous ?? "", ...messages.map(Message.text)].join("|").slice(0, 200) }),
}

it("L15: a redacted message is in no file of the database, free pages and write-ahead log included", async () => {
  const file = join(folder(), "chats.db")
  const said = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      Message.user(`message ${index} of ordinary length, and a little more`),
    )
  await Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append("one", [Message.user(secret), ...said(5)])
    yield* memory.compact("one", { which: "due" })
    yield* memory.append("one", said(40))
    yield* memory.compact("one", { which: "due" })
    expect(bytes(file)).toContain("555-0199")
    expect(yield* memory.redact("one", 0)).toEqual({ invalidated: 2 })
    expect(bytes(file)).not.toContain("555-0199")
    yield* memory.compact("one", { which: "due" })
    expect(bytes(file)).not.toContain("555-0199")
    expect(yield* Verify.session(yield* EventLog.EventLog, "one")).toEqual([])
  }).pipe(
    Effect.provide(Memory.layer({ strategy, compaction: { mode: "manual" } })),
    Effect.provide(layer({ filename: file })),
    Effect.provide(Layer.succeed(Summarizer.Summarizer, parrot)),
    Effect.runPromise,
  )
  expect(bytes(file)).not.toContain("555-0199")
  expect(integrity(file)).toBe("ok")
})
