/** What is near its limit: the sizes of a session against the settings of the strategy, and what providers allow. */
import type { schemas } from "@memfold/client"
import type { Session } from "@memfold/core"
import { dollars, inWords, several } from "../format.js"

type Settings = Readonly<Record<string, unknown>>
type Spend = typeof schemas.SpentToday.Type

/** A size and its limit. */
export interface Limit {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly unit: "token" | "message" | "turn" | "mark" | "dollar"
  /** What happens at the limit. */
  readonly about: string
}

/** The most places that a request to Anthropic may mark with `cache_control`. */
const mostCacheMarks = 4

const limit = (
  name: string,
  used: number | null,
  most: number | null | undefined,
  unit: Limit["unit"],
  about: string,
): ReadonlyArray<Limit> => (used === null || most == null ? [] : [{ name, used, limit: most, unit, about }])

const numberIn = (settings: Settings, name: string): number | null => {
  const value = settings[name]
  return typeof value === "number" ? value : null
}

/** What is measured at a version. */
export interface Measured {
  readonly state: Session.SessionState
  /** The tokens of the context. */
  readonly tokens: number
  /** How many `cache_control` marks the request has; `null` while that is not known. */
  readonly cacheMarks: number | null
  /** The window of the model, in tokens. */
  readonly window: number
  /** What was spent today; `null` while that is not known. */
  readonly spend: Spend | null
}

/** The limits of a strategy that it compacts at, by its settings: those that a size reaches. */
const ofStrategy = (
  strategy: string,
  settings: Settings,
  { state, tokens }: Measured,
): ReadonlyArray<Limit> => {
  const messages = state.uncovered.length
  const uncovered = state.uncovered.slice().reduce((sum, entry) => sum + entry.tokens, 0)
  const older = Math.max(messages - (numberIn(settings, "tailKeepSize") ?? 0), 0)
  const setting = (name: string, used: number, unit: Limit["unit"], about: string) =>
    limit(inWords(name), used, numberIn(settings, name), unit, about)
  switch (strategy) {
    case "sliding-window":
      return [
        ...setting("contextSize", messages, "message", "uncovered messages; then it compacts"),
        ...setting("compressionWindowSize", older, "message", "older than the tail; then it compacts"),
        ...setting("compressionHardLimit", older, "message", "older than the tail; then it compacts at once"),
      ]
    case "rounds": {
      const [full, cached] = [
        numberIn(settings, "fullContextTurns") ?? 0,
        numberIn(settings, "cachedContextTurns") ?? 0,
      ]
      const about = "complete turns word for word; then the oldest B become a block"
      const turns = Math.max(state.turnStarts.length - 1, 0)
      return limit("A + B", turns, full + cached, "turn", about)
    }
    case "break-even":
    case "split-turn": {
      const [most, share] = [
        numberIn(settings, "contextLimit"),
        numberIn(settings, "compactionThreshold") ?? 1,
      ]
      return most === null
        ? []
        : limit("compaction threshold", tokens, most * share, "token", "of the context; then it compacts")
    }
    case "window":
      return setting("windowSize", messages, "message", "uncovered messages; older ones are dropped")
    case "token-buffer":
    case "summary-buffer":
      return setting("maxTokens", uncovered, "token", "of the uncovered messages; then it compacts")
    default:
      return []
  }
}

const whose = { session: "this session", owner: "the owner", total: "all sessions" } as const

/** What was spent today, of each cap that the service knows. */
const ofSpend = ({ day, caps }: Spend): ReadonlyArray<Limit> =>
  caps.flatMap(({ scope, cap, tokens, dollars, heldTokens, heldDollars }) => {
    const name = `Spend of ${whose[scope]}`
    const about = `on ${day} (UTC), with the most of calls under way; then summaries and facts wait for the next day`
    return [
      ...limit(name, tokens + heldTokens, cap?.tokens, "token", about),
      ...limit(name, dollars + heldDollars, cap?.dollars, "dollar", about),
    ]
  })

/** What other processes count, whose caps are not known here, in words. */
export const countedElsewhere = ({ caps }: Spend): ReadonlyArray<string> =>
  caps.flatMap(({ scope, cap, tokens, dollars: sum }) =>
    cap === null
      ? [`${several(tokens, "token")}${sum > 0 ? ` (${dollars(sum)})` : ""} by ${whose[scope]}`]
      : [],
  )

/** The sizes that have a limit, nearest to it first. */
export const limitsOf = (strategy: string, settings: Settings, measured: Measured): ReadonlyArray<Limit> => {
  const { state, tokens, window, cacheMarks, spend } = measured
  const memory = numberIn(settings, "sessionMemoryTokens") ?? numberIn(settings, "summaryTokens")
  const ofWindow = "of the context; beyond it, the provider refuses the request"
  const ofMemory = "of the summary; then its oldest blocks are merged or left out"
  const ofMarks = "that memfold sets in a request to Anthropic; the application's own come on top"
  return [
    ...limit("Window of the model", tokens, window, "token", ofWindow),
    ...ofStrategy(strategy, settings, measured),
    ...limit("Session memory", state.summary?.tokens ?? 0, memory, "token", ofMemory),
    ...limit("cache_control marks", cacheMarks, mostCacheMarks, "mark", ofMarks),
    ...(spend === null ? [] : ofSpend(spend)),
  ].toSorted((one, other) => other.used / other.limit - one.used / one.limit)
}

/** How many `cache_control` marks are in a request. */
export const cacheMarksIn = (request: unknown): number => {
  if (typeof request !== "object" || request === null) return 0
  return Object.entries(request).reduce(
    (sum, [key, value]) =>
      sum + (key === "cache_control" && value !== null && value !== undefined ? 1 : cacheMarksIn(value)),
    0,
  )
}
