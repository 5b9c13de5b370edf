/** The options that cap what the calls of a day may cost, and `memfold spend`. */
import { byName, type UnknownName } from "@memfold/catalog"
import { EventLog, Memory, Session } from "@memfold/core"
import { Prices } from "@memfold/prices"
import { Console, Effect, Option, Stream } from "effect"
import { clean, count, table, printJson } from "../terminal/terminal.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"

/** The options `--spend` and `--spend-prices`. */
export const spend = {
  spend: options.repeatedText(
    "spend",
    "WHOSE=AMOUNT",
    "The most that summaries and facts may cost in a day: total=2000000 (tokens), 'owner=$0.50' (in quotes, for the shell); may be repeated.",
  ),
  spendPrices: options.optionalText(
    "spend-prices",
    "MODEL|IN,OUT",
    "What the model costs: the name of a preset, or dollars for a million tokens of input and of output, such as 0.25,2.",
  ),
}

const caps: ReadonlyArray<Memory.SpendScope> = ["session", "owner", "total"]

const pricesOf = (given: string): Effect.Effect<Memory.CallPrice, UnknownName> => {
  const [, input, output] = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(given) ?? []
  return input === undefined || output === undefined
    ? byName("model with known prices", new Map(Object.entries(Prices.presets)), given)
    : Effect.succeed({ input: Number(input), output: Number(output) })
}

/** The caps that the options name; none without them. */
export const spendOf = (given: {
  readonly spend: ReadonlyArray<string>
  readonly spendPrices: Option.Option<string>
}): Effect.Effect<{ readonly spend?: Memory.SpendOptions }, UsageError | UnknownName> =>
  Effect.gen(function* () {
    const found: { -readonly [Scope in Memory.SpendScope]?: Memory.SpendCap } = {}
    for (const one of given.spend) {
      const [, scope, sign, amount] = /^(session|owner|total)=(\$?)(\d+(?:\.\d+)?)$/.exec(one) ?? []
      if (scope === undefined || !(Number(amount) > 0))
        return yield* new UsageError({
          problem: `--spend ${one}: it is ${caps.join(", ")} with an amount, such as total=2000000 (tokens) or 'owner=$0.50', which a shell needs in quotes`,
        })
      const cap = sign === "$" ? { dollars: Number(amount) } : { tokens: Number(amount) }
      found[scope as Memory.SpendScope] = { ...found[scope as Memory.SpendScope], ...cap }
    }
    if (given.spend.length === 0) return {}
    const price = yield* Effect.transposeMapOption(given.spendPrices, pricesOf)
    if (Option.isNone(price) && Object.values(found).some(({ dollars }) => dollars !== undefined))
      return yield* new UsageError({ problem: "--spend in dollars needs --spend-prices" })
    return {
      spend: {
        ...found,
        ...Option.match(price, {
          onNone: () => ({}),
          onSome: (one) => ({ prices: { summarizer: one, embedder: one, extractor: one } }),
        }),
      },
    }
  })

const recordOf = (log: string, spent: Session.Spent, today: string) => ({
  type: "spend",
  log,
  day: spent.day,
  today: spent.day === today,
  tokens: spent.tokens,
  dollars: spent.dollars,
  heldTokens: spent.heldTokens,
  heldDollars: spent.heldDollars,
  reached: spent.reached === null ? null : new Date(spent.reached.time).toISOString(),
  ...(spent.reached?.tokens === undefined ? {} : { capTokens: spent.reached.tokens }),
  ...(spent.reached?.dollars === undefined ? {} : { capDollars: spent.reached.dollars }),
})

const whose = (log: string): string =>
  log === Memory.spendLog("total", "")
    ? "all sessions"
    : clean(log.slice(`${Memory.spendLog("total", "")}:`.length))

const dollars = (amount: number): string => (amount === 0 ? "-" : `$${amount.toFixed(amount < 0.01 ? 6 : 2)}`)

export const command = options.command(
  "spend",
  "Show what summaries, facts and vectors have cost on the newest day, and which caps were reached.",
  {
    store: options.store,
    owner: options.owner("Only what this owner has spent."),
    session: options.optionalText("session", "ID", "Only what this session has spent."),
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const sessions = Session.make(log)
      const named = [
        ...Option.toArray(given.owner).map((name) => Memory.spendLog("owner", name)),
        ...Option.toArray(given.session).map((name) => Memory.spendLog("session", name)),
      ]
      // The logs that count stand together in the order of ids.
      const first = Memory.spendLog("total", "")
      const all = EventLog.sessions(log).pipe(
        Stream.map(({ session }) => session),
        Stream.filter((session) => session === first || session.startsWith(`${first}:`)),
      )
      const logs = named.length > 0 ? named : [...(yield* Stream.runCollect(all))]
      const today = Memory.dayOf(yield* Effect.clockWith(({ currentTimeMillis }) => currentTimeMillis))
      const records = (yield* Effect.forEach(logs, (name) =>
        Effect.map(sessions.load(name), ({ spent }) =>
          spent === null ? [] : [recordOf(name, spent, today)],
        ),
      )).flat()
      if (given.json) return yield* printJson(records)
      if (records.length === 0)
        return yield* Console.log("nothing was counted: no process of this store had caps (--spend)")
      yield* Console.log(
        table(
          ["whose", "day", "tokens", "dollars", "held", "cap reached"],
          records.map((one) => [
            whose(one.log),
            one.day,
            count(one.tokens),
            dollars(one.dollars),
            one.heldTokens === 0 ? "-" : count(one.heldTokens),
            one.reached === null ? "-" : `${one.reached.slice(11, 19)} UTC`,
          ]),
          ["left", "left", "right", "right", "right"],
        ),
      )
    }).pipe(Effect.provide(options.existingStore(given))),
)
