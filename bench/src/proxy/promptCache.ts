/** The prompt caches of two providers, as their documentation describes them: what of each request is read, written, or new. */
import { createHash } from "node:crypto"

type Fields = Readonly<Record<string, unknown>>

/** The tokens of requests, by how they are charged. */
export interface Charged {
  readonly fresh: number
  readonly cached: number
  readonly written: number
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Four characters a token. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4)

/** The least tokens of a prompt that are cached. */
const leastCached = 1_024

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

/** The blocks of a request to Messages, in the order in which they are cached: tools, system, messages. */
const blocksOf = (body: Fields): ReadonlyArray<Block> => {
  const block =
    (role: string) =>
    (value: unknown): Block => {
      const { cache_control: mark, ...rest } = isFields(value) ? value : { text: value }
      return { text: JSON.stringify([role, rest]), isMarked: mark != null }
    }
  const messages = listOf(body["messages"]).filter(isFields)
  return [
    ...listOf(body["tools"]).map(block("tool")),
    ...listOf(typeof body["system"] === "string" ? [body["system"]] : body["system"]).map(block("system")),
    ...messages.flatMap(({ role, content }) =>
      (Array.isArray(content) ? content : [{ type: "text", text: content }]).map(block(String(role))),
    ),
  ]
}

/** How many blocks before a mark are looked at for an entry of the cache. */
const lookBack = 20

/** Anthropic: prefixes are written where a request has marks, and read from the newest one that is the same. */
export const markedCache = () => {
  const entries = new Set<string>()
  return (body: Fields): Charged => {
    const blocks = blocksOf(body)
    const hash = createHash("sha256")
    let tokens = 0
    const prefixes = blocks.map(({ text }) => {
      hash.update(text)
      tokens += tokensOf(text)
      return { key: hash.copy().digest("base64"), tokens }
    })
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
    const hits = marks.flatMap((mark) =>
      prefixes.slice(Math.max(0, mark - lookBack), mark + 1).filter(({ key }) => entries.has(key)),
    )
    const cached = Math.max(0, ...hits.map((hit) => hit.tokens))
    const until = prefixes[marks.at(-1) ?? -1]?.tokens ?? 0
    const end = until < leastCached ? 0 : until
    for (const mark of marks) {
      const { key, tokens: size } = prefixes[mark]!
      if (size >= leastCached) entries.add(key)
    }
    const read = Math.min(cached, end)
    return { cached: read, written: end - read, fresh: tokens - end }
  }
}

/** OpenAI: the longest start that an earlier request had, in steps of 128 tokens; the rest is written. */
export const automaticCache = () => {
  const step = 128
  const entries = new Set<string>()
  return (body: Fields): Charged => {
    const { tools, instructions, input, messages } = body
    const text = [...listOf(tools), instructions, ...listOf(input ?? messages)]
      .map((one) => JSON.stringify(one) ?? "")
      .join("\n")
    const hash = createHash("sha256")
    let cached = 0
    for (let end = step; end <= tokensOf(text); end += step) {
      hash.update(text.slice((end - step) * 4, end * 4))
      const key = hash.copy().digest("base64")
      if (entries.has(key)) cached = end
      entries.add(key)
    }
    const read = cached < leastCached ? 0 : cached
    return { cached: read, written: tokensOf(text) - read, fresh: 0 }
  }
}
