import { EventLog, InMemoryEventLog, Memory } from "@memfold/core"
import { Message } from "@memfold/message"
import { echoing, pairs } from "@memfold/harness/engine"
import { Effect, Exit, Scope } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { behindStored, StoredSession } from "./index.js"

/** A session of a memory that is never closed: it holds nothing but a map. */
const opened = async (): Promise<StoredSession> => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Memory.make({ strategy: pairs, compaction: { mode: "off" } }).pipe(
    Effect.provide(echoing),
    Effect.provideServiceEffect(EventLog.EventLog, InMemoryEventLog.make),
    Scope.extend(scope),
    Effect.runPromise,
  )
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return new StoredSession(memory, "s", "library")
}

const said = (count: number) => Array.from({ length: count }, (_, at) => Message.user(`message ${at}`))

describe("a stored session", () => {
  it("is refused where it is given no memory", () => {
    for (const wrong of [undefined, null, {}, 5, "memory:", Promise.resolve()])
      expect(() => new StoredSession(wrong as never, "s", "library")).toThrow(
        'The option "memory" must be a memory, as createMemory or Memory.make gives it',
      )
  })

  it("appends a key once, and nothing for no messages", async () => {
    const session = await opened()
    await session.append([])
    const messages = said(2)
    const idempotencyKey = session.keyOf("given", messages)
    expect(idempotencyKey).toMatch(/^library\/given\/\w+$/)
    expect(session.keyOf("given", said(2))).toBe(idempotencyKey)
    expect(session.keyOf("given", said(3))).not.toBe(idempotencyKey)
    for (let times = 0; times < 2; times++) await session.append(messages, { idempotencyKey })
    expect((await session.all()).messages).toEqual(messages)
    await session.clear()
    expect((await session.all()).messages).toEqual([])
  })

  it("looks at a hundred messages more than are given", async () => {
    const session = await opened()
    await session.append(said(130))
    expect(await session.newest()).toHaveLength(100)
    expect(await session.newest(20)).toEqual(said(130).slice(10))
  })

  it("goes on from an earlier place, which its newest page names", async () => {
    const session = await opened()
    await session.append(said(130))
    const { messages, from } = await session.newestPage()
    expect([messages.length, from]).toEqual([100, 30])
    const other = [Message.user("another")]
    const idempotencyKey = session.keyOf("edit", other)
    const edited = await session.edit(from, other, { idempotencyKey })
    expect(edited).toMatchObject({ from: 30, to: 31, left: 0, duplicate: false })
    expect(await session.edit(from, other, { idempotencyKey })).toMatchObject({ duplicate: true })
    expect((await session.all()).messages).toEqual([...said(30), ...other])
  })

  it("has the context in the form of a library, with what that cannot express", async () => {
    const session = await opened()
    await session.append(said(2))
    const { encoded, layout, tokens } = await session.context(({ messages }) => ({
      texts: messages.map(Message.text),
      omitted: [{ message: 1, part: "file" }],
    }))
    expect(encoded.texts).toEqual(["message 0", "message 1"])
    expect(layout.at(-1)).toMatchObject({ section: "unsupported", from: 1, to: 2, parts: ["file"] })
    expect(tokens).toBeGreaterThan(0)
  })
})

describe("what is new of given messages", () => {
  it("is what stands behind the last stored one, whatever is in front of it", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), (stored) => {
        const given = stored.map((isStored, at) => ({ isStored, at }))
        const fresh = behindStored(given, ({ isStored }) => isStored)
        expect(fresh.some(({ isStored }) => isStored)).toBe(false)
        expect(given.slice(0, given.length - fresh.length).at(-1)?.isStored ?? true).toBe(true)
        expect(fresh).toEqual(given.slice(given.length - fresh.length))
      }),
    )
  })
})
