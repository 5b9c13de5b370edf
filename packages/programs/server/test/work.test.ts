/** Work that one client asks for: how much is taken, what it counts as, and what others wait meanwhile. */
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { deep } from "@memfold/harness/depth"
import { makeToken } from "../src/index.js"
import { workOf } from "../src/limits.js"
import { ask, started } from "./services.js"

const texts = (count: number): ReadonlyArray<Record<string, string>> =>
  Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: `m${at}` }))

const sentences = (count: number): string =>
  Array.from({ length: count }, (_, at) => `The order m${at} has word${at % 999}.`).join(" ")

/** The most CPU time, in milliseconds, that passed between two turns of the event loop while something ran: other processes take none of it. */
const longestHold = async (work: () => Promise<unknown>): Promise<number> => {
  let [longest, isOver] = [0, false]
  let before = process.cpuUsage()
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    longest = Math.max(longest, (user + system) / 1_000)
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return longest
}

describe("a body", () => {
  it("has at most 10,000 items in a list and 100,000 in all, and is refused before it is parsed", async () => {
    const { url } = await started()
    const path = `${url}/v1/sessions/s/messages`
    for (const body of [
      { messages: texts(10_001) },
      {
        messages: [
          {
            role: "user",
            content: "x",
            ...Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, 0])),
          },
        ],
      },
      { messages: texts(9_000).map((one) => ({ ...one, a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] })) },
    ]) {
      const { status, body: told } = await ask(path, { body })
      expect([status, told]).toMatchObject([413, { type: "urn:memfold:TooMany" }])
    }
    expect(await ask(path, { body: { messages: texts(1_000) } })).toMatchObject({ status: 201 })
  })

  it("may have many commas and brackets in its texts", async () => {
    const { url } = await started()
    const messages = [{ role: "user", content: ',[{"\\'.repeat(50_000) }]
    expect(await ask(`${url}/v1/sessions/s/messages`, { body: { messages } })).toMatchObject({ status: 201 })
  })
})

describe("a text that is traced", () => {
  it("has at most 1,000 sentences and 200,000 characters", async () => {
    const { url } = await started()
    await ask(`${url}/v1/sessions/s/messages`, { body: { messages: texts(2) } })
    for (const text of [sentences(1_001), "a".repeat(200_001), ".".repeat(2 ** 20)])
      expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text } })).toMatchObject({
        status: 400,
        body: { type: "urn:memfold:InvalidInput" },
      })
    expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text: sentences(1_000) } })).toMatchObject({
      status: 200,
    })
    expect(await ask(`${url}/v1/sessions/s/trace`, { body: { text: ".".repeat(200_000) } })).toMatchObject({
      status: 200,
    })
  })
})

describe("the rate of a token", () => {
  it("counts work: a request of many messages counts as many", async () => {
    const { token, stored } = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const { token: other, stored: otherStored } = makeToken({ tenant: "other", rights: ["read", "write"] })
    // Of a clock that stands still, nobody is given time.
    const still = vi.spyOn(Date, "now").mockReturnValue(Date.now())
    onTestFinished(() => still.mockRestore())
    const { url } = await started({ tokens: [stored, otherStored], rate: 100 })
    const append = async (session: string, count: number, as = token) => {
      const body = { messages: texts(count) }
      const headers = { authorization: `Bearer ${as}` }
      return (await ask(`${url}/v1/sessions/${session}/messages`, { body, headers })).status
    }
    expect(workOf("", { items: 30_000 })).toBe(1)
    expect(await Promise.all(["a", "b", "c"].map((session) => append(session, 9_000)))).toContain(429)
    expect(await append("d", 1)).toBe(429)
    expect(await append("d", 1, other)).toBe(201)
    // More than the work of 18,000 messages, less what a second has.
    still.mockReturnValue(Date.now() + 1_500)
    expect(await append("d", 1)).toBe(201)
  })
})

describe.runIf(deep)("what one client asks for", () => {
  it("holds the event loop no longer than 50 ms at a time", { timeout: 300_000 }, async () => {
    const { url } = await started()
    const works: ReadonlyArray<readonly [string, string, unknown]> = [
      ["POST", "a/messages", { messages: texts(9_999) }],
      ["PUT", "b/messages", { messages: texts(9_999) }],
      ["PUT", "b/messages", { messages: texts(9_998) }],
      ["POST", "b/trace", { text: sentences(1_000) }],
      ["GET", "b/context", undefined],
      ["POST", "b/recall", { query: sentences(10) }],
    ]
    for (const [method, path, body] of works) {
      const holds: Array<number> = []
      // The first one compiles the code; any may have the collector of garbage in it.
      for (let run = 0; run < 4; run++)
        holds.push(await longestHold(() => ask(`${url}/v1/sessions/${run}-${path}`, { method, body })))
      expect.soft({ path, holds: Math.min(...holds) < 50 }).toEqual({ path, holds: true })
    }
  })
})
