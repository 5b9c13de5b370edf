/** The same session under several strategies: the size of the context, the cost, and what of later needed identifiers was there. */
import type { schemas } from "@memfold/client"
import { Prices } from "@memfold/prices"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { count, dollars, percent, several, short } from "../format.js"
import { Chart } from "../parts/Chart.js"
import { Choice } from "../parts/Choice.js"
import { Problem, Swatch, Waiting } from "../parts/Notices.js"
import { type Column, Table } from "../parts/Table.js"
import { ofSession, ask, type Progress, reasonOf } from "../service/ask.js"
import { type Comparison, fullHistory, verdictOf } from "../session/verdict.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Preview } from "./Compact.js"
import { models, strategies } from "./offered.js"

type Compared = typeof schemas.Compared.Type
type Point = Compared["points"][number]

const offered = [fullHistory, ...strategies] as const
const inks = ["system", "summary", "verbatim", "recalled", "facts", "pinned"] as const
const inkOf = (name: string): string => inks[offered.findIndex((one) => one === name)] ?? "system"

const curves: ReadonlyArray<{
  readonly title: string
  readonly unit: (value: number) => string
  readonly value: (point: Point) => number
}> = [
  { title: "Tokens of the context", unit: short, value: ({ tokens }) => tokens },
  { title: "Cost so far", unit: dollars, value: (point) => point.dollars },
  { title: "Needed identifiers that were there", unit: count, value: ({ there }) => there },
]

const Curve = ({
  title,
  unit,
  value,
  all,
}: (typeof curves)[number] & { readonly all: ReadonlyArray<Comparison> }) => {
  const series = useMemo(
    () => all.map(([name, { points }]) => ({ name, ink: inkOf(name), values: points.map(value) })),
    [all],
  )
  const ends = series.map(({ name, values }) => `${name} ends at ${unit(values.at(-1) ?? 0)}`)
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Chart
        label={`${title}: ${ends.join(", ")}`}
        kind="lines"
        across="Call"
        series={series}
        unit={unit}
        height={200}
        together="compare"
      />
    </figure>
  )
}

const totals: ReadonlyArray<Column<Comparison>> = [
  [
    "Strategy",
    ([name]) => (
      <>
        <Swatch ink={inkOf(name)} /> {name}
      </>
    ),
  ],
  ["Calls", ([, { points }]) => count(points.length), "number"],
  [
    "Compactions",
    ([, { compactions, failures }]) =>
      `${count(compactions)}${failures > 0 ? `, ${count(failures)} failed` : ""}`,
    "number",
  ],
  ["Largest context", ([, { points }]) => count(Math.max(0, ...points.map((one) => one.tokens))), "number"],
  ["Cost", ([, { points }]) => dollars(points.at(-1)?.dollars ?? 0), "number"],
  ["From the cache", ([, { points }]) => percent(points.at(-1)?.cached ?? 0, 1), "number"],
  [
    "Needed identifiers there",
    ([, { points }]) => {
      const last = points.at(-1)
      return last === undefined ? "–" : `${count(last.there)} of ${count(last.needed)}`
    },
    "number",
  ],
]

const priced = {
  input: "input",
  cached: "read from the cache",
  cacheWrite: "written to the cache",
  output: "output",
  cacheMinutes: "minutes in the cache",
} as const

/** What the model would get now under another strategy, for who asks. */
const Would = ({ session, strategy }: { readonly session: string; readonly strategy: string }) => {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>What {strategy} would have sent by now</summary>
      {open ? <Preview session={session} wanted={{ which: "all", strategy, settings: {} }} /> : null}
    </details>
  )
}

/** The service reads no longer session anew for each call, in messages. */
const mostInFull = 3_000

/** Asks for the comparisons one by one, as long as the view is there: the service ends a replay that nobody waits for. */
const useComparisons = (session: string) => {
  const [all, setAll] = useState<ReadonlyArray<Comparison>>([])
  const [working, setWorking] = useState<string | null>(null)
  const [problems, setProblems] = useState<ReadonlyArray<string>>([])
  const [progress, setProgress] = useState<Progress | null>(null)
  const asking = useRef<AbortController | null>(null)
  const stop = () => {
    asking.current?.abort()
    setWorking(null)
  }
  useEffect(() => stop, [])
  const compare = async (chosen: ReadonlyArray<string>, prices: object) => {
    const { signal } = (asking.current = new AbortController())
    setProblems([])
    setAll([])
    for (const [at, name] of chosen.entries()) {
      setWorking(`${name}, ${count(at + 1)} of ${count(chosen.length)}`)
      const body = { strategy: name === fullHistory ? null : name, prices }
      setProgress(null)
      const options = { method: "POST", body, signal, onProgress: setProgress } as const
      try {
        const found = await ask<Compared>(ofSession(session, "/compare"), options)
        setAll((before) => [...before, [name, found]])
      } catch (error) {
        if (signal.aborted) return
        // The other strategies are compared all the same.
        setProblems((before) => [...before, `${name}: ${reasonOf(error)}`])
      }
    }
    setWorking(null)
  }
  return { all, working, problems, compare, progress, stop }
}

export const CompareView = ({ timeline }: ViewProps) => {
  const isLong = timeline.at(timeline.version).total > mostInFull
  const [model, setModel] = useState(models[0]![0])
  const [own, setOwn] = useState<Readonly<Record<string, number>>>({})
  const [wanted, setWanted] = useState<ReadonlyArray<string>>([
    ...(isLong ? [] : [fullHistory]),
    "break-even",
    "sliding-window",
  ])
  const { all, working, problems, compare, ...far } = useComparisons(timeline.session)
  const prices = { ...Prices.presets[model], ...own }
  return (
    <div class="page-view">
      <h2>The session under several strategies</h2>
      <p class="soft">
        The conversation is replayed, message by message, and each answer of the assistant stands for a call.
        Summaries are written by the extractive summarizer, so no model is asked. The cost is that of the
        prompts and of the summaries, without the answers. An identifier is needed if an answer uses it and it
        was not said in the ten messages before.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void compare(
            offered.filter((name) => wanted.includes(name)),
            prices,
          )
        }}
      >
        <fieldset>
          <legend>Strategies</legend>
          {offered.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                disabled={isLong && name === fullHistory}
                checked={wanted.includes(name)}
                onChange={({ currentTarget: { checked } }) =>
                  setWanted(checked ? [...wanted, name] : wanted.filter((one) => one !== name))
                }
              />{" "}
              {name}
              {isLong && name === fullHistory ? ` (up to ${several(mostInFull, "message")})` : ""}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Prices, in dollars for a million tokens</legend>
          <Choice
            label="Model"
            options={models}
            value={model}
            choose={(one) => {
              setModel(one)
              setOwn({})
            }}
          />
          {(Object.keys(priced) as ReadonlyArray<keyof typeof priced>).map((name) => (
            <label key={name}>
              {priced[name]}{" "}
              <input
                type="number"
                min={0}
                step="any"
                required
                value={prices[name]}
                onInput={({ currentTarget }) => setOwn({ ...own, [name]: Number(currentTarget.value) })}
              />
            </label>
          ))}
        </fieldset>
        <button class="primary" disabled={working !== null || wanted.length === 0}>
          Compare
        </button>
      </form>
      {working === null ? null : <Waiting {...far}>{`Replaying under ${working}`}</Waiting>}
      {problems.map((problem) => (
        <Problem key={problem}>{problem}</Problem>
      ))}
      {all.length === 0 ? null : (
        <>
          {working === null ? <p class="verdict">{verdictOf(all)}</p> : null}
          <Table label="The strategies compared" rows={all} keyOf={([name]) => name} columns={totals} />
          {all
            .filter(([name]) => name !== fullHistory)
            .map(([name]) => (
              <Would key={name} session={timeline.session} strategy={name} />
            ))}
          {curves.map((curve) => (
            <Curve key={curve.title} {...curve} all={all} />
          ))}
        </>
      )}
    </div>
  )
}
