/** Where the tokens are: in the context at a version, and in the prompts from call to call. */
import { Prices } from "@memfold/prices"
import { useEffect, useMemo, useState } from "preact/hooks"
import { count, dollars, percent, range, several } from "../format.js"
import { Slider } from "../parts/Slider.js"
import { TokenBar } from "../parts/TokenBar.js"
import { CallChart } from "../parts/CallChart.js"
import { type Call, callsOf } from "../session/calls.js"
import { marksOf } from "../session/marks.js"
import { shares, sharesOf, whyLeftOut } from "../session/shares.js"
import type { Timeline } from "../session/Timeline.js"
import { useContextAt } from "../session/useContextAt.js"
import { Session } from "@memfold/core"
import { Limits } from "./Limits.js"
import type { ViewProps } from "./SessionView.js"

type Model = keyof typeof Prices.presets
const models = Object.keys(Prices.presets) as ReadonlyArray<Model>

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
  const [tokens, reused, cost] = [
    sum((call) => call.tokens),
    sum((call) => call.reused),
    sum((call) => call.dollars),
  ]
  const call = calls.findLast((one) => one.version <= version)
  return (
    <>
      <dl class="numbers">
        <div>
          <dt>Calls</dt>
          <dd>{count(calls.length)}</dd>
        </div>
        <div>
          <dt>Prompt tokens</dt>
          <dd>{count(tokens)}</dd>
        </div>
        <div>
          <dt>Reusable by a cache</dt>
          <dd>{percent(reused, tokens)}</dd>
        </div>
        <div>
          <dt>Cost of the prompts</dt>
          <dd>{dollars(cost)}</dd>
        </div>
      </dl>
      <CallChart calls={calls} version={version} choose={choose} />
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

export const TokensView = ({ timeline, version, choose, changes }: ViewProps) => {
  const [model, setModel] = useState<Model>(models[0]!)
  const marks = useMemo(() => marksOf(timeline), [timeline, changes])
  const sizes = useMemo(
    () => timeline.states.map((state) => Session.contextTokens(state)),
    [timeline, changes],
  )
  const context = useContextAt(timeline, version, changes)
  const taken = sharesOf(timeline.at(version), context)
  const { calls, upTo } = useCalls(timeline, model, changes)
  const left = context.layout.filter(({ section }) => whyLeftOut[section] !== undefined)
  const price = Prices.presets[model]
  return (
    <div class="page-view">
      <Slider timeline={timeline} version={version} marks={marks} sizes={sizes} choose={choose} />
      <h2>The context at version {count(version)}</h2>
      <TokenBar taken={taken} tokens={context.tokens} />
      <div class="wide" tabIndex={0} role="group" aria-label="Shares of the context">
        <table>
          <thead>
            <tr>
              <th scope="col">Share</th>
              <th scope="col">Tokens</th>
              <th scope="col">Of the context</th>
              <th scope="col">Messages</th>
              <th scope="col">What it is</th>
            </tr>
          </thead>
          <tbody>
            {taken.map((one, at) => (
              <tr key={one.share}>
                <th scope="row">
                  <i class={`swatch ${one.share}`} /> {shares[at]!.name}
                </th>
                <td data-label="Tokens">{count(one.tokens)}</td>
                <td data-label="Of the context">
                  {one.share === "left-out" ? "not sent" : percent(one.tokens, context.tokens)}
                </td>
                <td data-label="Messages">{count(one.messages)}</td>
                <td class="about">{shares[at]!.about}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left.length === 0 ? null : (
        <>
          <h3>Left out, and why</h3>
          <ul>
            {left.map((one, at) => (
              <li key={at}>
                {one.parts === undefined ? several(one.to - one.from, "message") : one.parts.join(", ")} in{" "}
                {range(one)}: {whyLeftOut[one.section]}
              </li>
            ))}
          </ul>
        </>
      )}
      <Limits timeline={timeline} version={version} tokens={context.tokens} />
      <h2>From call to call</h2>
      <p class="soft">
        Each answer of the assistant stands for a call. A provider keeps the prompt of a call for{" "}
        {price.cacheMinutes} minutes; what the next prompt begins with in the same way is read from its cache.
        A compaction changes the start of the prompt, so the next call pays for it anew.
      </p>
      <label class="inline">
        Prices{" "}
        <select value={model} onChange={({ currentTarget }) => setModel(currentTarget.value as Model)}>
          {models.map((one) => (
            <option key={one} value={one}>
              {Prices.presets[one].model}
            </option>
          ))}
        </select>{" "}
        <span class="soft">
          as of {price.asOf}: {price.cached} / {price.cacheWrite} dollars a million tokens read from / written
          to the cache
        </span>
      </label>
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
