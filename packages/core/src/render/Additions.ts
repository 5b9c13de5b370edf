/** What a context shows besides the session's own messages and summary: facts from memory layers, blocks, and recalled messages. */
import { crc32 } from "../event/checksum.js"
import type { Message, Origin } from "@memfold/message/Message"

/** What a context shows besides the session's own messages and summary: facts, a block, or recalled messages. It is one message. */
export interface Addition {
  readonly section: "user-memory" | "scope-memory" | "session-memory" | "recalled"
  /** From the first recalled message to just behind the last one; the messages of a block; an empty range for facts. */
  readonly from: number
  readonly to: number
  readonly message: Message
  readonly tokens: number
  /** The lowest origin of the messages that it rests on (law L18). */
  readonly origin: Origin
}

/** Additions in front of the uncovered message with an index. */
export interface AdditionsBefore {
  readonly index: number
  readonly additions: ReadonlyArray<Addition>
}

/** The blocks of the summary that a context shows, and the tokens of the summary then. Without positions, it shows all of them. */
export interface ShownBlocks {
  readonly positions: ReadonlyArray<number> | undefined
  readonly tokens: number
}

/** The additions of a context. */
export interface Additions {
  /** In front of the summary. They must stay the same until the next compaction (law L13). */
  readonly front: ReadonlyArray<Addition>
  /**
   * Among the uncovered messages, ascending by index. Additions before the newest user message are behind everything that
   * stays; all other additions must not change until the next compaction (law L13).
   */
  readonly among: ReadonlyArray<AdditionsBefore>
  /** The blocks to show in place of the blocks that the compaction has chosen. */
  readonly blocks?: ShownBlocks
}

/** Nothing besides the session's own messages and summary. */
export const noAdditions: Additions = { front: [], among: [] }

/** Additions with more of them before a message; what is there already comes first. */
export const addTo = ({ among, ...rest }: Additions, more: AdditionsBefore): Additions => {
  const before = among.filter(({ index }) => index < more.index)
  const at = among.find(({ index }) => index === more.index)?.additions ?? []
  const after = among.filter(({ index }) => index > more.index)
  return {
    ...rest,
    among: [...before, { index: more.index, additions: [...at, ...more.additions] }, ...after],
  }
}

/** Tells additions apart, and what was there before them. */
export const checksum = (additions: ReadonlyArray<Addition>, before = ""): number =>
  crc32(before + JSON.stringify(additions.map(({ message }) => message)))

/** The heads of what stands behind additions, each from an index on. A head tells all additions up to there. */
export const headsBehind = (
  head: string,
  among: ReadonlyArray<AdditionsBefore>,
): ReadonlyArray<{ readonly from: number; readonly head: string }> => {
  let said = ""
  return among.map(({ index, additions }) => {
    said = `added ${checksum(additions, said)} before ${index}`
    return { from: index, head: head === "" ? said : `${head}, ${said}` }
  })
}
