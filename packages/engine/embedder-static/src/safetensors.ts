/**
 * Reads tensors from a file of the safetensors format: eight bytes with the length of the header, the header as JSON, and the numbers.
 * The format is described at https://huggingface.co/docs/safetensors.
 */
import { Schema } from "effect"
import { InvalidModel } from "./InvalidModel.js"

const Natural = Schema.NonNegativeInt

const Entry = Schema.Struct({
  dtype: Schema.String,
  shape: Schema.Array(Natural),
  data_offsets: Schema.Tuple(Natural, Natural),
})

const Header = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** The longest header that the format allows, in bytes. */
const longestHeader = 100_000_000

/** A number of 16 bits: 1 for the sign, 5 for the exponent, 10 for the fraction. */
const half = (bits: number): number => {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

const scratch = new DataView(new ArrayBuffer(4))

/** The upper half of a number of 32 bits. */
const brain = (bits: number): number => {
  scratch.setUint16(0, bits)
  return scratch.getFloat32(0)
}

interface NumberType {
  readonly bytes: number
  readonly read: (data: DataView, offset: number) => number
}

const types: Readonly<Record<string, NumberType>> = {
  F64: { bytes: 8, read: (data, offset) => data.getFloat64(offset, true) },
  F32: { bytes: 4, read: (data, offset) => data.getFloat32(offset, true) },
  F16: { bytes: 2, read: (data, offset) => half(data.getUint16(offset, true)) },
  BF16: { bytes: 2, read: (data, offset) => brain(data.getUint16(offset, true)) },
  I64: { bytes: 8, read: (data, offset) => Number(data.getBigInt64(offset, true)) },
  I32: { bytes: 4, read: (data, offset) => data.getInt32(offset, true) },
  I8: { bytes: 1, read: (data, offset) => data.getInt8(offset) },
}

/** Numbers with a shape: `[30000, 256]` are 30,000 rows of 256 numbers. */
export interface Tensor {
  readonly shape: ReadonlyArray<number>
  readonly values: Float32Array
}

/**
 * The tensors of a file by their names. A tensor is read when it is asked for; `null` if the file has none of this name.
 *
 * @param file - the name of the file, for errors
 * @param bytes - what the file has
 * @throws {InvalidModel} if the file is damaged, or has a type of number that is not known
 */
export const tensorsOf = (file: string, bytes: Uint8Array): ((name: string) => Tensor | null) => {
  const fail = (detail: string) => new InvalidModel({ file, detail })
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.byteLength < 8) throw fail("it is shorter than the start of a safetensors file")
  const length = Number(data.getBigUint64(0, true))
  if (length > Math.min(longestHeader, bytes.byteLength - 8))
    throw fail("it is no safetensors file, or it is cut off")
  const decoded = Schema.decodeUnknownEither(Header)(new TextDecoder().decode(bytes.subarray(8, 8 + length)))
  if (decoded._tag === "Left") throw fail("the header is damaged")
  const header = decoded.right
  return (name) => {
    if (!Object.hasOwn(header, name)) return null
    const entry = Schema.decodeUnknownEither(Entry)(header[name])
    if (entry._tag === "Left") throw fail(`the header of "${name}" is damaged`)
    const {
      dtype,
      shape,
      data_offsets: [from, to],
    } = entry.right
    const type = Object.hasOwn(types, dtype) ? types[dtype] : undefined
    if (type === undefined)
      throw fail(`"${name}" has numbers of the type ${dtype}, and ${Object.keys(types).join(", ")} are known`)
    const count = shape.reduce((product, size) => product * size, 1)
    const start = 8 + length + from
    if (to - from !== count * type.bytes || 8 + length + to > bytes.byteLength)
      throw fail(`"${name}" is cut off, or its size is not the size of its shape`)
    const values = new Float32Array(count)
    for (let at = 0; at < count; at++) values[at] = type.read(data, start + at * type.bytes)
    return { shape, values }
  }
}
