import { OptionGroup, TokenCounter } from "@memfold/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { prose } from "../test/prose.js"
import { gpt, layer } from "./index.js"

describe("gpt", () => {
  it("counts with o200k_base unless asked for another encoding", async () => {
    const text = prose["Chinese, simplified"] ?? ""
    const o200k = await gpt()
    const cl100k = await gpt({ encoding: "cl100k_base" })
    expect([o200k.name, cl100k.name]).toEqual(["o200k_base", "cl100k_base"])
    expect(o200k.count("hello world")).toBe(2)
    expect(cl100k.count("hello world")).toBe(2)
    expect(o200k.count("")).toBe(0)
    // The newer vocabulary holds far more Chinese.
    expect(o200k.count(text)).toBeLessThan(0.85 * cl100k.count(text))
  })

  it.each(["o200k_base", "cl100k_base"] as const)(
    "counts special tokens as plain text in %s",
    async (encoding) => {
      const counter = await gpt({ encoding })
      for (const text of ["<|endoftext|>", "a<|im_start|>b", "<|fim_prefix|><|endofprompt|>"]) {
        expect(counter.count(text)).toBeGreaterThan(3)
      }
    },
  )

  it("counts a lone surrogate as the replacement character it becomes", async () => {
    const counter = await gpt()
    for (const text of ["\ud83c", "\udf89", "a\ud83c b", "\udf89\ud83c".repeat(5)]) {
      expect(counter.count(text)).toBe(counter.count(text.toWellFormed()))
    }
  })

  it("takes no time for ever on long runs", { timeout: 20_000 }, async () => {
    const counter = await gpt()
    const started = cpuTime()
    for (const unit of ["a", "é", "漢", " ", "\n", "=", "/\n", "!\u0301", "🎉", "\ud83c", "7"]) {
      const tokens = counter.count(unit.repeat(200_000 / unit.length))
      expect(tokens).toBeGreaterThan(200_000 / 200)
      expect(tokens).toBeLessThanOrEqual(200_000)
    }
    // Uncut, the first alone takes more than a minute.
    expect(started()).toBeLessThan(15_000)
  })

  it("L19: holds nobody up for long over a long text, and counts it as in one go", async () => {
    const { count, countInSteps } = await gpt()
    const units = ["a", "漢字", "，漢", "word ", "\n", "=", "! ", "7", "aB3/", '{"a":1},', "it's "]
    for (const unit of [...units, prose["English"] ?? ""]) {
      const text = unit.repeat(1_000_000 / unit.length)
      /** How long each step takes. */
      const stepsOf = (): ReadonlyArray<number> => {
        const steps = countInSteps!(text)
        const times: Array<number> = []
        for (;;) {
          const held = cpuTime()
          const { done, value } = steps.next()
          times.push(held())
          if (done !== true) continue
          expect([unit, value]).toEqual([unit, count(text)])
          return times
        }
      }
      // What collects garbage in between is long in one step, and not in the same one again.
      let times = stepsOf()
      for (let again = 0; again < 3 && Math.max(...times) >= 50; again++) {
        const others = stepsOf()
        times = times.map((time, at) => Math.min(time, others[at]!))
      }
      expect([unit, Math.max(...times) < 50]).toEqual([unit, true])
    }
  })

  it("names the encodings there are when asked for another", async () => {
    await expect(gpt({ encoding: "p50k" as never })).rejects.toThrow(/o200k_base, cl100k_base/)
    await expect(gpt({ encoding: "toString" as never })).rejects.toThrow(RangeError)
  })

  it.each(["cl100k_base", null, { encodings: "cl100k_base" }])(
    "counts with no other encoding for %j",
    async (given) => {
      await expect(gpt(given as never)).rejects.toBeInstanceOf(OptionGroup.InvalidOption)
    },
  )
})

describe("layer", () => {
  const name = Effect.map(TokenCounter.TokenCounter, (counter) => counter.name)

  it("takes the place of the estimate", async () => {
    expect(await Effect.runPromise(name)).toBe("estimate")
    expect(await Effect.runPromise(name.pipe(Effect.provide(layer())))).toBe("o200k_base")
    expect(await Effect.runPromise(name.pipe(Effect.provide(layer({ encoding: "cl100k_base" }))))).toBe(
      "cl100k_base",
    )
  })
})
