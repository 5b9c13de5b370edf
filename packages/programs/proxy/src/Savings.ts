/** What requests have cost, and what they would have cost with the whole history: tokens and money. */
import { Prices } from "@memfold/prices"
import { Record } from "effect"
import type { Usage } from "./dialects.js"
import { Newest } from "@memfold/log/Newest"

/** What requests have cost so far. */
export interface Totals {
  /** Tokens of prompts, by how they were charged, and of answers. Summaries are not among them. */
  readonly fresh: number
  readonly cached: number
  readonly written: number
  readonly output: number
  /** The tokens of the conversations as they were, and as they went upstream, by the memory's counter. */
  readonly before: number
  readonly after: number
  /** Dollars: what was spent, summaries included, and how much more it would have been; 0 for models without known prices. */
  readonly spent: number
  readonly saved: number
}

const nothing: Totals = {
  fresh: 0,
  cached: 0,
  written: 0,
  output: 0,
  before: 0,
  after: 0,
  spent: 0,
  saved: 0,
}

interface Account {
  readonly totals: Totals
  /** The prompt of the newest call without a proxy, and when it was made. */
  readonly prompt: number
  readonly time: number
}

/** The prices of a model by its name, as providers write it; `null` for an unknown model. */
export const pricesOf = (model: unknown): Prices.Prices | null => {
  if (typeof model !== "string") return null
  const name = model.toLowerCase().replaceAll(".", "-").split("/").at(-1)!
  const [found] = Object.entries(Prices.presets)
    .map(([preset, prices]) => [preset.replaceAll(".", "-"), prices] as const)
    .filter(
      ([preset]) =>
        name === preset ||
        (name.startsWith(`${preset}-`) && !/^\d{1,2}(?:-|$)/.test(name.slice(preset.length + 1))),
    )
    .toSorted(([one], [other]) => other.length - one.length)
  return found?.[1] ?? null
}

const dollars = ({ fresh, cached, written, output }: Usage, prices: Prices.Prices): number =>
  (fresh * prices.input + cached * prices.cached + written * prices.cacheWrite + output * prices.output) / 1e6

/** A call, and what it would have been with the whole history. */
export interface Counted {
  readonly session: string
  readonly model: unknown
  readonly usage: Usage
  readonly before: number
  readonly after: number
  /** In milliseconds since the epoch. */
  readonly time: number
}

/**
 * Keeps accounts of sessions. What a request would have cost without the proxy is a model: its prompt would have been longer by what
 * the summaries cover; all that the call before it had sent would have been in the cache, if that was not too long ago and the
 * provider caches at all. As long as nothing is covered, both are the same, and nothing is saved.
 */
export class Savings {
  private readonly accounts = new Newest<Account>(10_000)
  private sum: Totals = nothing

  get totals(): Totals {
    return this.sum
  }

  of(session: string): Totals {
    return this.accounts.get(session)?.totals ?? nothing
  }

  private add(session: string, change: Partial<Totals>, newest?: Pick<Account, "prompt" | "time">): void {
    const plus = (one: Totals): Totals => Record.map(one, (value, name) => value + (change[name] ?? 0))
    this.sum = plus(this.sum)
    const account = this.accounts.get(session) ?? { totals: nothing, prompt: 0, time: 0 }
    this.accounts.set(session, { ...account, ...newest, totals: plus(account.totals) })
  }

  call({ session, model, usage, before, after, time }: Counted): void {
    const prices = pricesOf(model)
    const prompt = usage.fresh + usage.cached + usage.written
    const whole = prompt + Math.max(0, before - after)
    const account = this.accounts.get(session)
    const isWarm =
      account !== undefined && prices !== null && time - account.time <= prices.cacheMinutes * 60_000
    const isCaching = usage.cached + usage.written > 0
    const cached = isWarm && isCaching ? Math.min(account.prompt, whole) : 0
    const rest = whole - cached
    const without: Usage =
      before <= after
        ? usage
        : { cached, written: isCaching ? rest : 0, fresh: isCaching ? 0 : rest, output: usage.output }
    const spent = prices === null ? 0 : dollars(usage, prices)
    const saved = prices === null ? 0 : dollars(without, prices) - spent
    this.add(session, { ...usage, before, after, spent, saved }, { prompt: whole, time })
  }

  /** Adds a call of a summarizer, which nobody would have made without the proxy. */
  summary(session: string, model: unknown, usage: Usage): void {
    const prices = pricesOf(model)
    if (prices === null) return
    const cost = dollars(usage, prices)
    this.add(session, { spent: cost, saved: -cost })
  }
}
