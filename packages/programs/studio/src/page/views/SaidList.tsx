/** The conversation as it was said, at a version. */
import { useState } from "preact/hooks"
import { MessageCard } from "../parts/MessageCard.js"
import { VirtualList } from "../parts/VirtualList.js"
import type { Said, Timeline } from "../session/Timeline.js"
import type { Place } from "../session/ViewProps.js"
import { MessageActions } from "./MessageActions.js"

/** What happened to a message by a version, as badges. */
const badgesOf = (timeline: Timeline, version: number) => {
  const state = timeline.at(version)
  const { coveredTo, summary } = state
  const pinned = new Set(state.pinned.map(({ index }) => index))
  const split = summary?.segments.some(({ kind }) => kind === "turn-prefix") === true
  return (index: number): ReadonlyArray<string> => {
    const entry = state.uncovered.at(index)
    return [
      ...(index < coveredTo && !pinned.has(index) ? ["Covered"] : []),
      ...(summary !== null && index === coveredTo ? ["Compressed", ...(split ? ["Split Turn"] : [])] : []),
      ...(pinned.has(index) || entry?.pinned === true ? ["Pinned"] : []),
      ...(entry?.appendedTokens === undefined ? [] : ["Pruned"]),
    ]
  }
}

export const SaidList = ({
  timeline,
  version,
  message = null,
  look,
}: Place & {
  /** The message to show, by its index; the newest by default. */
  readonly message?: number | null
  /** Shows what the model got at a version. */
  readonly look: (version: number) => void
}) => {
  const [chosen, choose] = useState<Said | null>(null)
  const said = timeline.said(version)
  const badges = badgesOf(timeline, version)
  if (said.length === 0) return <p class="soft empty">Nothing had been said at this version.</p>
  const row = (at: number) => {
    const one = said[at]!
    const found = badges(at)
    return (
      <MessageCard
        id={`v${one.version}`}
        message={one.message}
        place={`#${one.index}`}
        tokens={one.tokens}
        badges={found}
        look={one.index === message ? "sought" : found.includes("Covered") ? "faded" : ""}
        actions={
          <>
            {one.message?.role === "assistant" && one.version > 1 ? (
              <button
                class="plain"
                aria-label={`its prompt: what the model got for message ${one.index}`}
                onClick={() => look(one.version - 1)}
              >
                its prompt
              </button>
            ) : null}
            <button
              class="plain"
              aria-label={`What to do with message ${one.index}`}
              onClick={() => choose(one)}
            >
              ⋯
            </button>
          </>
        }
      />
    )
  }
  return (
    <>
      <VirtualList
        label="The conversation as it was said"
        count={said.length}
        keyOf={(at) => said[at]!.version}
        show={message === null ? { at: said.length - 1, align: "end" } : { at: message, align: "start" }}
        row={row}
      />
      {chosen === null ? null : (
        <MessageActions timeline={timeline} said={chosen} onClose={() => choose(null)} />
      )}
    </>
  )
}
