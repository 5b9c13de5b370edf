/** The conversation of a request beside the conversation of its session: what both say alike, and what is new. */
import type { Message } from "@memfold/core"
import { isFields, valueIn } from "@memfold/codec"

/** Whether a text has the digits of a number that is too long for a double. */
const isLongNumber = (text: string): boolean =>
  text.length > 15 && /^-?\d/.test(text) && Number.isFinite(Number(text))

/** JSON whose fields are in the order of their names, without marks of a prompt cache and without what is null. */
const stable = (value: unknown): string =>
  JSON.stringify(value, (name, field: unknown) => {
    if (name === "cache_control" || field === null) return undefined
    return isFields(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : field
  }) ?? ""

/** Arguments of a call: clients write their JSON in their own way. */
const argumentsOf = (text: string): string => {
  const value = valueIn(text)
  return value === undefined ? text : stable(value)
}

type Said = ReadonlyArray<string>

/** What a part says; nothing for what clients may leave out when they send a message again. */
const said = (part: Message.Part): ReadonlyArray<Said> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [["text", part.text]]
    case "reasoning":
      return []
    case "tool-call":
      return [["call", part.id, part.name, argumentsOf(part.arguments)]]
    case "tool-result": {
      const beside = (part.content ?? []).filter(({ type }) => type !== "text").flatMap(said)
      return [["result", part.id, part.output, ...beside.flat()]]
    }
    case "file":
      return [["file", part.uri]]
    case "opaque":
      return part.bound === true ? [] : [["opaque", stable(part.data)]]
  }
}

/**
 * What a message says, as a text to compare: an answer as it came from the model, and the same answer as a client sends it again,
 * give the same text. Reasoning, marks of the cache, fields of responses and the division of a text into blocks do not count.
 */
export const keyOf = ({ role, parts }: Message.Message): string => {
  const found: Array<Said> = []
  for (const one of parts.flatMap(said)) {
    const before = found.at(-1)
    if (one[0] === "text" && before?.[0] === "text")
      found[found.length - 1] = ["text", `${before[1]}${one[1]}`]
    else found.push(one)
  }
  return JSON.stringify([role, ...found])
}

/** The numbers in a key, and the texts of digits, whose quotes are escaped where JSON stands in JSON. */
const numbers = /(?<!\\)(\\*)"(-?\d[\d.eE+-]*)\1"|-?\d[\d.eE+-]*/g

/** A key as a client has it that reads numbers as doubles, and the digits of each number that a double does not hold. */
const asDoubles = (key: string): { readonly text: string; readonly digits: ReadonlyArray<string> } => {
  const digits: Array<string> = []
  const text = key.replaceAll(numbers, (whole, _quote, written?: string) => {
    const isLong = written !== undefined && isLongNumber(written)
    digits.push(isLong ? written : "")
    return isLong ? String(Number(written)) : whole
  })
  return { text, digits }
}

/**
 * Whether two messages say the same. A number whose digits are a text, since a double does not hold them, is what a client has that reads
 * it as a double, and no other number with that double.
 */
export const isAlike = (one: string | undefined, other: string | undefined): boolean => {
  if (one === other || one === undefined || other === undefined) return one === other
  const [here, there] = [asDoubles(one), asDoubles(other)]
  return (
    here.text === there.text &&
    here.digits.every((digits, at) => {
      const others = there.digits[at]
      return digits === "" || others === "" || digits === others
    })
  )
}

/** How the conversation of a session becomes the conversation of a request: its first `keep` messages stay, others follow. */
export interface Step {
  readonly keep: number
  readonly from: number
}

const sharedStart = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): number => {
  const end = one.findIndex((key, at) => !isAlike(key, other[at]))
  return end === -1 ? one.length : end
}

/** The step to a request that has the whole conversation. */
export const wholeStep = (stored: ReadonlyArray<string>, given: ReadonlyArray<string>): Step => {
  const keep = sharedStart(given, stored)
  return { keep, from: keep }
}

/**
 * The step to a request that has only what is new. Messages at the end of the session that no answer has followed may be the
 * first ones of the request: it is sent again because no answer came. `isRetry` says so of a request whose answer came to the
 * session and not to the client; then this answer makes room for another one.
 */
export const newStep = (
  stored: ReadonlyArray<string>,
  given: ReadonlyArray<string>,
  isAnswer: (index: number) => boolean,
  isRetry: boolean,
): Step => {
  let end = stored.length
  if (isRetry) while (end > 0 && isAnswer(end - 1)) end--
  const repeated = (until: number): number => {
    let open = until
    while (open > 0 && !isAnswer(open - 1)) open--
    for (let at = open; at < until; at++) {
      const shared = stored.slice(at, until)
      if (shared.length <= given.length && shared.every((key, offset) => isAlike(key, given[offset])))
        return shared.length
    }
    return 0
  }
  const shared = repeated(end)
  // Whoever asks again asks with all that it asked with.
  if (isRetry && shared === given.length) return { keep: end, from: shared }
  return { keep: stored.length, from: repeated(stored.length) }
}
