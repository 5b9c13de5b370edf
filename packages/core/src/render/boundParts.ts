/** Leaves bound parts out of contexts whose prefix is another one than they were produced behind (law L17). */
import { isBound } from "@memfold/message/Message"
import { boundPartsValid } from "../session/prefix.js"
import type { Entry, SessionState } from "../session/SessionState.js"

/** The range of messages with bound parts that are left out, and the kinds of these parts. */
export interface LeftOut {
  readonly section: "left-out"
  readonly from: number
  readonly to: number
  readonly tokens: 0
  readonly parts: ReadonlyArray<string>
}

/** What has been left out of one message. */
export const leftOutOf = ({ index }: Entry, parts: ReadonlyArray<string>): LeftOut => ({
  section: "left-out",
  from: index,
  to: index + 1,
  tokens: 0,
  parts: [...new Set(parts)],
})

/** Whether something is left of an entry. If not, its message is gone: providers refuse an empty one. */
export const hasRest = (shown: Entry, whole: Entry | undefined): boolean =>
  shown === whole || shown.message.parts.length > 0

/** Checks the entries of one context, in the order of the context. */
export interface BoundPartsCheck {
  /** The entry as the context shows it. */
  readonly check: (entry: Entry) => Entry
  /** What has been left out of the checked entries. Entries with no kept entry in between are one range. */
  readonly leftOut: () => ReadonlyArray<LeftOut>
}

export const keepAll: BoundPartsCheck = {
  check: (entry) => entry,
  leftOut: () => [],
}

/** Leaves out what is not valid in a context, by the head that each message has in front of it there. */
export const leaveOutInvalid = (state: SessionState, headAt: (index: number) => string): BoundPartsCheck => {
  const ranges: Array<{ from: number; to: number; readonly parts: Set<string> }> = []
  let open: (typeof ranges)[number] | null = null
  return {
    check: (entry) => {
      const { index, message } = entry
      if (!message.parts.some(isBound)) return entry
      if (boundPartsValid(state, entry, headAt(index))) {
        open = null
        return entry
      }
      if (open === null || index < open.to) {
        open = { from: index, to: index + 1, parts: new Set() }
        ranges.push(open)
      }
      open.to = index + 1
      const parts = message.parts.filter((part) => !isBound(part))
      for (const part of message.parts) if (isBound(part)) open.parts.add(part.type)
      const tokens = parts.length === 0 ? 0 : Math.max(entry.tokens - (entry.bound?.tokens ?? 0), 0)
      return { ...entry, message: { ...message, parts }, tokens }
    },
    leftOut: () =>
      ranges.map(({ from, to, parts }) => ({ section: "left-out", from, to, tokens: 0, parts: [...parts] })),
  }
}
