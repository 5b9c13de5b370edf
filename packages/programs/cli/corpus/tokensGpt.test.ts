/** Holds the margin of the estimate to the real transcripts. */
import { TokenCounter } from "@memfold/core"
import { gpt } from "@memfold/tokens-gpt"
import { expect, it } from "vitest"
import { corpus } from "@memfold/harness/corpus"

it("the estimate with its margin is no less than the exact count of any stretch of 1,000 tokens", async () => {
  const exact = await gpt()
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
})
