import { Embedder } from "@memfold/core"
import { createMemory } from "memfold"
import { Effect } from "effect"
import { writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { describe, expect, it } from "vitest"
import { InvalidModel, layer, staticEmbedder } from "@memfold/embedder-static"
import { modelFolder, safetensors, table, tokenizer, words } from "./model.js"

const embed = async (folder: string, ...texts: ReadonlyArray<string>) => {
  const embedder = await staticEmbedder({ folder })
  const vectors = await Effect.runPromise(embedder.embed(texts, { kind: "message" }))
  return vectors.map((vector) => [...vector].map((value) => Math.round(value * 1e4) / 1e4))
}

/** The unit vector of a sum. */
const unit = (...sum: ReadonlyArray<number>) =>
  sum.map((value) => Math.round((value / Math.hypot(...sum)) * 1e4) / 1e4)

describe("an embedder of static vectors", () => {
  it("gives a text the direction of the mean of its tokens, without tokens that it does not know", async () => {
    const folder = await modelFolder({ embeddings: table("F32") })
    const [cars, unknownBeside, soup] = await embed(folder, "The CARS", "the zyx cars", "I ate a soup")
    expect(cars).toEqual(unit(1, 0, 0.5, 0))
    expect(unknownBeside).toEqual(cars)
    expect(soup).toEqual(unit(0, 2, 1, 0))
  })

  it.each([undefined, null, 5, "model", {}, { folder: " " }, { folder: 5 }])(
    "needs a folder: %j",
    async (given) => {
      await expect(staticEmbedder(given as never)).rejects.toThrow(InvalidModel)
    },
  )

  it.each(["F64", "F16", "BF16"] as const)("reads numbers of the type %s", async (dtype) => {
    const folder = await modelFolder({ embeddings: table(dtype) })
    expect(await embed(folder, "the cars")).toEqual([unit(1, 0, 0.5, 0)])
  })

  it("reads a table of small whole numbers, whose scale is no matter", async () => {
    const folder = await modelFolder({ embeddings: table("I8", 4) })
    expect(await embed(folder, "the cars")).toEqual([unit(1, 0, 0.5, 0)])
  })

  it.each(["I32", "I64"] as const)("follows shared vectors (%s) and weights of tokens", async (dtype) => {
    const shared = words.map(([word], at) => (word === "vehicle" ? 7 : at))
    const folder = await modelFolder({
      embeddings: table("F32"),
      mapping: { dtype, shape: [words.length], values: shared },
      weights: {
        dtype: "F64",
        shape: [words.length],
        values: words.map(([word]) => (word === "the" ? 2 : 1)),
      },
    })
    expect(await embed(folder, "the vehicle")).toEqual([unit(1, 0, 0.5, 0)])
  })

  it("reads the folder that sentence-transformers writes", async () => {
    const folder = await modelFolder({ "embedding.weight": table("F32") }, { within: "0_StaticEmbedding" })
    expect(await embed(folder, "car")).toEqual([[1, 0, 0, 0]])
  })

  it("gives a text without a known token a direction of its own", async () => {
    const folder = await modelFolder({ embeddings: table("F32") })
    const [one = [], again, other] = await embed(folder, "zyx", "zyx", "")
    expect(Math.hypot(...one)).toBeGreaterThan(0)
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
  })

  it("is named by its folder and its content, so that another model is no continuation", async () => {
    const folder = await modelFolder({ embeddings: table("F32") })
    const { name, dimensions } = await staticEmbedder({ folder })
    expect(dimensions).toBe(4)
    expect(name).toMatch(new RegExp(`^${basename(folder)}-[0-9a-f]{8}$`))
    await writeFile(join(folder, "model.safetensors"), safetensors({ embeddings: table("F32", 2) }))
    expect((await staticEmbedder({ folder })).name).not.toBe(name)
    expect((await staticEmbedder({ folder, name: "mine" })).name).toBe("mine")
  })

  it("lets a memory find what means the same, and not what does not", async () => {
    const folder = await modelFolder({ embeddings: table("F32") })
    await using memory = createMemory({
      store: "memory:",
      recall: { embedder: await staticEmbedder({ folder }) },
    })
    await memory.append("s", [
      { role: "user", content: "I bought a car" },
      { role: "assistant", content: "A car!" },
      { role: "user", content: "I ate the soup" },
    ])
    const { messages } = await memory.recall("s", "vehicles")
    const texts = messages.map(({ text }) => text)
    expect(texts).toContain("I bought a car")
    expect(texts).not.toContain("I ate the soup")
  })

  it("is a layer, too", async () => {
    const folder = await modelFolder({ embeddings: table("F32") })
    const name = Effect.map(Embedder.Embedder, (embedder) => embedder?.name).pipe(
      Effect.provide(layer({ folder, name: "mine" })),
    )
    expect(await Effect.runPromise(name)).toBe("mine")
  })
})

describe("a folder without a model", () => {
  const whole = safetensors({ embeddings: table("F32") })
  const cut = (header: unknown) => {
    const json = Buffer.from(JSON.stringify(header))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(json.length))
    return Buffer.concat([length, json, Buffer.alloc(64)])
  }
  it.each([
    ["nothing", Buffer.alloc(0), "shorter"],
    ["a web page", Buffer.from("<!doctype html><title>404</title>"), "no safetensors file"],
    ["half a header", whole.subarray(0, 40), "cut off"],
    ["half a table", whole.subarray(0, -8), '"embeddings" is cut off'],
    [
      "a header that is no JSON",
      Buffer.concat([whole.subarray(0, 8), Buffer.alloc(400, "x")]),
      "header is damaged",
    ],
    ["no table", safetensors({ other: table("F32") }), 'named "embeddings"'],
    [
      "a table without width",
      cut({ embeddings: { dtype: "F32", shape: [11, 0], data_offsets: [0, 0] } }),
      "named",
    ],
    ["a line", cut({ embeddings: { dtype: "F32", shape: [16], data_offsets: [0, 64] } }), "named"],
    [
      "unknown numbers",
      cut({ embeddings: { dtype: "F8_E5M2", shape: [8, 8], data_offsets: [0, 64] } }),
      "F8_E5M2",
    ],
    [
      "an inherited type",
      cut({ embeddings: { dtype: "constructor", shape: [8, 8], data_offsets: [0, 64] } }),
      "constructor",
    ],
    [
      "places before the data",
      cut({ embeddings: { dtype: "I8", shape: [8, 8], data_offsets: [-64, 0] } }),
      "header of",
    ],
    [
      "another size",
      cut({ embeddings: { dtype: "I8", shape: [8, 9], data_offsets: [0, 64] } }),
      "size of its shape",
    ],
  ])("is refused: %s", async (_, bytes, detail) => {
    const folder = await modelFolder(bytes)
    const failed = await staticEmbedder({ folder }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(InvalidModel)
    expect((failed as InvalidModel).message).toContain(detail)
    expect((failed as InvalidModel).file).toBe(join(folder, "model.safetensors"))
  })

  it.each([
    ["no JSON", "<html>"],
    ["null", "null"],
    ["another thing", "{}"],
    ["an unknown kind", JSON.stringify({ ...tokenizer, model: { type: "Other" } })],
  ])("is refused with a tokenizer that is %s", async (_, description) => {
    const folder = await modelFolder({ embeddings: table("F32") }, { description })
    const failed = await staticEmbedder({ folder }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(InvalidModel)
    expect((failed as InvalidModel).file).toBe(join(folder, "tokenizer.json"))
  })

  it("is refused if there is none, with the file and what to give", async () => {
    const failed = Effect.provide(Embedder.Embedder, layer({ folder: "/nowhere" }))
    expect(await Effect.runPromise(Effect.flip(failed))).toMatchObject({
      _tag: "InvalidModel",
      message: `No static model can be read from ${join("/nowhere", "model.safetensors")}: it cannot be read (ENOENT). Give the folder of a model2vec or sentence-transformers static model, with model.safetensors and tokenizer.json.`,
    })
  })
})
