/**
 * The clients: what they ask of the engines, and what they hold every answer to. They know what they were told, and
 * the history knows what happened in between.
 */
import { isDeepStrictEqual } from "node:util"
import { Cause, Chunk, type Effect, Exit, type Fiber, Option, Stream } from "effect"
import { type EventLog, type CompactionOutcome, Render, type Session } from "../../src/index.js"
import { type Engine, interrupt, told } from "./engine.js"
import { type Batch, type History, type Moment, sameState, type Truth } from "./history.js"
import type { Action, Plan } from "./plan.js"
import { Subscriber } from "./subscriber.js"
import { marksOf, Talk } from "./talk.js"
import { must } from "./violation.js"
import type { World } from "./world.js"

/** An operation that has not ended. */
interface Pending {
  readonly what: string
  readonly session: string
  readonly engine: Engine
  readonly since: Moment
  readonly faults: number
  gaveUp: boolean
  fiber: Fiber.RuntimeFiber<unknown, unknown> | null
  /** Called when its outcome can no longer be known. */
  readonly lost: () => void
}

/** How an operation is judged. */
interface Judge<A> {
  readonly answered?: (answer: A, pending: Pending) => void
  /** The errors that are no failure of the engine. */
  readonly expected?: ReadonlyArray<string>
  readonly lost?: () => void
}

/** An append that waits for nothing takes no longer than this, in milliseconds. */
const promptly = 5_000

export class Clients {
  readonly pending = new Set<Pending>()
  readonly subscribers = new Set<Subscriber>()
  /** How many subscribers come back soon. */
  private returning = 0
  private readonly talks = new Map<string, Talk>()
  private over = false
  private messages = 0
  private batches = 0

  constructor(
    private readonly parts: {
      readonly world: World
      readonly history: History
      readonly plan: Plan
      /** The engines that can be asked now. */
      readonly engines: () => ReadonlyArray<Engine>
    },
  ) {}

  /** The engine is dead: what it was asked will not be answered. */
  abandon(engine: Engine): void {
    for (const one of [...this.pending].filter((pending) => pending.engine === engine)) {
      this.pending.delete(one)
      one.lost()
    }
    for (const subscriber of [...this.subscribers].filter((one) => one.engine === engine)) {
      this.subscribers.delete(subscriber)
      this.resubscribe(subscriber)
    }
  }

  /** Asks an engine to do something for a session. */
  ask<A, E>(
    engine: Engine,
    what: string,
    session: string,
    effect: Effect.Effect<A, E>,
    { answered, expected = [], lost = () => {} }: Judge<A>,
  ): void {
    const { world, history, plan } = this.parts
    const { process } = engine
    const pending: Pending = {
      what,
      session,
      engine,
      since: history.moment(session),
      faults: process.faults,
      gaveUp: false,
      fiber: null,
      lost,
    }
    this.pending.add(pending)
    world.trace(() => `${engine.name}: ${what} ${session}`)
    const fiber = engine.run(effect, (exit) => {
      this.pending.delete(pending)
      world.trace(() => `${engine.name}: ${what} ${session}: ${outcomeOf(exit)}`)
      if (Exit.isSuccess(exit)) {
        this.promptly(pending)
        return answered?.(exit.value, pending)
      }
      this.failed(pending, exit.cause, expected)
      lost()
    })
    pending.fiber = fiber
    if (!world.calm && world.draw.chance(plan.impatience)) {
      world.later(null, world.draw.below(2_000), `the client of ${what} ${session} gives up`, () => {
        if (!this.pending.has(pending)) return
        pending.gaveUp = true
        interrupt(fiber)
      })
    }
  }

  /** Whatever a summarizer does, an append does not wait for it (law L8). */
  private promptly({ what, since, engine }: Pending): void {
    if (what !== "append" || engine.plan.options.compaction.mode === "inline") return
    const took = this.parts.world.now - Math.max(since.time, engine.process.slowUntil)
    must(took < promptly, "L8", () => `an append to a log that answers took ${took} ms`)
  }

  /** Operations fail for a reason, and the reason is the store. */
  private failed(
    { what, session, engine, faults, gaveUp }: Pending,
    cause: Cause.Cause<unknown>,
    expected: ReadonlyArray<string>,
  ): void {
    const [defect] = Cause.defects(cause)
    must(defect === undefined, "L8", () => `${what} ${session} died: ${told(defect)}`)
    const error = Option.getOrNull(Cause.failureOption(cause)) as { readonly _tag: string } | null
    if (error === null) {
      must(
        gaveUp || engine.closing,
        "L8",
        () => `${what} ${session} was interrupted, and no client gave it up`,
      )
      return
    }
    if (expected.includes(error._tag)) return
    must(
      error._tag === "LogError" && engine.process.faults > faults,
      "L8",
      () => `${what} ${session} failed, and the log did not: ${String(error)}`,
    )
  }

  /** Any engine, if there is one. */
  private get engine(): Engine | undefined {
    return this.parts.world.draw.any(this.parts.engines())
  }

  private get session(): string {
    const { plan, world } = this.parts
    return world.draw.pick(world.draw.chance(0.85) ? plan.sessions : [...plan.sessions, "f0", "f1"])
  }

  act(action: Exclude<Action, "crash" | "shutdown" | "outage" | "skew" | "pause">): void {
    const { engine, session } = this
    if (engine === undefined) return
    if (action === "append") this.append(engine, session)
    else this.actions[action](engine, session)
  }

  /** Says the next thing in a session. */
  append(engine: Engine, session: string): void {
    const { world, history } = this.parts
    const { draw } = world
    const talk =
      this.talks.get(session) ??
      new Talk(
        draw,
        () => this.messages++,
        () => engine.process.time(),
      )
    this.talks.set(session, talk)
    const batch: Batch = {
      batchId: `c${this.batches++}`,
      session,
      messages: talk.next(draw.chance(0.6) ? draw.between(1, 2) : draw.between(1, 5)),
      applied: [],
    }
    history.batches.set(batch.batchId, batch)
    this.attempt(engine, batch, draw.below(4))
  }

  private attempt(engine: Engine, batch: Batch, retries: number): void {
    const { world, history } = this.parts
    const { batchId: idempotencyKey, session, messages } = batch
    this.ask(engine, "append", session, engine.memory.append(session, messages, { idempotencyKey }), {
      answered: (answer, { since }) => {
        const applied = batch.applied.filter(({ incarnation }) => incarnation >= since.incarnation)
        must(
          applied.length > 0,
          "L14",
          () => `${idempotencyKey} to ${session} was acknowledged and is not in the log`,
        )
        must(
          applied.some(
            ({ from, to, version }) => from === answer.from && to === answer.to && version === answer.version,
          ),
          "L12",
          () =>
            `${idempotencyKey} to ${session} was acknowledged as ${JSON.stringify(answer)}: ${JSON.stringify(applied)}`,
        )
        must(
          answer.duplicate || applied.some(({ step }) => step >= since.step),
          "L12",
          () => `${idempotencyKey} to ${session} was applied before and acknowledged as new`,
        )
        history.count("acknowledged appends")
      },
      lost: () => {
        history.count("appends of unknown outcome")
        if (retries === 0) return
        world.later(null, world.draw.below(2_000), `${idempotencyKey} is tried again`, () => {
          const { engine: next } = this
          if (next !== undefined) this.attempt(next, batch, retries - 1)
        })
      },
    })
  }

  /** The versions that an answer may have been given at; none if the session was deleted or rewritten meanwhile. */
  private versions(truth: Truth, { incarnation, generation, version }: Moment): ReadonlyArray<number> {
    if (truth.incarnation !== incarnation || truth.generation !== generation) return []
    const newest = truth.records.length
    return Array.from({ length: newest - version + 1 }, (_, position) => newest - position)
  }

  private readonly actions: {
    readonly [Name in Exclude<Action, "append" | "crash" | "shutdown" | "outage" | "skew" | "pause">]: (
      engine: Engine,
      session: string,
    ) => void
  } = {
    context: (engine, session) =>
      this.ask(engine, "context", session, engine.memory.context(session), {
        answered: ({ budget: _budget, ...context }, { since }) => {
          const truth = this.parts.history.of(session)
          this.parts.history.forgottenIn(truth, "a context", context.messages, since)
          const versions = this.versions(truth, since)
          const rendered = (version: number) => contextsOf(engine, truth.states[version]!)
          must(
            versions.length === 0 || versions.some((version) => isOneOf(context, rendered(version))),
            "L6",
            () => `a context of ${session} is of no version from ${since.version} on`,
            () => ({ context, versions: versions.flatMap(rendered) }),
          )
        },
      }),

    state: (engine, session) =>
      this.ask(engine, "state", session, engine.memory.state(session), {
        answered: (state, { since }) => {
          const truth = this.parts.history.of(session)
          this.parts.history.forgottenIn(truth, "a state", state.uncovered.slice(), since)
          const versions = this.versions(truth, since)
          if (versions.length === 0) return
          must(
            versions.includes(state.version),
            "L14",
            () => `a state of ${session} is of version ${state.version}, the log was at ${since.version}`,
          )
          must(
            sameState(state, truth.states[state.version]!),
            "L6",
            () => `the state of ${session} at ${state.version} is not the fold of its log`,
          )
        },
      }),

    past: (engine, session) => {
      const { history, world } = this.parts
      const at = world.draw.below(history.of(session).records.length + 3)
      this.ask(engine, `context at ${at} of`, session, engine.memory.context(session, { atVersion: at }), {
        // The session has not reached that version, or was deleted.
        expected: ["InvalidInput"],
        answered: (context, { since }) => {
          const truth = history.of(session)
          history.forgottenIn(truth, "a context of the past", context.messages, since)
          const versions = this.versions(truth, since)
          const possible = new Set(versions.map((version) => Math.min(version, at)))
          must(
            versions.length === 0 ||
              [...possible].some((version) => isOneOf(context, contextsOf(engine, truth.states[version]!))),
            "L10",
            () => `the context of ${session} at ${at} is not what it was`,
          )
        },
      })
    },

    events: (engine, session) =>
      this.ask(engine, "events of", session, Stream.runCollect(engine.memory.events(session)), {
        answered: (found, { since }) => {
          const truth = this.parts.history.of(session)
          const events = Chunk.toReadonlyArray(found)
          this.parts.history.forgottenIn(truth, "the events", events, since)
          const versions = this.versions(truth, since)
          must(
            versions.length === 0 ||
              (versions.includes(events.length) &&
                isDeepStrictEqual(events, truth.events.slice(0, events.length))),
            "L10",
            () => `the events of ${session} are not the events of its log`,
          )
        },
      }),

    settle: (engine, session) =>
      this.ask(engine, "settle", session, engine.memory.compact(session, { which: "due" }), {
        answered: (outcomes, { since }) => this.outcomes(session, outcomes, since),
      }),

    compact: (engine, session) => {
      const takeOver = this.parts.world.draw.chance(0.2)
      if (takeOver) engine.takesOver.add(session)
      this.ask(engine, "compact", session, engine.memory.compact(session, { takeOver }), {
        answered: (outcome, { since }) => this.outcomes(session, [outcome], since),
      })
    },

    recompact: (engine, session) =>
      this.ask(engine, "recompact", session, engine.memory.compact(session, { which: "all" }), {
        answered: (outcomes, { since }) => this.outcomes(session, outcomes, since),
      }),

    revert: (engine, session) => {
      const { history, world } = this.parts
      const { draw } = world
      const summaries = history
        .of(session)
        .events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event.summary] : []))
      const toSummary = draw.chance(0.5)
        ? (draw.any(summaries) ?? null)
        : draw.chance(0.1)
          ? "nonesuch"
          : null
      const pauseFor = draw.pick([0, 3])
      this.ask(
        engine,
        `revert to ${toSummary?.slice(-6)} in`,
        session,
        engine.memory.revert(session, { toSummary, pauseFor }),
        {
          expected: toSummary === null ? [] : ["UnknownSummary"],
          answered: (_count, { since }) => {
            const truth = history.of(session)
            const versions = this.versions(truth, since)
            must(
              toSummary !== null ||
                versions.length === 0 ||
                versions.some((version) => truth.coveredTo[version] === 0),
              "L3",
              () => `${session} was reverted, and something was covered all the time`,
            )
          },
        },
      )
    },

    fork: (engine, session) => {
      const { history, world } = this.parts
      const { draw } = world
      const to = draw.pick(["f0", "f1", "f2"])
      const at = draw.chance(0.5) ? undefined : 1 + draw.below(history.of(session).records.length + 2)
      const before = history.moment(to)
      this.ask(
        engine,
        `fork to ${to} at ${at} of`,
        session,
        engine.memory.fork(session, to, at === undefined ? {} : { atVersion: at }),
        {
          expected: ["CannotFork", "InvalidInput"],
          answered: (version, { since }) => {
            const source = history.of(session)
            const copy = history.of(to)
            const versions = this.versions(source, since)
            if (session === to || versions.length === 0 || copy.incarnation !== before.incarnation) return
            if (copy.generation !== 0 || source.generation !== 0) return
            // A summary has another id in each session: the first one that is named is 0, and so on.
            const essence = (ids: Map<string, string>) => (record: EventLog.LogRecord) => {
              const { time, type, schemaVersion, data } = record
              const isNamed = ["SummaryCommitted", "SummarySuperseded", "SummaryInvalidated"].includes(type)
              const summaries = isNamed ? /"(?:summary|by)":"([^"\\]+)"/g : /(?!)/g
              const plain = data.replace(summaries, (found, id: string) => {
                if (!ids.has(id)) ids.set(id, String(ids.size))
                return found.replace(id, ids.get(id)!)
              })
              return [time, type, schemaVersion, plain]
            }
            const copied = copy.records.slice(0, version)
            must(
              versions.some((newest) => {
                const { batchId } = source.records[Math.min(newest, at ?? newest) - 1] ?? {}
                const last = source.records.findLastIndex((record) => record.batchId === batchId) + 1
                return (
                  copied
                    .slice(last)
                    .every(({ type }) => type === "CompactionReleased" || type === "SummaryInvalidated") &&
                  isDeepStrictEqual(
                    copied.slice(0, last).map(essence(new Map())),
                    source.records.slice(0, last).map(essence(new Map())),
                  )
                )
              }),
              "L10",
              () => `${to} is not a copy of ${session}`,
            )
          },
        },
      )
    },

    redact: (engine, session) => {
      const { history, world } = this.parts
      const { total, clears } = history.of(session).states.at(-1)!
      const index = world.draw.below(total + (world.draw.chance(0.1) ? 2 : 0))
      this.ask(engine, `redact ${index} in`, session, engine.memory.redact(session, index), {
        expected: ["UnknownMessage"],
        answered: (_answer, { since }) => {
          const truth = history.of(session)
          const done = history.redactions.some((one) => one.session === session && one.step >= since.step)
          const words = marksOf(truth.naive.messages[index]?.message.parts ?? null).length
          const moved = truth.incarnation !== since.incarnation || truth.states.at(-1)!.clears !== clears
          must(
            done || words === 0 || moved,
            "L15",
            () => `message ${index} of ${session} was said to be redacted, and is not`,
          )
        },
      })
    },

    clear: (engine, session) =>
      this.ask(engine, "clear", session, engine.memory.clear(session), {
        answered: (_answer, { since }) => {
          const truth = this.parts.history.of(session)
          const versions = this.versions(truth, since)
          must(
            versions.length === 0 || versions.some((version) => truth.states[version]?.total === 0),
            "L3",
            () => `${session} was cleared, and had messages all the time`,
          )
        },
      }),

    delete: (engine, session) =>
      this.ask(engine, "delete", session, engine.memory.delete(session), {
        answered: (found, { since }) => {
          const { history } = this.parts
          const done = history.deletions.some((one) => one.session === session && one.step >= since.step)
          const gone = since.version === 0 || history.of(session).records.length === 0
          must(
            found ? done : done || gone,
            "L12",
            () => `${session} was not deleted as it was said: ${found}`,
          )
        },
      }),

    subscribe: (engine, session) => {
      if (this.subscribers.size < 3) this.subscribe(engine, session, 1)
    },
  }

  private outcomes(session: string, outcomes: ReadonlyArray<CompactionOutcome>, since: Moment): void {
    const truth = this.parts.history.of(session)
    must(
      outcomes.length <= 2 * truth.records.length + 8,
      "L9",
      () => `${session} came to ${outcomes.length} compactions in a row`,
    )
    if (truth.incarnation !== since.incarnation) return
    for (const outcome of outcomes) {
      if (outcome._tag !== "Committed") continue
      const { summary } = outcome.committed
      must(
        truth.events.some(({ event }) => event._tag === "SummaryCommitted" && event.summary === summary),
        "L14",
        () => `the summary ${summary} of ${session} was said to be committed and is not in the log`,
      )
    }
  }

  private subscribe(engine: Engine, session: string, from: number): void {
    const { world, history } = this.parts
    history.count("subscriptions")
    const subscriber = new Subscriber({ world, history, engine, session, from })
    this.subscribers.add(subscriber)
    subscriber.start((error) => {
      if (!this.subscribers.delete(subscriber)) return
      const failed = error as { readonly _tag?: unknown }
      must(failed._tag === "LogError", "L8", () => `a subscription to ${session} ended: ${String(error)}`)
      this.resubscribe(subscriber)
    })
  }

  /** Replaces an ended subscription, from where it ended. A session that was begun anew since has no such place. */
  private resubscribe(ended: Subscriber): void {
    const { world, history } = this.parts
    const { session, incarnation, next } = ended
    this.returning++
    world.later(null, world.draw.below(2_000), `a subscriber of ${session} comes back`, () => {
      this.returning--
      const { engine } = this
      if (engine === undefined || this.over || history.of(session).incarnation !== incarnation) return
      this.subscribe(engine, session, next)
    })
  }

  /** Whether anybody asks for new events every few seconds, now or soon. */
  get isPolled(): boolean {
    return this.subscribers.size + this.returning > 0
  }

  /** Ends all subscriptions. */
  unsubscribe(): void {
    this.over = true
    for (const subscriber of this.subscribers) {
      this.subscribers.delete(subscriber)
      subscriber.stop()
    }
  }
}

/**
 * The contexts that an engine may render of a state. A cap leaves messages out where nothing is going to cover them, and
 * never while a compaction runs or waits.
 */
const contextsOf = (engine: Engine, state: Session.SessionState): ReadonlyArray<Render.Context> => {
  const { strategy, compaction } = engine.plan.options
  const { maxMessages } = strategy.context
  const whole = Render.render(state)
  if (maxMessages === undefined || state.uncovered.length <= maxMessages) return [whole]
  const capped = Render.render(state, strategy.context)
  // After three failures in a row, nobody waits for a summary any more.
  if (compaction.mode === "off" || (state.failures?.count ?? 0) >= 3) return [capped]
  const waits = state.running !== null || state.failures !== null || state.total < state.pausedUntil
  return waits ? [whole] : [capped, whole]
}

const isOneOf = (context: Render.Context, possible: ReadonlyArray<Render.Context>): boolean =>
  possible.some((one) => isDeepStrictEqual(one, context))

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.match(exit, {
    onSuccess: (answer) => {
      const tags = (Array.isArray(answer) ? answer : [answer]).map(
        (one: { readonly _tag?: string; readonly why?: string } | null | undefined) => one?._tag ?? "",
      )
      return `answered ${tags.join(" ")}`
    },
    onFailure: (cause) =>
      Cause.isInterruptedOnly(cause)
        ? "interrupted"
        : String(Option.getOrElse(Cause.failureOption(cause), () => "died")),
  })
