/**
 * The calls of a stream of Chat Completions. OpenAI numbers them, and names each in its first piece. Other servers leave the number or
 * the id out, number all of them 0, or repeat id and name with each piece: so number, id and name say together which call goes on.
 */
import { type Fields, isFields, present } from "@memfold/codec"
import { answerIn, mostParts, Unclear } from "./Unclear.js"

interface Growing {
  readonly index: number | undefined
  id: string | undefined
  name: string
  input: unknown
  fields: Fields
}

/** What a piece adds to a call: the position of the call, and more of its arguments. */
export interface CallPiece {
  readonly place: number
  readonly id: string | undefined
  readonly name: string
  readonly delta: string
}

const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

const numberIn = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return Number.isInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}

const isWhole = (input: unknown): boolean => {
  if (typeof input !== "string") return isFields(input)
  try {
    return isFields(answerIn(input))
  } catch {
    return false
  }
}

const isEmpty = (input: unknown): boolean => input === undefined || input === null || input === ""

/** A piece of a call: what names the call, and what is added to it. */
const pieceOf = (entry: Fields) => {
  const { index, id, function: called, custom, ...fields } = entry
  const body = isFields(called) ? called : isFields(custom) ? custom : {}
  const { name, arguments: args, input, ...others } = body
  const kind = isFields(custom) && !isFields(called) ? "custom" : "function"
  return {
    index: numberIn(index),
    id: textIn(id),
    name: textIn(name),
    input: kind === "custom" ? input : args,
    fields: { ...fields, [kind]: others },
  }
}
type Piece = ReturnType<typeof pieceOf>

/** The calls of a message, or of a piece of one. Throws {@link Unclear} where they are no list of objects. */
export const entriesIn = (called: unknown): ReadonlyArray<Fields> => {
  if (called === undefined || called === null) return []
  if (!Array.isArray(called)) throw new Unclear("unclear-calls")
  const entries = called.filter((entry) => entry !== null)
  if (!entries.every(isFields)) throw new Unclear("unclear-calls")
  return entries
}

/** Puts calls together. Each method throws {@link Unclear} where it cannot be certain. */
export class CallDeltas {
  private readonly calls: Array<Growing> = []
  /** Something else than the number has said which call a piece belongs to: whole arguments then prove that it was right. */
  private isInferred = false

  private begun({ index, id }: Piece): Growing {
    if (this.calls.length === mostParts) throw new Unclear("too-large")
    const call: Growing = { index, id, name: "", input: undefined, fields: {} }
    this.calls.push(call)
    return call
  }

  private callOf(piece: Piece, isAlone: boolean): Growing {
    const { index, id, name } = piece
    const known = this.calls.find(
      (call) =>
        id !== undefined &&
        call.id === id &&
        (index === undefined || call.index === undefined || call.index === index),
    )
    if (known !== undefined) return known
    const last = index === undefined ? this.calls.at(-1) : this.calls.findLast((call) => call.index === index)
    if (last === undefined) {
      if (this.calls.length > 0 && id === undefined && name === undefined) throw new Unclear("unclear-calls")
      return this.begun(piece)
    }
    if (id !== undefined) {
      const isNamedLate = last.id === undefined && (index !== undefined || name === undefined)
      if (isNamedLate) return last
      // Servers that give every piece an id of its own name the call in the first one alone.
      if (name === undefined) throw new Unclear("unclear-calls")
      this.isInferred = true
      return this.begun(piece)
    }
    if (index !== undefined) return last
    this.isInferred = true
    if (!isAlone && name === undefined) throw new Unclear("unclear-calls")
    const begins = name !== undefined && last.name !== "" && (!isAlone || name !== last.name)
    if (!begins) return last
    if (isAlone && !isWhole(last.input)) throw new Unclear("unclear-calls")
    return this.begun(piece)
  }

  /** The name grows only where that is certain: before any arguments, within a call that has an id. */
  private addName(call: Growing, { id, name, input }: Piece): void {
    if (name === undefined) return
    if (call.name === "") {
      call.name = name
      return
    }
    this.isInferred = true
    const isSameId = id !== undefined && id === call.id
    const isBare = isEmpty(call.input) && isEmpty(input)
    if (name === call.name) {
      if (!isSameId && (isBare || isWhole(call.input))) throw new Unclear("unclear-calls")
      return
    }
    if (!isBare || call.id === undefined || name.startsWith(call.name)) throw new Unclear("unclear-calls")
    call.name += name
  }

  private addInput(call: Growing, { input }: Piece): string {
    if (isEmpty(input)) return ""
    if (typeof input === "string" && (isEmpty(call.input) || typeof call.input === "string")) {
      call.input = `${isEmpty(call.input) ? "" : String(call.input)}${input}`
      return input
    }
    if (!isFields(input) || !isEmpty(call.input)) throw new Unclear("unclear-calls")
    call.input = input
    return JSON.stringify(input)
  }

  /** Takes the calls of a piece of the answer; `grow` adds fields that are not known here. */
  take(
    entries: ReadonlyArray<Fields>,
    grow: (fields: Fields, more: Fields) => Fields,
  ): ReadonlyArray<CallPiece> {
    const pieces = entries.map(pieceOf)
    return pieces.map((piece) => {
      const call = this.callOf(piece, pieces.length === 1)
      call.id ??= piece.id
      this.addName(call, piece)
      const delta = this.addInput(call, piece)
      call.fields = grow(call.fields, piece.fields)
      return { place: this.calls.indexOf(call), id: call.id, name: call.name, delta }
    })
  }

  whole(): ReadonlyArray<Fields> {
    const numbers = new Set(this.calls.map(({ index }) => index))
    const isNumbered = numbers.size === this.calls.length && !numbers.has(undefined)
    const calls = isNumbered ? this.calls.toSorted((one, other) => one.index! - other.index!) : this.calls
    // A server gives each call an id, or none: one without may be the beginning of the next one.
    const isMixed = calls.some(({ id }) => id === undefined) && calls.some(({ id }) => id !== undefined)
    if (this.isInferred && isMixed) throw new Unclear("unclear-calls")
    return calls.map(({ id, name, input = "", fields }) => {
      if (name === "") throw new Unclear("unclear-calls")
      const { function: called, custom, ...rest } = fields
      const isProven = custom === undefined && (isEmpty(input) || isWhole(input))
      if (this.isInferred && !isProven) throw new Unclear("unclear-calls")
      const named = { type: custom === undefined ? "function" : "custom", ...present({ id }), ...rest }
      return custom === undefined
        ? { ...named, function: { ...(called as Fields), name, arguments: input } }
        : { ...named, custom: { ...(custom as Fields), name, input } }
    })
  }
}
