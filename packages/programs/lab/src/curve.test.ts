import { Message } from "@memfold/core"
import { Prices } from "@memfold/prices"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { describe, expect, it } from "vitest"
import { ofTranscript } from "./Conversation.js"
import { curveOf } from "./curve.js"
import { fullHistory } from "./prepare.js"
import { replay } from "./replay.js"

const chat = ofTranscript(
  "chat",
  Array.from({ length: 60 }, (_, turn) => [
    Message.user(`Turn ${turn}: where is the parcel? ${"It is late, and I need it. ".repeat(6)}`),
    Message.assistant(
      `It is order KX-${4_000 + (turn % 20)}, and it was sent. ${"We are sorry for that. ".repeat(6)}`,
    ),
  ]).flat(),
)
const prices = Prices.presets["claude-sonnet-5.5"]
const sliding = SlidingWindow({ tailKeepSize: 8, compressionWindowSize: 8 })

describe("a curve", () => {
  it("has a point for each call, and ends at what a replay comes to", async () => {
    const { points, compactions } = await curveOf(chat, sliding, { prices })
    const replayed = await replay(chat, sliding, { prices: [prices] })
    expect(points.map(({ tokens }) => tokens)).toEqual(replayed.contexts)
    expect(compactions).toBe(replayed.compactions)
    expect(compactions).toBeGreaterThan(3)
    expect(points.map(({ index }) => index)).toEqual(Array.from({ length: 60 }, (_, turn) => 2 * turn + 1))
    for (const [at, point] of points.entries()) {
      const before = points[at - 1]
      for (const key of ["dollars", "needed", "there", "compactions"] as const)
        expect(point[key]).toBeGreaterThanOrEqual(before?.[key] ?? 0)
      expect(point.there).toBeLessThanOrEqual(point.needed)
    }
  })

  it("of the full history keeps all identifiers, and its contexts only grow", async () => {
    const full = await curveOf(chat, fullHistory, { prices })
    const last = full.points.at(-1)
    expect(last?.needed).toBeGreaterThan(20)
    expect(last?.there).toBe(last?.needed)
    expect(full.points.every(({ tokens }, at) => tokens > (full.points[at - 1]?.tokens ?? 0))).toBe(true)
    const short = await curveOf(chat, sliding, { prices })
    expect(short.points.at(-1)?.tokens).toBeLessThan(last!.tokens / 2)
  })

  it("lets others have their turn, and ends when it is told to", async () => {
    const stop = new AbortController()
    const enough = new Error("enough")
    let turns = 0
    const count = () => {
      turns++
      if (turns === 10) stop.abort(enough)
      else setImmediate(count)
    }
    setImmediate(count)
    await expect(curveOf(chat, sliding, { prices, signal: stop.signal })).rejects.toBe(enough)
    expect(turns).toBe(10)
  })
})
