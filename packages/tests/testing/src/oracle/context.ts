/** What a context must show of a state: each message in its place, nothing lost, nothing changed. */
import {
  type EventCodec,
  Message,
  orphans,
  type Render,
  type Session,
  type Strategy,
  Structure,
  Wording,
} from "@memfold/core"
import { canonical } from "../law/Law.js"
import { itemPairs } from "./groups.js"
import type { Finding } from "./session.js"

const noResult = "(No result: the call was interrupted.)"
const lateResult = "(A tool result that no open call asked for)\n"

/** The contents of messages: in order, but for the outputs of tools, which a context may move. */
export interface Contents {
  readonly said: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
}

/** The contents of messages. */
export const contentsOf = (messages: ReadonlyArray<Message.Message>): Contents => {
  const said: Array<string> = []
  const outputs: Array<string> = []
  for (const part of messages.flatMap(({ parts }) => parts)) {
    switch (part.type) {
      case "text":
        if (part.text.startsWith(lateResult)) outputs.push(part.text.slice(lateResult.length))
        else said.push(part.text)
        break
      case "reasoning":
        said.push(part.text)
        break
      case "tool-call":
        said.push(`${part.name} ${part.arguments}`)
        break
      case "tool-result":
        if (part.output !== noResult) outputs.push(part.output)
        for (const one of part.content ?? []) if (one.type === "file") outputs.push(one.uri)
        break
      case "file":
        // The file of a late result stands in a message of its own.
        outputs.push(part.uri)
        break
      case "opaque":
        said.push(JSON.stringify(part.data) ?? "")
        break
    }
  }
  return { said, outputs: outputs.toSorted() }
}

/** The first call without its result, or result without its call (L5: groups stay whole). */
export const orphanFinding = ({ messages }: Render.Context): Finding | null => {
  const [orphan] = orphans(messages)
  return orphan === undefined ? null : { law: "L5", detail: orphan }
}

/**
 * The first message that the layout does not have in exactly one section, or in the wrong one (L4: no message is lost). A message that
 * is covered and pinned is shown besides the summary. What is left out of a message is besides the section it is in.
 */
export const layoutFinding = (
  { total, coveredTo, structure }: Session.SessionState,
  { layout }: Render.Context,
): Finding | null => {
  const openFrom = Structure.waitsFrom(structure) ?? total
  for (let index = 0; index < total; index++) {
    const sections = layout.flatMap(({ section, from, to }) =>
      index < from || index >= to || section === "left-out" || (section === "pinned" && index < coveredTo)
        ? []
        : [section],
    )
    const [section] = sections
    const wrong =
      section === undefined
        ? "is in no section"
        : sections.length > 1
          ? `is in ${sections.join(" and ")}`
          : (section === "summary") !== index < coveredTo
            ? `is ${section}, and the summary covers [0,${coveredTo})`
            : (section === "open") !== index >= openFrom
              ? `is ${section}, and the open group begins at ${openFrom}`
              : null
    if (wrong !== null) return { law: "L4", detail: `message ${index} ${wrong}` }
  }
  return null
}

/**
 * The items of entries that have no pair in their group, without items that can still be answered: by the client, or by the provider
 * unless the assistant has spoken behind them.
 */
export const unpairedItems = (
  entries: ReadonlyArray<Session.Entry>,
  openFrom: number | undefined,
): ReadonlySet<Message.Part> =>
  new Set(
    [...new Set(entries.map(({ group }) => group))].flatMap((group) => {
      const messages = entries.filter((one) => one.group === group).map(({ message }) => message)
      const parts = messages.flatMap((message) => message.parts)
      return itemPairs(messages)
        .alone.filter(
          ({ part, by, closedAt }) =>
            group !== openFrom ||
            by === undefined ||
            closedAt !== undefined ||
            (by === "provider" && parts.slice(parts.indexOf(part) + 1).some(({ type }) => type === "text")),
        )
        .map(({ part }) => part)
    }),
  )

/** The first difference between what a context says and what its layout says that it shows (L4: no message is lost). */
export const contentsFinding = (
  { pinned, uncovered, summary, structure }: Session.SessionState,
  { layout, messages }: Render.Context,
): Finding | null => {
  const leftOut = layout.filter(({ section }) => section === "left-out")
  const behind = new Map<number, Message.Part>()
  const unpaired = unpairedItems([...pinned, ...uncovered], structure.open?.from)
  const doubles = (index: number): boolean => {
    const [before, now] = [uncovered.at(index - 1), uncovered.at(index)].map((entry) => entry?.message)
    return (
      now?.role === "assistant" &&
      before?.role === "assistant" &&
      canonical([now.parts, now.metadata]) === canonical([before.parts, before.metadata])
    )
  }
  const shownOf = ({ index, message, group }: Session.Entry): Message.Message => {
    const here = leftOut.filter(({ from, to }) => from <= index && index < to)
    if (here.length === 0) return message
    const named = here.some(
      ({ from, to, parts }) =>
        to === from + 1 &&
        canonical(parts) === canonical([...new Set(message.parts.map(({ type }) => type))]),
    )
    if (named && doubles(index)) return { ...message, parts: [] }
    const whole = here.some(({ parts }) => parts?.every((name) => name === "reasoning" || name === "opaque"))
    return {
      ...message,
      parts: message.parts.filter((part) => {
        if (unpaired.has(part)) behind.set(group, part)
        return !unpaired.has(part) && !(Message.isBound(part) && (whole || behind.has(group)))
      }),
    }
  }
  const known = new Map([...pinned, ...uncovered].map((entry) => [entry.index, shownOf(entry)]))
  const within = (names: ReadonlyArray<Render.SectionName>) =>
    layout
      .filter(({ section }) => names.includes(section))
      .flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => known.get(from + at)))
      .filter((message) => message !== undefined)
  const shown = summary?.segments.filter((_, position) => summary.shown?.includes(position) ?? true) ?? []
  const summaryMessages = (
    summary === null ? [] : Wording.texts(summary.wording, { segments: shown, files: summary.files })
  ).map((text): Message.Message => ({ role: "system", parts: [{ type: "text", text }] }))
  const expected = contentsOf([
    ...within(["pinned"]),
    ...summaryMessages,
    ...within(["uncovered", "current"]),
  ])
  const found = contentsOf(messages)
  for (const what of ["said", "outputs"] as const) {
    if (canonical(found[what]) === canonical(expected[what])) continue
    const differs = found[what].findIndex((one, position) => one !== expected[what][position])
    const at = differs === -1 ? found[what].length : differs
    const [shown, wanted] = [found, expected].map((all) => canonical(all[what][at]).slice(0, 200))
    return { law: "L4", detail: `the context shows ${shown} in place of ${wanted} (${what}, ${at})` }
  }
  return null
}

/** The first thing that is wrong with a context of a state (laws L4 and L5). */
export const contextFinding = (state: Session.SessionState, context: Render.Context): Finding | null =>
  orphanFinding(context) ?? layoutFinding(state, context) ?? contentsFinding(state, context)

/** The first message of a context that a later one has changed (L13: contexts only grow between compactions). */
export const prefixFinding = (earlier: Render.Context, later: Render.Context): Finding | null => {
  const at = earlier.messages.findIndex(
    (message, position) =>
      message !== later.messages[position] &&
      JSON.stringify(message) !== JSON.stringify(later.messages[position]),
  )
  return at === -1 ? null : { law: "L13", detail: `message ${at} changed without a compaction` }
}

const changing: ReadonlySet<string> = new Set(["SummaryCommitted", "ToolOutputsPruned"])

/** A context without the group that a provider can still answer: its next user message leaves the open call out. */
const withoutPaused = ({
  state,
  context,
}: {
  readonly state: Session.SessionState
  readonly context: Render.Context
}): Render.Context => {
  const from = state.structure.open?.from
  if (from === undefined) return context
  const end = context.sources.findIndex((source) => source !== null && source >= from)
  return end === -1 ? context : { ...context, messages: context.messages.slice(0, end) }
}

/**
 * The first context that is no prefix of the next one, although nothing was compacted between them and no cap left a
 * message out (L13: contexts only grow between compactions).
 */
export const growthFinding = (
  { context: { maxMessages = Number.POSITIVE_INFINITY } }: Strategy.Strategy,
  events: ReadonlyArray<EventCodec.RecordedEvent>,
  moments: ReadonlyArray<{ readonly state: Session.SessionState; readonly context: Render.Context }>,
): Finding | null => {
  for (const [position, next] of moments.slice(1).entries()) {
    const now = moments[position]!
    const compacted = events
      .slice(now.state.version, next.state.version)
      .some(({ event }) => changing.has(event._tag))
    const found = prefixFinding(withoutPaused(now), next.context)
    if (found === null || compacted || next.state.uncovered.length > maxMessages) continue
    const where = `from ${now.state.total} to ${next.state.total} messages`
    return { ...found, detail: `${where}, ${found.detail}` }
  }
  return null
}
