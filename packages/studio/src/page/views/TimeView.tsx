/** A session through time: what was said, and beside it what the model got at the chosen version. */
import { Session } from "@memfold/core"
import { useMemo, useState } from "preact/hooks"
import { Slider } from "../parts/Slider.js"
import { TokenBar } from "../parts/TokenBar.js"
import { markAt, marksOf } from "../session/marks.js"
import { sharesOf } from "../session/shares.js"
import { useContextAt } from "../session/useContextAt.js"
import { Branches } from "./Branches.js"
import { CompactionLine, Difference, Replaced, SummaryText } from "./Compaction.js"
import { ContextList } from "./ContextList.js"
import { SaidList } from "./SaidList.js"
import type { ViewProps } from "./SessionView.js"

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

export const TimeView = ({ timeline, version, choose, changes }: ViewProps) => {
  const [pane, setPane] = useState<Pane>("context")
  const marks = useMemo(() => marksOf(timeline), [timeline, changes])
  const sizes = useMemo(
    () => timeline.states.map((state) => Session.contextTokens(state)),
    [timeline, changes],
  )
  const context = useContextAt(timeline, version, changes)
  const state = timeline.at(version)
  const mark = markAt(marks, version, state)
  const taken = sharesOf(state, context)
  const hasSummary = mark?.committed != null
  const offered = { ...panes, ...(hasSummary ? ofMark : {}) }
  const shown: Pane = pane in offered ? pane : "context"
  const place = { timeline, version, changes }
  return (
    <div class="time">
      <Slider {...place} marks={marks} sizes={sizes} choose={choose} />
      <TokenBar taken={taken} tokens={context.tokens} />
      <CompactionLine mark={mark} marks={marks} {...place} choose={choose} />
      <Branches {...place} choose={choose} />
      <div class="panes">
        <section class="pane said-pane" aria-labelledby="said-heading">
          <h2 id="said-heading">As it was said</h2>
          <SaidList {...place} />
        </section>
        <section class="pane other-pane" aria-labelledby="pane-heading">
          <h2 id="pane-heading" class="hidden">
            {offered[shown]}
          </h2>
          <div role="tablist" aria-label="Panes" class="tabs" onKeyDown={chooseByKey}>
            {(Object.entries(offered) as Array<[Pane, string]>).map(([one, name]) => (
              <button
                key={one}
                role="tab"
                class={one}
                aria-selected={one === shown}
                tabIndex={one === shown ? 0 : -1}
                onClick={() => setPane(one)}
              >
                {name}
              </button>
            ))}
          </div>
          {shown === "said" ? (
            <SaidList {...place} />
          ) : shown === "summary" && mark !== null ? (
            <SummaryText mark={mark} {...place} />
          ) : shown === "difference" && mark !== null ? (
            <Difference mark={mark} {...place} />
          ) : shown === "replaced" && mark !== null ? (
            <Replaced mark={mark} {...place} />
          ) : (
            <ContextList context={context} {...place} />
          )}
        </section>
      </div>
    </div>
  )
}
