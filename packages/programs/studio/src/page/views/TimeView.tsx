/** A session through time: what was said, and beside it what the model got at the chosen version. */
import { useState } from "preact/hooks"
import { Slider } from "../parts/Slider.js"
import { TokenBar } from "../parts/TokenBar.js"
import { markAt } from "../session/marks.js"
import { sharesOf } from "../session/shares.js"
import { useContextAt } from "../session/useContextAt.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Branches } from "./Branches.js"
import { CompactionLine, Difference, Replaced, SummaryText } from "./Compaction.js"
import { ContextList } from "./ContextList.js"
import { SaidList } from "./SaidList.js"

const panes = { said: "As it was said", context: "What the model got" } as const
const ofMark = { summary: "Summary", difference: "Difference", replaced: "Replaced" } as const
type Pane = keyof typeof panes | keyof typeof ofMark

/** How far each key goes among tabs. */
const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Arrow keys go from tab to tab, as in every list of tabs. */
const chooseByKey = ({ key, currentTarget, target }: preact.TargetedKeyboardEvent<HTMLElement>): void => {
  const step = steps[key]
  const tabs = [...currentTarget.querySelectorAll("button")].filter((tab) => tab.checkVisibility())
  const at = tabs.indexOf(target as HTMLButtonElement)
  if (step === undefined || at === -1) return
  const next = tabs.at((at + step) % tabs.length)
  next?.focus()
  next?.click()
}

export const TimeView = (props: ViewProps) => {
  const { timeline, version, changes, marks, message, choose } = props
  // What was searched for is among what was said, which is a tab on a narrow page.
  const [pane, setPane] = useState<Pane>(message === null ? "context" : "said")
  const context = useContextAt(timeline, version, changes)
  const state = timeline.at(version)
  const mark = markAt(marks, version, state)
  const offered = { ...panes, ...(mark?.committed == null ? {} : ofMark) }
  const isWide = matchMedia("(min-width: 860px)").matches
  const shown: Pane = pane in offered && !(isWide && pane === "said") ? pane : "context"
  const place = { timeline, version }
  const said = (
    <SaidList
      {...place}
      message={message}
      look={(to) => {
        choose(to)
        setPane("context")
      }}
    />
  )
  return (
    <div class="time">
      <Slider {...props} />
      <TokenBar taken={sharesOf(state, context)} tokens={context.tokens} />
      <CompactionLine mark={mark} timeline={timeline} marks={marks} choose={choose} />
      <Branches {...place} choose={choose} />
      <div class="panes">
        <section class="pane said-pane" aria-labelledby="said-heading">
          <h2 id="said-heading">As it was said</h2>
          {said}
        </section>
        <section class="pane" aria-label={offered[shown]}>
          <div role="tablist" aria-label="Panes" class="tabs" onKeyDown={chooseByKey}>
            {(Object.entries(offered) as Array<[Pane, string]>).map(([one, name]) => (
              <button
                key={one}
                role="tab"
                class={one === "said" ? "tab narrow-only" : "tab"}
                aria-selected={one === shown}
                tabIndex={one === shown ? 0 : -1}
                onClick={() => setPane(one)}
              >
                {name}
              </button>
            ))}
          </div>
          {shown === "said" ? (
            said
          ) : shown === "summary" && mark !== null ? (
            <SummaryText mark={mark} timeline={timeline} />
          ) : shown === "difference" && mark !== null ? (
            <Difference mark={mark} timeline={timeline} />
          ) : shown === "replaced" && mark !== null ? (
            <Replaced mark={mark} timeline={timeline} />
          ) : (
            <ContextList context={context} {...place} />
          )}
        </section>
      </div>
    </div>
  )
}
