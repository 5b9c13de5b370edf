/** A small model: words with vectors that were written for it, in the files that model2vec writes. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** How the numbers of a tensor are written. */
type Written = "F64" | "F32" | "F16" | "BF16" | "I64" | "I32" | "I8"

interface WrittenTensor {
  readonly dtype: Written
  readonly shape: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

/** Numbers of 16 bits, for values that they can hold exactly. */
const half = (value: number): number => {
  if (value === 0) return 0
  const exponent = Math.floor(Math.log2(Math.abs(value)))
  const fraction = (Math.abs(value) / 2 ** exponent - 1) * 1024
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction
}

const written: Readonly<Record<Written, (value: number) => Buffer>> = {
  F64: (value) => Buffer.from(new Uint8Array(Float64Array.of(value).buffer)),
  F32: (value) => Buffer.from(new Uint8Array(Float32Array.of(value).buffer)),
  F16: (value) => Buffer.from(new Uint8Array(Uint16Array.of(half(value)).buffer)),
  BF16: (value) => Buffer.from(new Uint8Array(Float32Array.of(value).buffer).slice(2)),
  I64: (value) => Buffer.from(new Uint8Array(BigInt64Array.of(BigInt(value)).buffer)),
  I32: (value) => Buffer.from(new Uint8Array(Int32Array.of(value).buffer)),
  I8: (value) => Buffer.from(new Uint8Array(Int8Array.of(value).buffer)),
}

/** A file of tensors in the safetensors format. */
export const safetensors = (tensors: Readonly<Record<string, WrittenTensor>>): Buffer => {
  const parts: Array<Buffer> = []
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } }
  let end = 0
  for (const [name, { dtype, shape, values }] of Object.entries(tensors)) {
    const data = Buffer.concat(values.map(written[dtype]))
    header[name] = { dtype, shape, data_offsets: [end, end + data.length] }
    end += data.length
    parts.push(data)
  }
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([length, json, ...parts])
}

/** Tokens and their vectors: the first number is for driving, the second for food, the third for grammar. */
export const words: ReadonlyArray<readonly [token: string, vector: ReadonlyArray<number>]> = [
  ["[PAD]", [0, 0, 0, 0]],
  ["[UNK]", [0, 0, 0, 1]],
  ["i", [0, 0, 0.25, 0]],
  ["a", [0, 0, 0.25, 0]],
  ["the", [0, 0, 0.25, 0]],
  ["bought", [0, 0, 0.5, 0.5]],
  ["ate", [0, 1, 0.5, 0]],
  ["car", [1, 0, 0, 0]],
  ["vehicle", [1, 0, 0, 0.25]],
  ["soup", [0, 1, 0, 0]],
  ["##s", [0, 0, 0.25, 0]],
]

/** The description of a tokenizer that cuts texts into these words. */
export const tokenizer = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: null,
  decoder: null,
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(words.map(([word], at) => [word, at])),
  },
}

/** The table of the words' vectors. */
export const table = (dtype: Written, scale = 1): WrittenTensor => ({
  dtype,
  shape: [words.length, 4],
  values: words.flatMap(([, vector]) => vector.map((value) => value * scale)),
})

/** Writes the files of a model into a new folder, which goes with the test. */
export const modelFolder = async (
  tensors: Readonly<Record<string, WrittenTensor>> | Buffer,
  { within = "", description = JSON.stringify(tokenizer) } = {},
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "memfold-model-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, within), { recursive: true })
  await writeFile(
    join(folder, within, "model.safetensors"),
    Buffer.isBuffer(tensors) ? tensors : safetensors(tensors),
  )
  await writeFile(join(folder, within, "tokenizer.json"), description)
  return folder
}
