/** Where the tokens are: in the context at a version, and in the prompts from call to call. */
import { Prices } from "@memfold/prices"
import { useEffect, useMemo, useState } from "preact/hooks"
import { count, dollars, percent, short } from "../format.js"
import { Chart } from "../parts/Chart.js"
import { Choice } from "../parts/Choice.js"
import { LeftOut, leftOutOf } from "../parts/LeftOut.js"
import { Swatch } from "../parts/Notices.js"
import { Slider } from "../parts/Slider.js"
import { Table } from "../parts/Table.js"
import { TokenBar } from "../parts/TokenBar.js"
import { type Call, callsOf } from "../session/calls.js"
import { shares, sharesOf } from "../session/shares.js"
import type { Timeline } from "../session/Timeline.js"
import { useContextAt } from "../session/useContextAt.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Limits } from "./Limits.js"
import { type Model, models } from "./offered.js"

/** How long the calls are computed at a stretch, in milliseconds: then the page draws. */
const stretch = 12

/** The calls of a session, computed a few at a time; until all are there, the version that they have come to. */
const useCalls = (
  timeline: Timeline,
  model: Model,
  changes: number,
): { readonly calls: ReadonlyArray<Call>; readonly upTo: number | null } => {
  const [found, set] = useState<ReturnType<typeof useCalls>>({ calls: [], upTo: 0 })
  useEffect(() => {
    const all: Array<Call> = []
    const walk = callsOf(timeline, Prices.presets[model])
    let timer = 0
    const go = () => {
      const until = performance.now() + stretch
      while (performance.now() < until) {
        const next = walk.next()
        if (next.done === true) return set({ calls: all, upTo: null })
        all.push(next.value)
      }
      // What is there already stays until it is known anew.
      const upTo = all.at(-1)?.version ?? 0
      set((before) => (before.upTo === null ? before : { calls: [], upTo }))
      timer = window.setTimeout(go)
    }
    go()
    return () => clearTimeout(timer)
  }, [timeline, model, changes])
  return found
}

const Calls = ({
  calls,
  version,
  choose,
}: {
  readonly calls: ReadonlyArray<Call>
  readonly version: number
  readonly choose: (version: number) => void
}) => {
  const sum = (of: (call: Call) => number) => calls.reduce((all, call) => all + of(call), 0)
  const [tokens, reused] = [sum((call) => call.tokens), sum((call) => call.reused)]
  const numbers = {
    Calls: count(calls.length),
    "Prompt tokens": count(tokens),
    "Reusable by a cache": percent(reused, tokens),
    "Cost of the prompts": dollars(sum((call) => call.dollars)),
  }
  const chosen = calls.findLastIndex((one) => one.version <= version)
  const call = calls[chosen]
  const series = useMemo(() => {
    const [whole, part] = [calls.map((call) => call.tokens), calls.map((call) => call.reused)]
    return [
      { name: "New", ink: "recalled", values: whole, said: (at: number) => count(whole[at]! - part[at]!) },
      { name: "Reusable", ink: "verbatim", values: part, said: (at: number) => count(part[at]!) },
    ]
  }, [calls])
  return (
    <>
      <dl class="numbers">
        {Object.entries(numbers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <figure>
        <figcaption>Tokens of the prompts</figcaption>
        <Chart
          label={`${count(calls.length)} calls with ${count(tokens)} prompt tokens, ${count(reused)} of them reusable`}
          kind="columns"
          across="Call"
          series={series}
          unit={short}
          height={220}
          {...(call === undefined ? {} : { chosen: chosen + 1 })}
          choose={(place) => choose(calls[place - 1]!.version)}
        />
      </figure>
      {call === undefined ? null : (
        <p>
          The call for message {count(call.index)}: {count(call.tokens)} prompt tokens, of which{" "}
          {count(call.reused)} ({percent(call.reused, call.tokens)}) stood at the start of the prompt before;
          it cost {dollars(call.dollars)}.
        </p>
      )}
    </>
  )
}

export const TokensView = (props: ViewProps) => {
  const { timeline, version, choose, changes } = props
  const [model, setModel] = useState<Model>(models[0]![0])
  const context = useContextAt(timeline, version, changes)
  const taken = sharesOf(timeline.at(version), context)
  const { calls, upTo } = useCalls(timeline, model, changes)
  const left = leftOutOf(context)
  const price = Prices.presets[model]
  const aboutOf = (share: (typeof taken)[number]["share"]) => shares.find((one) => one.share === share)!
  const partOf = ({ share, tokens }: (typeof taken)[number]) =>
    share === "left-out" ? "not sent" : percent(tokens, context.tokens)
  return (
    <div class="page-view">
      <Slider {...props} />
      <h2>The context at version {count(version)}</h2>
      <TokenBar taken={taken} tokens={context.tokens} />
      <Table
        label="Shares of the context"
        rows={taken}
        keyOf={({ share }) => share}
        columns={[
          [
            "Share",
            ({ share }) => (
              <>
                <Swatch ink={share} /> {aboutOf(share).name}
              </>
            ),
          ],
          ["Tokens", ({ tokens }) => count(tokens), "number"],
          ["Of the context", partOf, "number"],
          ["Messages", ({ messages }) => count(messages), "number"],
          ["What it is", ({ share }) => aboutOf(share).about, "about"],
        ]}
      />
      {left.length === 0 ? null : (
        <>
          <h3>Left out, and why</h3>
          <LeftOut sections={left} />
        </>
      )}
      <Limits timeline={timeline} version={version} tokens={context.tokens} />
      <h2>From call to call</h2>
      <p class="soft">
        Each answer of the assistant stands for a call. A provider keeps the prompt of a call for{" "}
        {price.cacheMinutes} minutes; what the next prompt begins with in the same way is read from its cache.
        A compaction changes the start of the prompt, so the next call pays for it anew.
      </p>
      <div class="row inline">
        <Choice label="Prices" options={models} value={model} choose={setModel} />
        <span class="soft">
          as of {price.asOf}: {price.cached} / {price.cacheWrite} dollars a million tokens read from / written
          to the cache
        </span>
      </div>
      {upTo !== null ? (
        <p class="soft">
          Computing the calls up to version {count(upTo)} of {count(timeline.version)}{" "}
          <progress value={upTo} max={timeline.version} aria-label="Calls that are computed" />
        </p>
      ) : calls.length === 0 ? (
        <p class="soft">The assistant has not answered yet.</p>
      ) : (
        <Calls calls={calls} version={version} choose={choose} />
      )}
    </div>
  )
}
