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

/** The kinds of blocks that may have it. */
const markable: ReadonlySet<unknown> = new Set([
  "text",
  "image",
  "document",
  "tool_use",
  "tool_result",
  "compaction",
])

/** The marks of a block, those of the blocks inside it included. */
const marksOf = (fields: Codec.Fields): number => {
  const { cache_control: mark, content, source } = fields
  const inside = [...(Array.isArray(content) ? content : []), source].filter(Codec.isFields)
  return (mark == null ? 0 : 1) + inside.reduce((sum, one) => sum + marksOf(one), 0)
}

/** The fields of a block without its oldest marks; the mark of a block stands behind those inside it. */
const withoutOldest = (fields: Codec.Fields, count: number): Codec.Fields => {
  const marks = marksOf(fields)
  if (count === 0 || marks === 0) return fields
  const { cache_control: _mark, ...rest } = fields
  const { content, source } = rest
  // The blocks of a document stand in its source.
  if (Codec.isFields(source) && marksOf(source) > 0) {
    const within = withoutOldest(source, Math.min(count, marksOf(source)))
    return { ...(count > marksOf(source) ? rest : fields), source: within }
  }
  if (!Array.isArray(content)) return rest
  let left = count
  const inside = content.map((one: unknown) => {
    if (!Codec.isFields(one)) return one
    const gone = Math.min(left, marksOf(one))
    left -= gone
    return withoutOldest(one, gone)
  })
  return { ...(left > 0 ? rest : fields), content: inside }
}

/** Whether a block has a mark of an hour, on itself or on a block inside it. */
const hasHour = ({ cache_control: mark, content, source }: Codec.Fields): boolean =>
  (Codec.isFields(mark) && mark["ttl"] === "1h") ||
  [...(Array.isArray(content) ? content : []), source].filter(Codec.isFields).some(hasHour)

/** The fields of a block whose marks live an hour: all of them, or only the ones before its last mark of an hour. */
const withHours = (fields: Codec.Fields, isBeforeHour: boolean): Codec.Fields => {
  const { cache_control: mark, content, source } = fields
  // The mark of a block stands behind those inside it.
  let isBefore = isBeforeHour || (Codec.isFields(mark) && mark["ttl"] === "1h")
  const inside = (one: unknown): unknown => {
    if (!Codec.isFields(one)) return one
    const hours = withHours(one, isBefore)
    isBefore ||= hasHour(one)
    return hours
  }
  return {
    ...fields,
    ...(mark == null || !isBeforeHour ? {} : { cache_control: { ...(mark as Codec.Fields), ttl: "1h" } }),
    ...(Array.isArray(content) ? { content: content.toReversed().map(inside).toReversed() } : {}),
    ...(Codec.isFields(source) ? { source: inside(source) } : {}),
  }
}

/**
 * A function that gives a block its mark, if it gets one, and takes marks away: the newest four of the request stay. A mark before
 * one of an hour lives an hour, too: the API refuses an hour behind five minutes. The blocks are in the order of the request.
 */
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
      return marksOf(fields) === 0 ? [] : [[block, fields]]
    }),
  )
  let room = mostMarks
  let isBeforeHour = false
  for (const [block, fields] of [...marked].toReversed()) {
    const kept = Math.min(room, marksOf(fields))
    room -= kept
    const newest = withoutOldest(fields, marksOf(fields) - kept)
    marked.set(block, withHours(newest, isBeforeHour))
    isBeforeHour ||= hasHour(newest)
  }
  return (block) => {
    const fields = marked.get(block)
    return fields === undefined ? block : { ...block, fields }
  }
}
