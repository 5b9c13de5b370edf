/**
 * Holds the margin of the estimate to real transcripts: those in the folder that MEMFOLD_CORPUS names. Without one, there
 * is nothing to check.
 */
import { TokenCounter } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { gpt } from "../src/index.js"

const folder = process.env["MEMFOLD_CORPUS"]

describe.skipIf(folder === undefined)("the estimate with its margin, on real transcripts", () => {
  it("is no less than the exact count of any stretch of 1,000 tokens", async () => {
    const exact = await gpt()
    const { corpus } = await import("../../cli/corpus/transcripts.js")
    let stretches = 0
    for (const { found } of corpus) {
      for (const { messages } of found) {
        let [guarded, real] = [0, 0]
        for (const { usage: _usage, ...message } of messages) {
          guarded += TokenCounter.ofMessage(TokenCounter.estimating, message) * TokenCounter.estimateMargin
          real += TokenCounter.ofMessage(exact, message)
          if (real < 1_000) continue
          expect(guarded).toBeGreaterThanOrEqual(real)
          stretches++
          guarded = real = 0
        }
      }
    }
    expect(stretches).toBeGreaterThan(0)
  }, 300_000)
})
