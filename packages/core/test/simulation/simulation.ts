/**
 * One run: everything is drawn from a seed, and the same seed is the same run, step by step. Engines come and go over
 * one log, clients ask and judge, ports fail; then there is a calm, in which everything has to come to rest and be as
 * the laws say.
 */
import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import { InMemoryEventLog, Policy, Render, Session, Verify } from "../../src/index.js"
import * as Snapshot from "../../src/projection/Snapshot.js"
import { Clients } from "./clients.js"
import { Draw } from "./draw.js"
import { Engine } from "./engine.js"
import { History, sameState, type Truth } from "./history.js"
import type { EnginePlan, Plan } from "./plan.js"
import { planOf } from "./plan.js"
import { every } from "./subscriber.js"
import { must, Violation } from "./violation.js"
import { forgetMetrics, World } from "./world.js"
import { requiresReplay } from "../../src/session/evolve.js"
import { isFromWrongClock } from "../../src/shell/Leases.js"

/** What a run came to. */
export interface Report {
  readonly seed: number
  readonly steps: number
  /** How often things happened, by what they are called. */
  readonly counts: ReadonlyMap<string, number>
  /** What must not be; `null` when all was well. */
  readonly violation: Violation | null
}

/** A run with more steps counts as endless. */
const mostSteps = 20_000

const hour = 3_600_000

const year = 365 * 24 * hour

/** Runs a seed. */
export const simulate = (seed: number, tell: ((line: string) => void) | null = null): Report => {
  forgetMetrics()
  const draw = new Draw(seed)
  const run = new Run(draw, planOf(draw), tell)
  let violation: Violation | null = null
  try {
    run.live()
    run.rest()
  } catch (error) {
    violation =
      error instanceof Violation
        ? error
        : new Violation("defect", error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  return { seed, steps: run.world.steps, counts: run.history.counts, violation }
}

class Run {
  readonly world: World
  readonly history: History
  private readonly log = Effect.runSync(InMemoryEventLog.make)
  private readonly clients: Clients
  private readonly slots: Array<Engine | null>
  private started = 0
  /** What is to go wrong where a compaction runs. */
  private lurking: ((at: number) => void) | null = null

  constructor(
    private readonly draw: Draw,
    private readonly plan: Plan,
    tell: ((line: string) => void) | null,
  ) {
    const strategies = new Map(
      plan.engines.map(({ options: { strategy } }) => [strategy.name, strategy] as const),
    )
    this.world = new World(draw, tell)
    this.history = new History(this.world, this.log, strategies)
    this.slots = plan.engines.map((engine) => this.engine(engine))
    this.clients = new Clients({
      world: this.world,
      history: this.history,
      plan,
      engines: () => this.engines,
    })
    this.world.trace(() => `plan: ${describe(plan)}`)
  }

  private engine(plan: EnginePlan): Engine {
    const { world, history, log } = this
    return new Engine(`e${this.started++}`, plan, { world, history, log })
  }

  private get engines(): ReadonlyArray<Engine> {
    return this.slots.flatMap((engine) => (engine === null || engine.closing ? [] : [engine]))
  }

  private step(until?: number): boolean {
    must(this.world.steps < mostSteps, "liveness", () => {
      const waiting = [...this.clients.pending].map(({ what, session }) => `${what} ${session}`)
      return `no end after ${mostSteps} steps; who waits: ${waiting.join(", ")}`
    })
    return this.world.step(until)
  }

  /** The part with everything that can go wrong. */
  live(): void {
    const { plan, draw, world } = this
    let left = plan.actions
    let over = false
    const next = () => {
      if (left-- === 0) {
        over = true
        return
      }
      const action = draw.weighted(plan.weights)
      if (action === "pause") {
        const pause = this.clients.isPolled ? 60_000 : draw.pick([5_000, 60_000, hour])
        world.later(null, draw.below(pause), "time has passed", next)
        return
      }
      if (action === "crash") this.strike((at) => this.crash(at))
      else if (action === "shutdown") this.strike((at) => this.shutdown(at))
      else if (action === "outage") this.outage()
      else if (action === "skew") this.skew()
      else this.clients.act(action)
      world.later(null, draw.chance(0.3) ? 0 : draw.below(plan.gap), "a client comes", next)
    }
    next()
    const goesOn = () => !over && this.step()
    while (goesOn()) this.pounce()
  }

  /** The places where a compaction runs. */
  private get compacting(): ReadonlyArray<number> {
    const { history, slots } = this
    const owners = new Set(
      history.sessions.map(({ naive }) => history.owners.get(naive.running?.compaction ?? "")?.process),
    )
    return slots.flatMap((engine, at) => (engine !== null && owners.has(engine.process) ? [at] : []))
  }

  /** Something goes wrong with an engine: with any engine at once, or with a compacting engine, as soon as there is one. */
  private strike(how: (at: number) => void): void {
    if (this.draw.chance(0.5)) how(this.draw.below(this.slots.length))
    else this.lurking = how
  }

  private pounce(): void {
    const { lurking } = this
    const at = lurking === null ? undefined : this.draw.any(this.compacting)
    if (lurking === null || at === undefined || !this.draw.chance(0.2)) return
    this.lurking = null
    lurking(at)
  }

  private crash(at: number): void {
    const engine = this.slots[at]
    if (engine === null || engine === undefined) return
    this.world.trace(() => `${engine.name}: is killed`)
    this.history.count("crashes")
    this.gone(at, engine)
  }

  private gone(at: number, engine: Engine): void {
    this.slots[at] = null
    this.world.kill(engine.process)
    this.clients.abandon(engine)
    this.world.later(null, this.draw.below(3_000), "a process is started again", () => this.restart(at))
  }

  private restart(at: number): void {
    this.slots[at] ??= this.engine(this.plan.engines[at]!)
  }

  private shutdown(at: number): void {
    const engine = this.slots[at]
    if (engine === null || engine === undefined || engine.closing) return
    this.history.count("shutdowns")
    this.world.trace(() => `${engine.name}: is shut down`)
    engine.close(() => {
      if (this.slots[at] !== engine) return
      this.world.trace(() => `${engine.name}: has shut down`)
      this.unlocked(engine)
      this.gone(at, engine)
    })
  }

  private outage(): void {
    const engine = this.draw.any(this.engines)
    if (engine === undefined) return
    const { process } = engine
    const lasts = this.draw.between(100, 5_000)
    this.history.count("outages")
    this.world.trace(() => `${engine.name}: its log is down for ${lasts} ms`)
    process.outageUntil = this.world.now + lasts
  }

  private skew(): void {
    const engine = this.draw.any(this.engines)
    if (engine === undefined) return
    const jump = this.draw.pick([50, 5_000, 60_000, hour, year])
    this.history.count("clock jumps")
    this.world.trace(() => `${engine.name}: its clock jumps ahead by ${jump} ms`)
    engine.process.skew += jump
    engine.process.jumped = this.world.now
  }

  /** An engine that has ended well, or has nothing to do any more, holds no lock, unless its log was in the way. */
  private unlocked({ process, name }: Engine): void {
    const busy = [...this.clients.pending].some(({ engine }) => engine.process === process)
    if (busy) return
    for (const { session, naive } of this.history.sessions) {
      const { running } = naive
      const owner = running === null ? undefined : this.history.owners.get(running.compaction)
      must(
        owner?.process !== process || owner.faults !== process.faults,
        "liveness",
        () => `${name} has nothing to do, and left the lock of ${session} behind (${running?.compaction})`,
      )
    }
  }

  /** Faults stop. Everything comes to rest, and is looked at. */
  rest(): void {
    const { world, clients, slots } = this
    world.trace(() => "the calm begins")
    world.calm = true
    for (const { process } of this.engines) process.outageUntil = 0
    if (clients.subscribers.size > 0) this.let(world.now + 3_000 + 4 * every)
    for (const subscriber of clients.subscribers) subscriber.caughtUp()
    clients.unsubscribe()
    this.drain()
    for (const engine of slots)
      must(!(engine?.closing ?? false), "liveness", () => `the shutdown of ${engine?.name} never ends`)
    slots.forEach((_, at) => this.restart(at))
    for (const engine of this.engines) this.unlocked(engine)
    // Every lease of a dead process and every back-off is over; or a live engine has to wait for it.
    const anyKeepsTime = this.engines.some(
      ({ plan: { options } }) => options.compaction.mode === "background",
    )
    if (!anyKeepsTime || this.draw.chance(0.5)) this.pass(6 * hour)
    this.goOn()
    this.settle()
    for (const engine of this.engines) {
      let hasEnded = false
      engine.close(() => {
        hasEnded = true
        this.unlocked(engine)
      })
      this.drain()
      must(hasEnded, "liveness", () => `the shutdown of ${engine.name} never ends`)
      must(!world.busy(engine.process), "liveness", () => `${engine.name} was shut down and goes on`)
      world.kill(engine.process)
    }
    this.compare()
  }

  /** Lets things happen until a time. */
  private let(until: number): void {
    while (this.step(until));
    this.world.now = Math.max(this.world.now, until)
  }

  /** Lets things happen until nothing is left. An operation that still waits then never ends. */
  private drain(): void {
    while (this.step());
    const [stuck] = this.clients.pending
    must(stuck === undefined, "liveness", () => `${stuck?.what} ${stuck?.session} never ends`)
  }

  /** Lets time go by, with all that it brings about. */
  private pass(millis: number): void {
    this.world.later(null, millis, "time has passed", () => {})
    this.drain()
  }

  /**
   * Who compacts inline keeps no time: nothing but an append brings the next look. An engine in the background keeps the
   * time of what it wrote itself, and does not hear what others write.
   */
  private keepsTime(session: string): boolean {
    const writer = this.history.writers.get(session)
    return this.engines.some(
      ({ process, plan: { options } }) => process === writer && options.compaction.mode === "background",
    )
  }

  /** A conversation goes on at all engines at once; what comes due is looked at (law L11). */
  private goOn(): void {
    const { clients, draw, engines, history, plan, world } = this
    const chosen = draw.any(history.sessions)
    if (chosen === undefined) return
    const { session, states } = chosen
    for (const engine of engines) {
      const later = (act: () => void) => world.later(null, draw.below(1_000), "a client comes", act)
      later(() => clients.append(engine, session))
      if (draw.chance(0.3))
        later(() => clients.ask(engine, "compact", session, engine.memory.compact(session), {}))
    }
    // What fails at first is tried again without a new message.
    world.mute = draw.chance(0.5)
    this.let(world.now + 5_000)
    world.mute = false
    this.drain()
    if (!plan.agreed || engines.some(({ plan: { options } }) => !looks(options.compaction.mode))) return
    const keepsTime = this.keepsTime(session)
    if (keepsTime) this.pass(6 * hour)
    else this.outwaitWrongClock(chosen)
    const tried = chosen.events.findLast(({ event }) => event._tag === "CompactionFailed")?.event
    const failed = tried?._tag === "CompactionFailed" ? history.owners.get(tried.compaction)?.process : null
    // An engine that compacts inline tries again with its next append; the other engines do not know of its failure.
    const waits = engines.some(
      ({ process, plan: { options } }) => process === failed && options.compaction.mode === "inline",
    )
    for (const { process, plan } of engines) {
      const state = states.at(-1)!
      const { strategy } = plan.options
      const decision = Policy.decide(strategy, state, { now: process.time() })
      const excused =
        (state.failures !== null && (waits || !keepsTime)) ||
        (!keepsTime && strategy.when.dueTime !== undefined)
      must(
        excused ||
          (decision._tag === "Idle" && decision.reason !== "running" && decision.reason !== "backing-off"),
        "L11",
        () => `no engine compacts ${session}: ${JSON.stringify(decision)}`,
      )
    }
  }

  /**
   * An engine waits for the length of a lease that a wrong clock has set, from when it first sees the lease. If it keeps no
   * time, the next append brings the next look.
   */
  private outwaitWrongClock({ session, states }: Truth): void {
    const { running } = states.at(-1)!
    const { engines, clients } = this
    if (running === null || !engines.some(({ process }) => isFromWrongClock(running, process.time()))) return
    this.pass(hour)
    for (const engine of engines) clients.append(engine, session)
    this.drain()
  }

  /** Settling ends, and then nothing is due (law L9). */
  private settle(): void {
    const { clients, engines, history } = this
    const truth = this.draw.any(history.sessions)
    const engine = this.draw.any(engines)
    if (truth === undefined || engine === undefined) return
    const { session, states } = truth
    const most = states.at(-1)!.total + 8
    clients.ask(engine, "settle", session, engine.memory.compact(session, { which: "due" }), {
      answered: (outcomes) =>
        must(outcomes.length <= most, "L9", () => `${session} came to ${outcomes.length} compactions`),
    })
    this.drain()
    clients.ask(engine, "settle", session, engine.memory.compact(session, { which: "due" }), {
      answered: (outcomes) =>
        must(
          outcomes.length === 0 || states.at(-1)!.failures !== null,
          "L9",
          () => `${session} is settled and goes on: ${JSON.stringify(outcomes)}`,
        ),
    })
    this.drain()
  }

  /** A new process reads from the log what all others have seen. */
  private compare(): void {
    const { draw, history, log, plan } = this
    const reader = this.engine({ ...plan.engines[0]!, hook: null })
    const answer = <A>(effect: Effect.Effect<A, unknown>): A => {
      let found: { readonly answer: A } | null = null
      this.clients.ask(reader, "look at", "everything", effect, {
        answered: (one) => (found = { answer: one }),
      })
      this.drain()
      return found!.answer
    }
    const chosen = draw.any(history.sessions)
    for (const truth of history.sessions) {
      const { session, states, contexts } = truth
      history.unchanged(truth)
      const state = answer(reader.memory.state(session))
      must(sameState(state, states.at(-1)!), "L6", () => `${session} is another when opened`)
      // Nobody need have waited for the lease of a dead process whose clock was ahead.
      const verified = Effect.withClock(Verify.session(log, session), reader.process.clock)
      const finding = Effect.runSync(verified).find(({ rule }) => rule !== "lease")
      must(finding === undefined, finding?.rule ?? "", () => `verify: ${JSON.stringify(finding)}`)
      if (truth !== chosen) continue
      this.fromSnapshot(truth)
      const past = draw.any([...contexts.keys()]) ?? 0
      const then = contexts.get(past)
      const again = Render.render(answer(reader.memory.state(session, { atVersion: past })))
      must(
        then === undefined || isDeepStrictEqual(again, then),
        "L10",
        () => `${session} at ${past} is not what it was`,
      )
      const active = answer(reader.memory.summaries(session)).filter(({ status }) => status === "active")
      must(
        active.map(({ id }) => id).join() === (truth.naive.active?.id ?? ""),
        "L1",
        () => `${session} has ${active.length} active summaries`,
      )
    }
  }

  /** A snapshot of any version, and what came after it (law L6). */
  private fromSnapshot({ session, states, events }: Truth): void {
    const version = this.draw.below(states.length)
    const restored = Snapshot.stateIn(session, Snapshot.take({ state: states[version]!, batchId: "commit" })!)
    must(restored._tag === "Some", "L6", () => `a snapshot of ${session} at ${version} cannot be restored`)
    if (restored._tag === "None") return
    let { state } = restored.value
    for (const recorded of events.slice(version)) {
      if (requiresReplay(state, recorded)) return
      state = Session.evolve(state, recorded)
    }
    must(sameState(state, states.at(-1)!), "L6", () => `${session} from ${version} on is another`)
  }
}

const looks = (compaction: string | undefined): boolean =>
  compaction === undefined || compaction === "background" || compaction === "inline"

const describe = ({ engines, sessions, actions, gap }: Plan): string =>
  [
    `${actions} actions, ${sessions.length} sessions, gaps up to ${gap} ms`,
    ...engines.map(({ options, skew, faults, summarizers, hook }, position) => {
      const { strategy, ...rest } = options
      return `slot ${position}: ${strategy.name} ${JSON.stringify({ ...rest, skew, faults, summarizers, hook })}`
    }),
  ].join("\n        ")
