import { createMemory, Fact, modelExtractor } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { versions } from "@memfold/harness/aiSdkVersions"
import { askForFacts } from "./index.js"

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
})
