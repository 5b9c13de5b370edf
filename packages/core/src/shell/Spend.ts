/**
 * What summarizers, embedders and extractors may cost in a day. Each cap has a log of its own in the store, which counts what was
 * spent, so a cap holds for all processes together and after a restart.
 *
 * A call is counted before it is made, with the most that it may cost, and corrected afterwards. It is made while less than the cap
 * has been counted: a day costs at most its cap and the one call that crosses it, however many processes call at once.
 */
import { Cause, Clock, Effect, type Exit, Option, Schema } from "effect"
import { Newest } from "@memfold/log/Newest"
import type { SpendCharged, SpendPart } from "../event/Event.js"
import { warn } from "../observe/logs.js"
import * as metrics from "../observe/metrics.js"
import type { SessionState, Spent } from "../session/SessionState.js"
import { spentOn } from "../session/spent.js"
import { makeId } from "./id.js"
import { retryTransient } from "./retry.js"
import type { SessionError, Sessions, Step } from "./Sessions.js"

/** The most that may be spent in a day (UTC), in tokens of input and output together, in dollars, or both. */
export interface SpendCap {
  readonly tokens?: number
  readonly dollars?: number
}

/** What a model costs, in dollars for a million tokens. The presets of `@memfold/prices` are such prices. */
export interface CallPrice {
  readonly input: number
  readonly output: number
}

/**
 * What the calls of a memory may cost in a day (UTC). When a cap is reached, compactions, learning and embedding wait until the
 * next day; appends and contexts go on.
 *
 * @example
 * ```ts
 * import { type Memory } from "@memfold/core"
 *
 * export const spend: Memory.SpendOptions = {
 *   session: { tokens: 200_000 },
 *   total: { dollars: 20 },
 *   prices: { summarizer: { input: 0.25, output: 2 } },
 * }
 * ```
 */
export interface SpendOptions {
  /** For each session. */
  readonly session?: SpendCap
  /** For all sessions of each owner together; sessions without an owner have no such cap. */
  readonly owner?: SpendCap
  /** For all sessions of the store together. Every call is counted in one log, so this suits some hundred calls a second. */
  readonly total?: SpendCap
  /** What the models cost. A cap in dollars needs the price of each part that is not free. */
  readonly prices?: { readonly [Part in SpendPart]?: CallPrice }
}

/** Whose spend has reached its cap. */
export type SpendScope = "session" | "owner" | "total"

/**
 * A cap that was reached, and when the work is tried again, in milliseconds since the epoch: when the day turns, or sooner where only
 * calls under way hold the rest of the cap.
 */
export interface SpendReached {
  readonly cap: SpendScope
  readonly until: number
}

/** The tokens of a call. */
export interface CallTokens {
  readonly input: number
  readonly output: number
}

/** A call was not made, because a cap was reached. */
export class CapReached extends Schema.TaggedError<CapReached>()("CapReached", {
  cap: Schema.Literal("session", "owner", "total"),
  until: Schema.Number,
}) {
  override get message(): string {
    return `the spend of the day has reached its cap (${this.cap}); the work goes on at ${new Date(this.until).toISOString()}`
  }
}

/** Whether no call was made at all, as far as anybody knows. */
export const isUnavailable = (exit: Exit.Exit<unknown, { readonly reason: string }>): boolean =>
  exit._tag === "Failure" &&
  Option.exists(Cause.failureOption(exit.cause), ({ reason }) => reason === "unavailable")

/** Whether work ended because a cap was reached. */
export const isCapReached = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof CapReached)

/** What keeps the spend of a memory below its caps. */
export interface Spend {
  /** The cap that the spend of a session has reached, if there is one. It reads the counts of the store, and writes nothing. */
  readonly reached: (session: string) => Effect.Effect<SpendReached | null, SessionError>
  /** Whether work of a session may start that costs something. Where a cap is reached, that is said, and the session waits. */
  readonly mayStart: (session: string) => Effect.Effect<boolean, SessionError>
  /**
   * Makes a call that costs something, and counts it. It fails with {@link CapReached}, without the call, if a cap is reached.
   *
   * @param session - the session that it is for; `null` for a call that is for none, which only the cap `total` counts
   * @param call - the part, the most that the call may cost, and the call itself
   * @param cost - what the call did cost, from how it ended
   */
  readonly charge: <A, E>(
    session: string | null,
    call: { readonly part: SpendPart; readonly most: CallTokens; readonly run: Effect.Effect<A, E> },
    cost: (exit: Exit.Exit<A, E>) => CallTokens,
  ) => Effect.Effect<A, E | CapReached | SessionError>
  /** Until when the work of a session waits, as far as this process knows; 0 if it does not. In milliseconds since the epoch. */
  readonly waitsUntil: (session: string) => number
}

const totalLog = "memfold:spend"

/**
 * The id of the log that counts what a session, an owner, or all sessions together spend.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * console.log(Memory.spendLog("owner", "ada")) // memfold:spend:owner:ada
 * ```
 */
export const spendLog = (scope: SpendScope, name: string): string =>
  scope === "total" ? totalLog : `${totalLog}:${scope}:${name}`

/** The day of a time in UTC, such as `2026-11-26`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

const dayMillis = 86_400_000

/** When the day of a time ends. Days of UTC have no change of clocks. */
const endOfDay = (time: number): number => (Math.floor(time / dayMillis) + 1) * dayMillis

const isReached = ({ tokens, dollars }: Amount, cap: SpendCap): boolean =>
  tokens >= (cap.tokens ?? Number.POSITIVE_INFINITY) || dollars >= (cap.dollars ?? Number.POSITIVE_INFINITY)

/** What was spent, and what calls under way may cost. */
const withHeld = ({ tokens, dollars, heldTokens, heldDollars }: Spent): Amount => ({
  tokens: tokens + heldTokens,
  dollars: dollars + heldDollars,
})

/** How soon work is tried again that only calls under way hold up, in milliseconds: they may cost less than the most. */
const pause = 60_000

/** A memory without caps: it counts nothing. */
export const noSpend: Spend = {
  reached: () => Effect.succeed(null),
  mayStart: () => Effect.succeed(true),
  charge: (_session, { run }) => run,
  waitsUntil: () => 0,
}

/** How many sessions are remembered as waiting; of others, the store is asked again. */
const mostWaiting = 10_000

interface Ledger {
  readonly scope: SpendScope
  readonly log: string
  readonly cap: SpendCap
}

/** A cap that work is refused for. It is final for the day, or only calls under way hold the rest of it. */
interface Refusal extends Ledger {
  readonly isFinal: boolean
  readonly until: number
}

type Amount = Pick<Spent, "tokens" | "dollars">

/** Why work is refused for what a log has counted today; `null` if it is not. */
const refusalOf = (ledger: Ledger, spent: SessionState["spent"], now: number): Refusal | null => {
  const today = spentOn(spent, dayOf(now))
  if (!isReached(withHeld(today), ledger.cap)) return null
  const isFinal = isReached(today, ledger.cap)
  return { ...ledger, isFinal, until: isFinal ? endOfDay(now) : Math.min(now + pause, endOfDay(now)) }
}

/** What a call costs that was not made. */
const nothing: Amount = { tokens: 0, dollars: 0 }

/** The logs that count the spend of a session: the narrowest cap first. */
const ledgersIn = (
  sessions: Sessions,
  options: SpendOptions,
  session: string | null,
): Effect.Effect<ReadonlyArray<Ledger>, SessionError> =>
  Effect.gen(function* () {
    const { session: each, owner: owners, total } = options
    const state = session === null || owners === undefined ? null : yield* sessions.load(session)
    const owner = state?.description.owner ?? null
    const ledger = (scope: SpendScope, name: string | null, cap: SpendCap | undefined) =>
      name === null || cap === undefined ? [] : [{ scope, log: spendLog(scope, name), cap }]
    return [
      ...ledger("session", session, each),
      ...ledger("owner", owner, owners),
      ...ledger("total", "", total),
    ]
  })

export const makeSpend = (sessions: Sessions, options: SpendOptions | undefined): Spend => {
  if (options === undefined) return noSpend
  const { prices = {} } = options
  const waiting = new Newest<number>(mostWaiting)
  const ledgersOf = (session: string | null) => ledgersIn(sessions, options, session)

  /** The first cap that is reached, of the logs that count the spend of a session. */
  const firstReached = (session: string, now: number): Effect.Effect<Refusal | null, SessionError> =>
    Effect.gen(function* () {
      for (const ledger of yield* ledgersOf(session)) {
        const refusal = refusalOf(ledger, (yield* sessions.load(ledger.log)).spent, now)
        if (refusal !== null) return refusal
      }
      return null
    })

  /** Appends what a step decides to a log that counts. A retry after a lost answer changes nothing. */
  const count = <A>(log: string, batchId: string, step: (state: SessionState) => Step<A>) =>
    Effect.map(retryTransient(sessions.transact(log, step, batchId)), ({ answer }) => answer)

  /**
   * Remembers that a session waits for a cap, and says so: in the log that counts, once for each day, whatever the number of
   * processes.
   */
  const refused = (
    session: string | null,
    { scope, log, cap, isFinal, until }: Refusal,
    time: number,
  ): Effect.Effect<SpendReached, SessionError> =>
    Effect.gen(function* () {
      const found = { cap: scope, until }
      if (session !== null) waiting.set(session, until)
      if (!isFinal) return found
      yield* metrics.count(metrics.spendReached, { cap: scope })
      const day = dayOf(time)
      const isNew = yield* count<boolean>(log, yield* makeId, ({ spent }) =>
        spentOn(spent, day).reached === null
          ? { events: [{ _tag: "SpendCapReached", day, ...cap }], answer: true }
          : { events: [], answer: false },
      )
      if (isNew)
        yield* warn("the spend of the day has reached its cap; work waits until the next day", {
          cap: scope,
          log,
          until: new Date(until).toISOString(),
        })
      return found
    })

  const charge: Spend["charge"] = (session, { part, most, run }, cost) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const call = yield* makeId
        const time = yield* Clock.currentTimeMillis
        const day = dayOf(time)
        const amountOf = ({ input, output }: CallTokens): Amount => ({
          tokens: Math.ceil(input) + Math.ceil(output),
          dollars: (input * (prices[part]?.input ?? 0) + output * (prices[part]?.output ?? 0)) / 1e6,
        })
        const held = amountOf(most)
        const charged = (spent: Amount, sign: 1 | -1): SpendCharged => ({
          _tag: "SpendCharged",
          day,
          call,
          part,
          ...spent,
          heldTokens: sign * held.tokens,
          heldDollars: sign * held.dollars,
        })
        /** The logs that hold the most that the call may cost. */
        const holding: Array<Ledger> = []
        /** Counts what the call did cost, and gives back what was held. */
        const settle = (spent: Amount): Effect.Effect<void> =>
          Effect.forEach(
            holding,
            ({ log }) =>
              count(log, `${call}.settled`, () => ({ events: [charged(spent, -1)], answer: true })),
            { discard: true },
          ).pipe(
            // Too much stays held until the day turns, never too little.
            Effect.catchAll(({ _tag: why }) =>
              warn("a call stays counted with the most that it may have cost", {
                session: session ?? "",
                why,
              }),
            ),
          )
        for (const ledger of yield* ledgersOf(session)) {
          const refusal = yield* count<Refusal | null>(ledger.log, call, ({ spent }) => {
            const answer = refusalOf(ledger, spent, time)
            return { events: answer === null ? [charged(nothing, 1)] : [], answer }
          }).pipe(Effect.tapError(() => settle(nothing)))
          if (refusal !== null) {
            yield* settle(nothing)
            return yield* new CapReached(yield* refused(session, refusal, time))
          }
          holding.push(ledger)
        }
        return yield* Effect.onExit(restore(run), (exit) => {
          const amount = amountOf(cost(exit))
          return settle(amount).pipe(
            Effect.zipRight(metrics.record(metrics.spendTokens, amount.tokens, { part })),
            Effect.zipRight(metrics.record(metrics.spendDollars, amount.dollars, { part })),
          )
        })
      }),
    )

  return {
    reached: (session) =>
      Effect.gen(function* () {
        const refusal = yield* firstReached(session, yield* Clock.currentTimeMillis)
        return refusal === null ? null : { cap: refusal.scope, until: refusal.until }
      }),
    mayStart: (session) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const refusal = yield* firstReached(session, now)
        if (refusal === null) waiting.delete(session)
        else yield* refused(session, refusal, now)
        return refusal === null
      }),
    charge,
    waitsUntil: (session) => waiting.get(session) ?? 0,
  }
}
