/**
 * The rhythm of a strategy, drawn from a replay: for each call of the model, how much of the context is summary, and how much is
 * messages word for word; and when it compacted.
 */
import { strategies } from "@memfold/catalog"
import type { Strategy } from "@memfold/core"
import { fullHistory } from "@memfold/lab"
import { Prices } from "@memfold/prices"
import { Either } from "effect"
import { type Call, replay } from "./replay.js"
import sample from "./sample.data.js"

/** Replays the sample under a strategy. */
const callsOf = (strategy: Strategy.Strategy): Promise<ReadonlyArray<Call>> =>
  replay(sample.load(), strategy, Prices.presets["claude-sonnet-5.5"])

const width = 760
const height = 300
const area = { left: 56, right: 744, top: 48, bottom: 256 }

/** The number of tokens at the top of every picture, so that they can be compared. No context of a strategy has more. */
const top = 28_000

const at = (value: number): string => String(Math.round(value * 10) / 10)
const x = (call: number, calls: number): number => area.left + (call / calls) * (area.right - area.left)
const y = (tokens: number): number => area.bottom - (Math.min(tokens, top) / top) * (area.bottom - area.top)
const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** The outline of stacked bars, between two heights for each call. */
const bars = (calls: ReadonlyArray<Call>, from: (call: Call) => number, to: (call: Call) => number): string =>
  calls
    .map((call, position) => {
      const [left, right] = [x(position, calls.length), x(position + 1, calls.length)]
      const [low, high] = [y(from(call)), y(to(call))]
      return low - high < 0.05
        ? ""
        : `M${at(left)} ${at(low)}V${at(high)}H${at(right - Math.min(1, (right - left) / 4))}V${at(low)}z`
    })
    .join("")

const style = `text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #59636e }
    .title { font-size: 15px; font-weight: 600; fill: #1f2328 }
    .end { text-anchor: end }
    .card { fill: #ffffff; stroke: #d1d9e0 }
    .grid { stroke: #d1d9e0 }
    .messages { fill: #4ac26b }
    .summary { fill: #0969da }
    .full { fill: none; stroke: #818b98; stroke-width: 1.5; stroke-dasharray: 4 3 }
    .mark { fill: #bf3989 }
    @media (prefers-color-scheme: dark) {
      text { fill: #9198a1 }
      .title { fill: #f0f6fc }
      .card { fill: #0d1117; stroke: #3d444d }
      .grid { stroke: #3d444d }
      .messages { fill: #2ea043 }
      .summary { fill: #4493f8 }
      .mark { fill: #f778ba }
    }`

const drawn = (title: string, calls: ReadonlyArray<Call>, reference: ReadonlyArray<Call>): string => {
  const totals = calls.map(({ summary, messages }) => summary + messages)
  const mean = totals.reduce((sum, one) => sum + one, 0) / totals.length
  const compactions = calls.reduce((sum, call) => sum + call.compactions, 0)
  const beyond = reference.findIndex(({ messages }) => messages > top)
  const shown = reference.slice(0, beyond === -1 ? undefined : beyond)
  const line = shown
    .map(
      ({ messages }, call) =>
        `${call === 0 ? "M" : "L"}${at(x(call + 0.5, calls.length))} ${at(y(messages))}`,
    )
    .join("")
  const marks = calls
    .map(({ compactions }, call) => (compactions > 0 ? x(call, calls.length) : null))
    .filter((place) => place !== null)
    .map((place) => `M${at(place)} ${area.bottom + 3}l4 8h-8z`)
    .join("")
  const grid = [0, 10_000, 20_000]
    .map(
      (tokens) =>
        `<path class="grid" d="M${area.left} ${at(y(tokens))}H${area.right}"/>` +
        `<text class="end" x="${area.left - 8}" y="${at(y(tokens) + 4)}">${tokens === 0 ? "0" : `${tokens / 1_000}k`}</text>`,
    )
    .join("\n  ")
  const about = `${calls.length} calls: ${compactions} compactions, ${count(mean)} tokens on average, ${count(Math.max(...totals))} at most`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
  <title id="title">The rhythm of ${title}</title>
  <desc id="desc">The tokens of each context of a coding agent, in ${about}. A context is the summary, and the messages word for word.</desc>
  <style>
    ${style}
  </style>
  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>
  <text class="title" x="16" y="26">${title}</text>
  <text class="end" x="${area.right}" y="26">${about}</text>
  ${grid}
  <path class="messages" d="${bars(
    calls,
    ({ summary }) => summary,
    ({ summary, messages }) => summary + messages,
  )}"/>
  <path class="summary" d="${bars(
    calls,
    () => 0,
    ({ summary }) => summary,
  )}"/>
  <path class="full" d="${line}"/>
  <path class="mark" d="${marks}"/>
  <rect class="summary" x="56" y="278" width="10" height="10"/><text x="72" y="288">summary</text>
  <rect class="messages" x="146" y="278" width="10" height="10"/><text x="162" y="288">messages, word for word</text>
  <path class="full" d="M344 283h24"/><text x="376" y="288">the full history</text>
  <path class="mark" d="M500 278l4 8h-8z"/><text x="512" y="288">a compaction</text>
</svg>
`
}

/** What is drawn: a shipped strategy, with settings that fit the sample. */
export const rhythms = [
  { file: "break-even", strategy: "break-even", settings: {} },
  { file: "sliding-window", strategy: "sliding-window", settings: {} },
  { file: "rounds", strategy: "rounds", settings: {} },
  { file: "split-turn", strategy: "split-turn", settings: { contextLimit: 12_000 } },
  { file: "rolling-buffer", strategy: "rolling-buffer", settings: {} },
  { file: "window", strategy: "window", settings: {} },
  { file: "token-buffer", strategy: "token-buffer", settings: {} },
  { file: "summary-buffer", strategy: "summary-buffer", settings: {} },
] as const

const nameOf = (setting: string): string =>
  setting.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** The full history, which every picture shows beside its strategy. */
let reference: Promise<ReadonlyArray<Call>> | undefined

/** Replays the sample under a strategy, and draws it as an SVG. */
export const rhythmOf = async ({ strategy: name, settings }: (typeof rhythms)[number]): Promise<string> => {
  const shipped = strategies.get(name)
  if (shipped === undefined) throw new Error(`there is no strategy ${name}`)
  const strategy = Either.getOrThrow(shipped.resolve({ request: settings, environment: {} }))
  const set = Object.entries(settings).map(([setting, value]) => `, ${nameOf(setting)} ${count(value)}`)
  return drawn(`${name}${set.join("")}`, await callsOf(strategy), await (reference ??= callsOf(fullHistory)))
}
