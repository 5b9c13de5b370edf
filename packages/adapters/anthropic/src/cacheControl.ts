/** The blocks of a Messages API request that get `cache_control`. */
import * as Codec from "@memfold/codec"

/**
 * Where the prompt cache is set: a block of the request gets `cache_control`.
 *
 * - `behind`: positions of messages, ascending; the last block of each that can be marked is marked. The API allows four
 *   marks in a request: of these and those that the messages came with, the newest four are sent
 * - `ttl`: how long the cache lives, five minutes (`"5m"`, default) or an hour (`"1h"`)
 */
export interface CacheControl {
  readonly behind: ReadonlyArray<number>
  readonly ttl?: "5m" | "1h"
}

/** A block of the request, and the position of the message it comes from. */
interface Placed {
  readonly fields: Codec.Fields
  readonly message: number
}

/** The most blocks of a request that the API lets have `cache_control`. */
const mostMarks = 4

const markable: ReadonlySet<unknown> = new Set([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "compaction",
])

/** Whether a block has a mark, on itself or on a block inside it. */
const isMarked = ({ cache_control: mark, content, source }: Codec.Fields): boolean =>
  mark != null ||
  [...(Array.isArray(content) ? content : []), source].some((one) => Codec.isFields(one) && isMarked(one))

/**
 * The fields of a block with other marks, or without some. The marks are given to `change` from the newest to the oldest: the mark of a
 * block stands behind those inside it, and the blocks of a document stand in its source.
 */
const withMarks = (fields: Codec.Fields, change: (mark: unknown) => unknown): Codec.Fields => {
  const { cache_control: mark, content, source } = fields
  const changed = mark == null ? mark : change(mark)
  const inside = (one: unknown): unknown => (Codec.isFields(one) ? withMarks(one, change) : one)
  const all = {
    ...fields,
    ...(mark == null ? {} : { cache_control: changed }),
    ...(Array.isArray(content) ? { content: content.toReversed().map(inside).toReversed() } : {}),
    ...(Codec.isFields(source) ? { source: inside(source) } : {}),
  }
  if (mark == null || changed !== undefined) return all
  const { cache_control: _mark, ...rest } = all
  return rest
}

/**
 * What becomes of the marks of a request, from the newest to the oldest. The API takes four, and refuses one of an hour behind one of
 * five minutes: the newest four stay, and a mark before one of an hour lives an hour, too.
 */
const newestMarks = () => {
  let room = mostMarks
  let isBeforeHour = false
  return (mark: unknown): unknown => {
    if (room === 0) return undefined
    room--
    if (!Codec.isFields(mark)) return mark
    const kept = isBeforeHour ? { ...mark, ttl: "1h" } : mark
    isBeforeHour ||= mark["ttl"] === "1h"
    return kept
  }
}

/** A function that gives a block its marks, as the request may have them. The blocks are in the order of the request. */
export const withCacheControl = <Block extends Placed>(
  groups: ReadonlyArray<ReadonlyArray<Block>>,
  { behind, ttl = "5m" }: CacheControl = { behind: [] },
): ((block: Block) => Block) => {
  const blocks = groups.flat()
  const wanted = new Set(
    behind.map((position) => {
      const end = blocks.findIndex(({ message }) => message > position)
      const before = end === -1 ? blocks : blocks.slice(0, end)
      return before.findLast(({ fields }) => markable.has(fields["type"]))
    }),
  )
  const mark = { type: "ephemeral", ...(ttl === "5m" ? {} : { ttl }) }
  const marked = new Map(
    blocks.flatMap((block): ReadonlyArray<[Block, Codec.Fields]> => {
      const fresh = wanted.has(block) && block.fields["cache_control"] == null
      const fields = fresh ? { ...block.fields, cache_control: mark } : block.fields
      return isMarked(fields) ? [[block, fields]] : []
    }),
  )
  const newest = newestMarks()
  for (const [block, fields] of [...marked].toReversed()) marked.set(block, withMarks(fields, newest))
  return (block) => {
    const fields = marked.get(block)
    return fields === undefined ? block : { ...block, fields }
  }
}
