/** What the model got at a version: the messages in their order, each with the section that it stands for. */
import { Summary, Wording } from "@memfold/core"
import { messages as messagesIn, several } from "../format.js"
import { MessageCard } from "../parts/MessageCard.js"
import { LeftOut, leftOutOf } from "../parts/LeftOut.js"
import { VirtualList } from "../parts/VirtualList.js"
import type { Shown } from "../session/useContextAt.js"
import type { Place } from "../session/ViewProps.js"

type Memfold = {
  readonly compressionTriggered?: true
  readonly isSplitTurn?: boolean
  readonly pruned?: true
}

const badgesOf = (metadata: Readonly<Record<string, unknown>> | undefined): ReadonlyArray<string> => {
  const memfold = metadata?.["memfold"] as Memfold | undefined
  return [
    ...(memfold?.compressionTriggered === true ? ["Compressed"] : []),
    ...(memfold?.isSplitTurn === true ? ["Split Turn"] : []),
    ...(memfold?.pruned === true ? ["Pruned"] : []),
  ]
}

export const ContextList = ({ context, timeline, version }: Place & { readonly context: Shown }) => {
  const state = timeline.at(version)
  const pinned = new Map(state.pinned.map((entry) => [entry.index, entry]))
  const { summary, coveredTo } = state
  const texts = new Map(
    summary === null
      ? []
      : Wording.written(summary.wording, { ...summary, segments: Summary.shownSegments(summary) }).map(
          ({ text, material }) => [text, material ? "material" : "summary"] as const,
        ),
  )
  const { messages, sources } = context
  const left = leftOutOf(context)
  if (messages.length === 0)
    return <p class="soft empty">The model would have got nothing at this version.</p>
  const row = (at: number) => {
    const message = messages[at]!
    const source = sources[at] ?? null
    if (source !== null) {
      const entry = pinned.get(source) ?? state.uncovered.at(source)
      const badges = [
        ...(pinned.has(source) || entry?.pinned === true ? ["Pinned"] : []),
        ...badgesOf(message.metadata),
      ]
      return (
        <MessageCard
          id={`c${entry?.version ?? source}`}
          message={message}
          place={`#${source}`}
          tokens={entry?.tokens}
          badges={badges}
        />
      )
    }
    const [first] = message.parts
    const found = first?.type === "text" ? texts.get(first.text) : undefined
    const section = context.layout.find((one) => one.section === found)
    const restsOn = section?.origin === undefined ? [] : [`Rests on: ${section.origin}`]
    return (
      <MessageCard
        id={`c${version}-${at}`}
        message={message}
        place={
          found === undefined ? "added by memfold" : `stands for ${messagesIn({ from: 0, to: coveredTo })}`
        }
        tokens={found !== undefined && texts.size === 1 ? summary?.tokens : undefined}
        badges={[found === undefined ? "Memory" : found === "material" ? "Material" : "Summary", ...restsOn]}
      />
    )
  }
  return (
    <>
      {left.length === 0 ? null : (
        <details>
          <summary>Left out: {several(left.length, "place")}</summary>
          <LeftOut sections={left} />
        </details>
      )}
      <VirtualList
        label="What the model got"
        count={messages.length}
        keyOf={(at) => sources[at] ?? `added-${at}`}
        row={row}
      />
    </>
  )
}
