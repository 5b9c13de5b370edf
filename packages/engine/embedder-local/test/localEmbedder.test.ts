import { execFile } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import type * as Local from "../src/index.js"

/** The model runs in a thread of its own, which loads the build. */
const built = async (folder = fileURLToPath(new URL("..", import.meta.url))) =>
  (await import(pathToFileURL(join(folder, "dist/index.js")).href)) as typeof Local

const deep = process.env["MEMFOLD_TEST_DEPTH"] === "deep"
const folder = process.env["MEMFOLD_MINILM"]

describe("an embedder that cannot be loaded", () => {
  it("says how to install the library", async () => {
    const { localEmbedder } = await built()
    const model = mkdtempSync(join(tmpdir(), "model-"))
    await expect(localEmbedder({ model })).rejects.toMatchObject({
      _tag: "InvalidModel",
      model,
      message: expect.stringContaining("npm install @huggingface/transformers"),
    })
  })

  it("says that no model is named", async () => {
    const { localEmbedder } = await built()
    for (const wrong of [undefined, {}, { modle: "./minilm" }, { model: 5 }, 5])
      await expect(localEmbedder(wrong as never)).rejects.toMatchObject({
        _tag: "InvalidModel",
        message: expect.stringContaining("The embedding model is not named"),
      })
  })

  it("says that a folder is not there, and asks no network for it", async () => {
    const { localEmbedder } = await built()
    await expect(localEmbedder({ model: "./no-such-model" })).rejects.toMatchObject({
      _tag: "InvalidModel",
      detail: "there is no such folder; give the folder of a model, or its id on the hub",
    })
  })
})

describe.runIf(deep)("an embedder of a real model", () => {
  /** What a program of a reader prints, in a folder with the packages and the model. */
  const printed = async (...lines: ReadonlyArray<string>): Promise<unknown> => {
    if (folder === undefined) throw new Error("MEMFOLD_MINILM names no folder; npm run test:deep installs it")
    const program = [
      'import { localEmbedder } from "@memfold/embedder-local"',
      'const embedder = await localEmbedder({ model: "./all-MiniLM-L6-v2", minSimilarity: 0.3 })',
      ...lines,
    ]
    const args = ["--input-type=module", "--eval", program.join("\n")]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
    return JSON.parse(stdout)
  }

  it("finds what the documentation of the model prints, and ends with its program", async () => {
    // Of sbert.net, for the weights before they were made smaller.
    const pairs = [
      ["The cat sits outside", "The dog plays in the garden", 0.2838],
      ["A man is playing guitar", "A woman watches TV", -0.0327],
      ["The new movie is awesome", "The new movie is so great", 0.8939],
    ] as const
    const similarities = await printed(
      'import { Effect } from "effect"',
      `const texts = ${JSON.stringify(pairs.map(([one, other]) => [one, other]))}`,
      "const all = []",
      "for (const pair of texts) {",
      '  const [a, b] = await Effect.runPromise(embedder.embed(pair, { kind: "message" }))',
      "  all.push(a.reduce((sum, value, at) => sum + value * b[at], 0))",
      "}",
      "console.log(JSON.stringify([embedder.dimensions, ...all]))",
    )
    const [dimensions, ...found] = similarities as ReadonlyArray<number>
    expect(dimensions).toBe(384)
    for (const [at, [, , expected]] of pairs.entries())
      expect(Math.abs(found[at]! - expected)).toBeLessThan(0.06)
  })

  it("finds a message that shares no word with the question", async () => {
    const found = await printed(
      'import { createMemory } from "memfold"',
      'const memory = createMemory({ store: "memory:", recall: { embedder } })',
      'await memory.append("s", [',
      '  { role: "user", content: "My physician said I should swim more." },',
      '  { role: "assistant", content: "Understood." },',
      '  { role: "user", content: "The invoice is due on Friday." },',
      "])",
      'const { messages } = await memory.recall("s", "advice from the doctor about exercise")',
      "console.log(JSON.stringify(messages.map(({ text }) => text)))",
      "await memory.close()",
    )
    expect(found).toEqual(["My physician said I should swim more."])
  })

  it("fails after its end, with a reason", async () => {
    const why = await printed(
      'import { Effect } from "effect"',
      "await embedder.close()",
      'const end = await Effect.runPromise(Effect.flip(embedder.embed(["late"], { kind: "query" })))',
      "console.log(JSON.stringify([end.reason, end.detail]))",
    )
    expect(why).toEqual(["unavailable", "the thread of the model has ended"])
  })
})
