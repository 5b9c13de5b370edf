/**
 * Leaves items of providers without their pair out of contexts (laws L5 and L17): providers refuse a call without its answer,
 * and an answer without its call. No item of ours could stand in for either. Tool calls are closed instead: `pairResults.ts`.
 */
import { isBound, type Opaque, type Part } from "@memfold/message/Message"
import { type OpenCall, pairingOf, pairMessage } from "@memfold/message/Structure"
import * as TokenCounter from "@memfold/message/TokenCounter"
import { type Entry, groupsOf } from "../session/SessionState.js"
import { type LeftOut, leftOutOf } from "./boundParts.js"

/** The entries as a context shows them, and what has been left out of them. */
export interface PairedItems {
  readonly entries: ReadonlyArray<Entry>
  readonly leftOut: ReadonlyArray<LeftOut>
}

const isItem = (part: Part): part is Opaque => part.type === "opaque"

/** The items of a group that have no pair. `openFrom` is the group whose calls the provider can still answer. */
const unpairedIn = (group: ReadonlyArray<Entry>, openFrom: number | null): ReadonlySet<Part> => {
  const unpaired = new Set<Part>()
  const parts = new Map<OpenCall, Part>()
  let open: ReadonlyArray<OpenCall> = []
  for (const { message } of group) {
    const paired = pairMessage(open, message)
    for (const [call, part] of paired.calls) parts.set(call, part)
    for (const part of paired.alone) unpaired.add(part)
    for (const call of paired.closed) unpaired.add(parts.get(call)!)
    open = paired.open
  }
  const all = group.flatMap(({ message }) => message.parts)
  // Who speaks behind an item has gone on without the answer of the provider.
  const last = all.findLastIndex(({ type }) => type === "text")
  const spokenBehind = new Set(all.slice(0, Math.max(last, 0)))
  for (const call of open) {
    const part = parts.get(call)!
    const isLeft = call.item === "provider" && spokenBehind.has(part)
    if (isLeft || group[0]?.group !== openFrom) unpaired.add(part)
  }
  return new Set([...unpaired].filter(isItem))
}

/** The type of an item, or the kind of a bound part. */
const typeOf = (part: Part): string =>
  isItem(part) && !isBound(part) ? (part.data as { readonly type: string }).type : part.type

const estimated = (message: Entry["message"]): number => {
  const { usage: _usage, ...uncounted } = message
  return TokenCounter.ofMessage(TokenCounter.estimating, uncounted)
}

/** The entry without some parts. Its tokens shrink as an estimate of it does: a context knows no counter. */
const without = (entry: Entry, gone: ReadonlySet<Part>): Entry => {
  const { message, tokens } = entry
  const parts = message.parts.filter((part) => !gone.has(part))
  const rest = { ...message, parts }
  const share = parts.length === 0 ? 0 : estimated(rest) / Math.max(estimated(message), 1)
  return { ...entry, message: rest, tokens: Math.min(Math.ceil(tokens * share), tokens) }
}

/**
 * Leaves items without their pair out of the entries of a context, group by group. Bound parts behind them in their group go
 * with them, unless bound parts are kept: they were produced behind the item.
 */
export const leaveOutUnpaired = (
  entries: ReadonlyArray<Entry>,
  openFrom: number | null,
  boundReasoning: "keep" | "leave-out",
): PairedItems => {
  if (
    !entries.some(({ message }) =>
      message.parts.some((part) => isItem(part) && pairingOf(part) !== undefined),
    )
  )
    return { entries, leftOut: [] }
  const shown: Array<Entry> = []
  const leftOut: Array<LeftOut> = []
  for (const group of groupsOf(entries)) {
    const unpaired = unpairedIn(group, openFrom)
    let behind = false
    for (const entry of group) {
      const gone = entry.message.parts.filter((part) => {
        behind ||= unpaired.has(part)
        return unpaired.has(part) || (behind && boundReasoning !== "keep" && isBound(part))
      })
      shown.push(gone.length === 0 ? entry : without(entry, new Set(gone)))
      if (gone.length > 0) leftOut.push(leftOutOf(entry, gone.map(typeOf)))
    }
  }
  return { entries: shown, leftOut }
}
