/** The same session under several strategies: the size of the context, the cost, and what of later needed identifiers was there. */
import type { schemas } from "@memfold/client"
import { Prices } from "@memfold/prices"
import { useEffect, useState } from "preact/hooks"
import { count, dollars, percent, several, short } from "../format.js"
import { ask, ofSession } from "../service/ask.js"
import type { ViewProps } from "./SessionView.js"

type Compared = typeof schemas.Compared.Type

const fullHistory = "full history"
const strategies = [
  fullHistory,
  "break-even",
  "sliding-window",
  "rounds",
  "split-turn",
  "rolling-buffer",
] as const
const models = Object.keys(Prices.presets) as ReadonlyArray<keyof typeof Prices.presets>
const [width, height] = [1_000, 220]

const curves = {
  tokens: "Tokens of the context",
  dollars: "Cost so far",
  there: "Needed identifiers that were there",
} as const
type Curve = keyof typeof curves

const valueOf: Readonly<Record<Curve, (point: Compared["points"][number]) => number>> = {
  tokens: ({ tokens }) => tokens,
  dollars: ({ dollars }) => dollars,
  there: ({ there }) => there,
}

const Curves = ({
  curve,
  all,
}: {
  readonly curve: Curve
  readonly all: ReadonlyArray<readonly [string, Compared]>
}) => {
  const value = valueOf[curve]
  const most = Math.max(...all.flatMap(([, { points }]) => points.map(value)), Number.MIN_VALUE)
  const shown = curve === "dollars" ? dollars(most) : short(most)
  return (
    <figure class="chart">
      <figcaption>
        {curves[curve]} <span class="soft">call by call, up to {shown}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${curves[curve]}: ${all.map(([name, { points }]) => `${name} ends at ${count(points.length === 0 ? 0 : value(points.at(-1)!))}`).join(", ")}`}
      >
        {all.map(([name, { points }]) => (
          <path
            key={name}
            class={`curve c${strategies.indexOf(name as (typeof strategies)[number])}`}
            d={`M${points.map((point, at) => `${((at / Math.max(points.length - 1, 1)) * width).toFixed(1)} ${(height - 2 - (value(point) / most) * (height - 6)).toFixed(1)}`).join("L")}`}
          />
        ))}
      </svg>
    </figure>
  )
}

const Totals = ({ all }: { readonly all: ReadonlyArray<readonly [string, Compared]> }) => (
  <div class="wide" tabIndex={0} role="group" aria-label="The strategies compared">
    <table class="totals">
      <thead>
        <tr>
          <th scope="col">Strategy</th>
          <th scope="col">Calls</th>
          <th scope="col">Compactions</th>
          <th scope="col">Largest context</th>
          <th scope="col">Cost</th>
          <th scope="col">From the cache</th>
          <th scope="col">Needed identifiers there</th>
        </tr>
      </thead>
      <tbody>
        {all.map(([name, { points, compactions, failures }]) => {
          const last = points.at(-1)
          return (
            <tr key={name}>
              <th scope="row">
                <i class={`swatch c${strategies.indexOf(name as (typeof strategies)[number])}`} /> {name}
              </th>
              <td data-label="Calls">{count(points.length)}</td>
              <td data-label="Compactions">
                {count(compactions)}
                {failures > 0 ? `, ${count(failures)} failed` : ""}
              </td>
              <td data-label="Largest context">
                {count(points.reduce((most, { tokens }) => Math.max(most, tokens), 0))}
              </td>
              <td data-label="Cost">{dollars(last?.dollars ?? 0)}</td>
              <td data-label="From the cache">{percent(last?.cached ?? 0, 1)}</td>
              <td data-label="Needed identifiers there">
                {last === undefined ? "–" : `${count(last.there)} of ${count(last.needed)}`}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)

const priced = {
  input: "input",
  cached: "read from the cache",
  cacheWrite: "written to the cache",
  output: "output",
  cacheMinutes: "minutes in the cache",
} as const

/** The service reads no longer session anew for each call, in messages. */
const mostInFull = 3_000

export const CompareView = ({ timeline }: ViewProps) => {
  const { session } = timeline
  const isLong = timeline.at(timeline.version).total > mostInFull

  const [model, setModel] = useState(models[0]!)
  const [own, setOwn] = useState<Readonly<Record<string, number>>>({})
  const [wanted, setWanted] = useState<ReadonlySet<string>>(
    new Set([...(isLong ? [] : [fullHistory]), "break-even", "sliding-window"]),
  )
  const [all, setAll] = useState<ReadonlyArray<readonly [string, Compared]>>([])
  const [working, setWorking] = useState<string | null>(null)
  const [problems, setProblems] = useState<ReadonlyArray<string>>([])
  const prices = { ...Prices.presets[model], ...own }
  const [stop] = useState(() => new AbortController())
  // Who leaves the view asks for no more, and the service ends the replay.
  useEffect(() => () => stop.abort(), [])
  const compare = async () => {
    setProblems([])
    setAll([])
    const found: Array<readonly [string, Compared]> = []
    const chosen = strategies.filter((name) => wanted.has(name))
    for (const [at, name] of chosen.entries()) {
      setWorking(`${name}, ${count(at + 1)} of ${count(chosen.length)}`)
      const body = { strategy: name === fullHistory ? null : name, prices }
      const options = { method: "POST", body, signal: stop.signal } as const
      try {
        found.push([name, await ask<Compared>(ofSession(session, "/compare"), options)])
        setAll([...found])
      } catch (error) {
        if (stop.signal.aborted) return
        // The other strategies are compared all the same.
        const problem = `${name}: ${error instanceof Error ? error.message : String(error)}`
        setProblems((before) => [...before, problem])
      }
    }
  }
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
          void compare().finally(() => setWorking(null))
        }}
      >
        <fieldset>
          <legend>Strategies</legend>
          {strategies.map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                disabled={isLong && name === fullHistory}
                checked={wanted.has(name)}
                onChange={({ currentTarget }) => {
                  const next = new Set(wanted)
                  if (currentTarget.checked) next.add(name)
                  else next.delete(name)
                  setWanted(next)
                }}
              />{" "}
              {name}
              {isLong && name === fullHistory ? ` (up to ${several(mostInFull, "message")})` : ""}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Prices, in dollars for a million tokens</legend>
          <label class="check">
            Model{" "}
            <select
              value={model}
              onChange={({ currentTarget }) => {
                setModel(currentTarget.value as typeof model)
                setOwn({})
              }}
            >
              {models.map((one) => (
                <option key={one} value={one}>
                  {Prices.presets[one].model}
                </option>
              ))}
            </select>
          </label>
          {(Object.keys(priced) as ReadonlyArray<keyof typeof priced>).map((name) => (
            <label key={name} class="check">
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
        <button class="primary" disabled={working !== null || wanted.size === 0}>
          {working === null ? "Compare" : `Replaying under ${working}…`}
        </button>
      </form>
      {problems.map((problem) => (
        <p key={problem} class="problem" role="alert">
          {problem}
        </p>
      ))}
      {all.length === 0 ? null : (
        <>
          <Totals all={all} />
          {(Object.keys(curves) as ReadonlyArray<Curve>).map((curve) => (
            <Curves key={curve} curve={curve} all={all} />
          ))}
        </>
      )}
    </div>
  )
}
