/**
 * A static model: a table with one vector for each token. The vector of a text is the mean of its tokens' vectors; nothing else is
 * computed, so a processor does it in a millisecond or two.
 */
import { Tokenizer } from "@huggingface/tokenizers"
import { createHash } from "node:crypto"
import { access, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { InvalidModel } from "./InvalidModel.js"
import { tensorsOf } from "./safetensors.js"

/** A loaded model. */
export interface StaticModel {
  readonly dimensions: number
  /** The first characters of the checksum of the table and the tokenizer. */
  readonly checksum: string
  readonly vectorOf: (text: string) => Float32Array
}

/** Larger files are no static models. */
const mostBytes = 2 ** 31 - 1

/** Where sentence-transformers puts a static model inside of its folder. */
const subfolder = "0_StaticEmbedding"

/** The names of the table: of model2vec, and of sentence-transformers. */
const tableNames = ["embeddings", "embedding.weight"]

const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error
    ? `it cannot be read (${String(error.code)})`
    : "it cannot be read"

const bytesOf = async (file: string): Promise<Buffer> => {
  try {
    const { size } = await stat(file)
    if (size > mostBytes)
      throw new InvalidModel({ file, detail: `it has ${size} bytes, too many for a static model` })
    return await readFile(file)
  } catch (error) {
    throw error instanceof InvalidModel ? error : new InvalidModel({ file, detail: reasonOf(error) })
  }
}

/** Cuts a text into the numbers of its known tokens. */
type Tokens = (text: string) => ReadonlyArray<number>

const tokensOf = (file: string, json: string): Tokens => {
  try {
    const description: unknown = JSON.parse(json)
    const tokenizer = new Tokenizer(description as object, {})
    const unknown = (description as { model?: { unk_token?: string | null; unk_id?: number | null } }).model
    const unknownId =
      unknown?.unk_id ?? (unknown?.unk_token ? tokenizer.token_to_id(unknown.unk_token) : undefined)
    return (text) =>
      tokenizer.encode(text, { add_special_tokens: false }).ids.filter((id: number) => id !== unknownId)
  } catch {
    throw new InvalidModel({ file, detail: "it is no tokenizer that is known here, or it is damaged" })
  }
}

/** A text without a known token has a direction of its own, which is far from all others in a space of many dimensions. */
const ownDirection = (text: string, dimensions: number): Float32Array => {
  const bytes = createHash("shake256", { outputLength: 4 * dimensions })
    .update(text)
    .digest()
  return Float32Array.from({ length: dimensions }, (_, at) => bytes.readInt32LE(4 * at) / 2 ** 31)
}

/**
 * Loads a model from its folder.
 *
 * @param folder - a folder with `model.safetensors` and `tokenizer.json`, of model2vec or sentence-transformers
 * @throws {InvalidModel} as a rejection, if a file is missing, damaged, or no static model
 */
export const loadModel = async (folder: string): Promise<StaticModel> => {
  const inner = join(folder, subfolder)
  const place = await access(inner).then(
    () => inner,
    () => folder,
  )
  const [table, vocabulary] = [join(place, "model.safetensors"), join(place, "tokenizer.json")]
  const [bytes, json] = [await bytesOf(table), await bytesOf(vocabulary)]
  const tensor = tensorsOf(table, bytes)
  const vectors = tableNames.map(tensor).find((one) => one !== null)
  const [rows = 0, dimensions = 0, ...rest] = vectors?.shape ?? []
  if (vectors === undefined || vectors === null || rest.length > 0 || rows * dimensions === 0)
    throw new InvalidModel({
      file: table,
      detail: `it has no table of vectors named ${tableNames.map((name) => `"${name}"`).join(" or ")}`,
    })
  // model2vec can share one vector among tokens, and weigh each token.
  const [mapping, weights] = [tensor("mapping"), tensor("weights")]
  const tokens = tokensOf(vocabulary, json.toString())

  const vectorOf = (text: string): Float32Array => {
    const sum = new Float32Array(dimensions)
    for (const id of tokens(text)) {
      const row = mapping === null ? id : (mapping.values[id] ?? -1)
      if (!(row >= 0 && row < rows)) continue
      const weight = weights === null ? 1 : (weights.values[id] ?? 0)
      for (let at = 0; at < dimensions; at++) sum[at]! += weight * vectors.values[row * dimensions + at]!
    }
    const length = Math.hypot(...sum)
    return length > 0 && Number.isFinite(length)
      ? sum.map((value) => value / length)
      : ownDirection(text, dimensions)
  }
  const checksum = createHash("sha256").update(bytes).update(json).digest("hex").slice(0, 8)
  return { dimensions, checksum, vectorOf }
}
