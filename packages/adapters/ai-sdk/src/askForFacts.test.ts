import { createMemory, Fact, modelExtractor } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { versions } from "@memfold/harness/aiSdkVersions"
import { askForFacts, encodeContext } from "./index.js"

describe("facts from a model of the AI SDK", () => {
  for (const { name, model: make } of versions.slice(1)) {
    it(`are asked for as an object that fits their schemas: ${name}`, async () => {
      const fact = {
        layer: "user",
        kind: "fact",
        predicate: "diet",
        key: null,
        subject: null,
        value: { type: "vegan" },
      }
      const answer = { ...fact, quote: "I am vegan", validFrom: "2024-03-01", validUntil: null, ended: false }
      const { model, prompts } = make(() => ({ text: JSON.stringify({ facts: [answer] }) }))
      const memory = createMemory({
        store: "memory:",
        facts: { diet: Fact.of({ schema: z.object({ type: z.enum(["vegan", "none"]) }), single: true }) },
        layers: { extractor: modelExtractor({ name: "played", ask: askForFacts(model) }) },
        compaction: { mode: "manual" },
      })
      await memory.append(
        "s",
        [
          { role: "user", content: "I am vegan since March 2024." },
          { role: "assistant", content: "Noted." },
        ],
        { owner: "ann" },
      )
      expect(prompts).toHaveLength(0)
      // Asked for when turns are compacted, and not at each of them.
      await memory.compact("s", { which: "due" })
      expect(JSON.stringify(prompts[0])).toContain('\\"vegan\\"')
      expect((await memory.factsOf("ann")).diet).toMatchObject({
        value: { type: "vegan" },
        validFrom: Date.parse("2024-03-01"),
        timeSource: "said",
        sources: [{ session: "s", quote: "I am vegan" }],
        by: { extractor: "played" },
      })
      await memory.close()
    })
  }

  for (const { name, major, sdk, model: make } of versions)
    for (const streams of [true, false])
      it(`are asked for at the end of the newest context, byte for byte: ${name}, ${streams ? "streamed" : "at once"}`, async () => {
        const found = [{ layer: "user", predicate: "diet", value: "vegan", quote: "I am vegan" }]
        const { model, prompts } = make((_, request) => ({
          text: request === 0 ? "Noted." : JSON.stringify({ facts: found }),
        }))
        const asks = { instructions: "Be brief.", streams, major }
        const memory = createMemory({
          store: "memory:",
          layers: { extractor: modelExtractor({ ask: askForFacts(model, { askInContext: asks }) }) },
          compaction: { mode: "manual" },
        })
        await memory.append("s", { role: "user", content: "I was never asked." }, { owner: "ann" })
        await memory.append("s", { role: "assistant", content: "What do you eat?" })
        await memory.append("s", { role: "user", content: "I am vegan." })
        const { messages } = await memory.neutral.context("s")
        const context = encodeContext(messages, { major })
        await sdk.generateText({ model, system: "Be brief.", messages: context.messages as never })
        await memory.append("s", { role: "assistant", content: "Noted." })
        await memory.compact("s", { which: "due" })
        const [call, extraction] = prompts
        expect(prompts).toHaveLength(2)
        // The call, its answer, and the question.
        expect(extraction).toHaveLength(call!.length + 2)
        expect(JSON.stringify(extraction!.slice(0, call!.length))).toBe(JSON.stringify(call))
        expect(JSON.stringify(extraction!.at(-1))).toContain("Write the JSON now.")
        expect((await memory.factsOf("ann")).map(({ text }) => text)).toEqual(["diet: vegan"])
        await memory.close()
      })

  it("are asked for by a prompt of their own when the cache of the provider has expired", async () => {
    const { model, prompts } = versions.at(-1)!.model(() => ({ text: JSON.stringify({ facts: [] }) }))
    const memory = createMemory({
      store: "memory:",
      layers: {
        extractor: modelExtractor({ ask: askForFacts(model, { askInContext: { cacheMinutes: 5 } }) }),
      },
      compaction: { mode: "manual" },
    })
    const time = Date.now() - 6 * 60_000
    await memory.neutral.append("s", [
      { role: "user", parts: [{ type: "text", text: "I am vegan." }], time },
      { role: "assistant", parts: [{ type: "text", text: "Noted." }], time },
    ])
    await memory.compact("s", { which: "due" })
    expect(prompts[0]?.map(({ role }) => role)).toEqual(["system", "user"])
    await memory.close()
  })
})
