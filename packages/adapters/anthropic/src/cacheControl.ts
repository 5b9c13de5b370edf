/** The blocks of a Messages API request that get `cache_control`. */
import * as Codec from "@memfold/codec"

/**
 * Where the prompt cache is set: a block of the request gets `cache_control`.
 *
 * - `behind`: positions of messages, ascending; the last block of each that can be marked is marked. The API allows four
 *   marks in a request: of these and those that the messages came with, the newest four are sent
 * - `ttl`: how long the cache lives, five minutes (`"5m"`, default) or an hour (`"1h"`). The API takes marks of an hour before marks of
 *   five minutes only: where a mark of an hour follows, the marks before it get an hour, too
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

/**
 * A function for the blocks of a request, from the last one to the first. The API refuses a mark of an hour behind one of five minutes,
 * and bills everything before a mark of an hour by the hour: so the marks before it get an hour, too.
 */
const hourBackwards = (): ((fields: Codec.Fields) => Codec.Fields) => {
  let isHour = false
  const go = (fields: Codec.Fields): Codec.Fields => {
    if (marksOf(fields) === 0) return fields
    const { cache_control: mark, content, source } = fields
    if (Codec.isFields(mark) && mark["ttl"] === "1h") isHour = true
    return {
      ...fields,
      ...(isHour && Codec.isFields(mark) ? { cache_control: { ...mark, ttl: "1h" } } : {}),
      ...(Codec.isFields(source) ? { source: go(source) } : {}),
      ...(Array.isArray(content)
        ? {
            content: content
              .toReversed()
              .map((one: unknown) => (Codec.isFields(one) ? go(one) : one))
              .toReversed(),
          }
        : {}),
    }
  }
  return go
}

/**
 * A function that gives a block its mark, if it gets one, and takes marks away: the newest four of the request stay. The blocks are
 * in the order of the request.
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
  const withHour = hourBackwards()
  for (const [block, fields] of [...marked].toReversed()) {
    const kept = Math.min(room, marksOf(fields))
    room -= kept
    marked.set(block, withHour(withoutOldest(fields, marksOf(fields) - kept)))
  }
  return (block) => {
    const fields = marked.get(block)
    return fields === undefined ? block : { ...block, fields }
  }
}
