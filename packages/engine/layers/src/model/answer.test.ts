import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { factsIn } from "./answer.js"

const tea = { layer: "user", kind: "preference", text: "Likes tea", quote: "I like tea" }

describe("factsIn", () => {
  it("reads JSON, with or without a fence around it", () => {
    const json = JSON.stringify({ facts: [{ ...tea, key: "taste:tea" }] })
    for (const answer of [
      json,
      `\ufeff \n${json}\n`,
      `\`\`\`json\n${json}\n\`\`\``,
      `\`\`\`\n${json}\n\`\`\`\n`,
      `\`\`\`JSON\r\n${json}\r\n\`\`\``,
    ]) {
      expect(Either.getOrNull(factsIn(answer))).toMatchObject([{ ...tea, key: "taste:tea" }])
    }
  })

  it("takes a missing key, or null, for none", () => {
    for (const fact of [tea, { ...tea, key: null }]) {
      expect(Either.getOrNull(factsIn(JSON.stringify({ facts: [fact] })))?.[0]?.key).toBeUndefined()
    }
  })

  it("drops what may be a secret", () => {
    const facts = [tea, { ...tea, text: "The password is hunter2" }]
    expect(Either.getOrNull(factsIn(JSON.stringify({ facts })))).toHaveLength(1)
  })

  it("lets what is no fact be refused, and keeps the others", () => {
    const wrong = [{ ...tea, layer: "world" }, { ...tea, text: 7 }, { ...tea, quote: 7 }, null, "tea", [tea]]
    for (const one of wrong)
      expect(Either.getOrNull(factsIn({ facts: [one, tea] }))).toMatchObject([{ quote: [] }, tea])
  })

  it("is strict about everything else", () => {
    for (const answer of [
      "",
      "```",
      "``````",
      "```json```",
      "none",
      "null",
      "[]",
      "{}",
      '{"facts": {}}',
      'Here you are: {"facts": []}',
      '```python\n{"facts": []}\n```',
      '{"facts": []',
    ]) {
      expect(Either.isLeft(factsIn(answer))).toBe(true)
    }
    expect(Either.getOrNull(factsIn('{"facts": []}'))).toEqual([])
  })
})
