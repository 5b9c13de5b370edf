/**
 * Virtual time, and the processes that live in it. Nothing happens by itself: a step lets one thing happen, and which
 * one is drawn from the seed. It is either a process that goes on, or something whose time has come: a port answers, a
 * sleeper wakes, a client asks, a process dies.
 */
import {
  Clock,
  Duration,
  Effect,
  type Fiber,
  FiberRef,
  GlobalValue,
  type MetricKey,
  MutableHashMap,
  type Scheduler,
} from "effect"
import type { Draw } from "./draw.js"
import { Violation } from "./violation.js"

/** When every run begins, in milliseconds since the epoch. */
const startOfTime = 1_700_000_000_000

/** More steps at one moment, without time moving on, count as an endless loop. */
const mostStepsInPlace = 20_000

/**
 * The fibers without a parent, which Effect holds until they end. Those of a killed process never end, so it lets go of them
 * here: a run would otherwise leave its whole world behind.
 */
const { roots } = GlobalValue.globalValue(Symbol.for("effect/FiberScope/Global"), () => ({
  roots: new Set<Fiber.RuntimeFiber<unknown, unknown>>(),
}))

/** The metrics of the whole program, which Effect keeps by their labels for as long as it runs. */
const metrics = GlobalValue.globalValue(Symbol.for("effect/Metric/globalMetricRegistry"), () => ({
  map: MutableHashMap.empty<MetricKey.MetricKey.Untyped, unknown>(),
}))

/**
 * Forgets the metrics of strategies of earlier runs. The name of a strategy is a label, and strategies that are drawn have names of
 * their own: each run would leave some metrics behind. All others stay, since their counters are held by whoever counts.
 */
export const forgetMetrics = (): void => {
  const ofStrategies = Array.from(metrics.map, ([key]) => key).filter(({ tags }) =>
    tags.some((tag) => tag.key === "strategy"),
  )
  for (const key of ofStrategies) MutableHashMap.remove(metrics.map, key)
}

/** Something that is to happen. */
export interface Timed {
  readonly due: number
  readonly what: string
  /** Whose death it does not outlive. */
  process: Process | null
  /** What was sent to a store may get there although its sender is dead. */
  readonly sent: boolean
  readonly happen: () => void
}

/** A process with its own clock. When it dies, nothing in it goes on: no fiber, no finalizer. */
export class Process {
  alive = true
  /** While its engine is made, its fibers do not make way for each other. */
  opening = true
  readonly tasks: Array<Scheduler.Task> = []
  /** What went wrong at its ports so far, and when the last of it did. */
  faults = 0
  /** Until then its store does not answer as it should. */
  outageUntil = 0
  /** Until then, what it asked of its log takes longer than usual. */
  slowUntil = 0
  /** When its clock last jumped, in the run's time. */
  jumped = Number.NEGATIVE_INFINITY
  /** The sessions in which a client had it take over a compaction that runs. */
  readonly takesOver = new Set<string>()
  private untilYield = 200

  constructor(
    readonly name: string,
    private readonly world: World,
    /** How far its clock is ahead, in milliseconds. */
    public skew: number,
    /** Its fibers yield to each other after at most this many operations. */
    private readonly operations: number,
  ) {}

  /** Its own time, in milliseconds since the epoch. */
  time(): number {
    return startOfTime + Math.floor(this.world.now) + this.skew
  }

  readonly scheduler: Scheduler.Scheduler = {
    scheduleTask: (task) => {
      if (this.alive) this.tasks.push(task)
    },
    shouldYield: () => {
      if (this.opening || --this.untilYield > 0) return false
      this.untilYield = this.world.draw.between(1, this.operations)
      return 0
    },
  }

  readonly clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => this.time(),
    unsafeCurrentTimeNanos: () => BigInt(this.time()) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => this.time()),
    currentTimeNanos: Effect.sync(() => BigInt(this.time()) * 1_000_000n),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const millis = Duration.toMillis(duration)
        if (!Number.isFinite(millis)) return
        const timed = this.world.later(this, millis, "a sleeper wakes", () => resume(Effect.void))
        return Effect.sync(() => this.world.cancel(timed))
      }),
  }
}

export class World {
  /** Milliseconds since the run began. */
  now = 0
  steps = 0
  /** In the calm, ports work. */
  calm = false
  /** All summarizers fail, also in the calm. */
  mute = false
  readonly processes: Array<Process> = []
  private readonly timed: Array<Timed> = []
  private stepsInPlace = 0
  /** What was found where it could not be thrown: within a fiber, it would be the fiber's own failure. */
  private found: unknown = null

  constructor(
    readonly draw: Draw,
    /** Prints what happens; `null` for no trace. */
    private readonly tell: ((line: string) => void) | null,
  ) {}

  trace(line: () => string): void {
    if (this.tell !== null) this.tell(`${String(this.steps).padStart(5)} ${clockFace(this.now)} ${line()}`)
  }

  /** Does something on behalf of the run within a fiber. */
  guard(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.found ??= error
    }
  }

  start(name: string, skew: number, operations: number): Process {
    const process = new Process(name, this, skew, operations)
    this.processes.push(process)
    return process
  }

  /** Schedules something after a number of milliseconds. */
  later(
    process: Process | null,
    delay: number,
    what: string,
    happen: () => void,
    { sent = false } = {},
  ): Timed {
    const timed: Timed = { due: this.now + Math.max(delay, 0), what, process, sent, happen }
    if (process === null || process.alive) this.timed.push(timed)
    return timed
  }

  cancel(timed: Timed): void {
    const at = this.timed.indexOf(timed)
    if (at !== -1) this.timed.splice(at, 1)
  }

  /** A process is no more. What it had sent may still arrive. */
  kill(process: Process): void {
    process.alive = false
    process.tasks.length = 0
    for (const fiber of roots)
      if (fiber.getFiberRef(FiberRef.currentScheduler) === process.scheduler) roots.delete(fiber)
    this.processes.splice(this.processes.indexOf(process), 1)
    for (let at = this.timed.length - 1; at >= 0; at--) {
      const timed = this.timed[at]!
      if (timed.process !== process) continue
      if (timed.sent && this.draw.chance(0.5)) timed.process = null
      else this.timed.splice(at, 1)
    }
  }

  /** Whether anything is left to happen for a process. */
  busy(process: Process): boolean {
    return process.tasks.length > 0 || this.timed.some((timed) => timed.process === process)
  }

  /** Lets one thing happen; `false` when there is nothing, or nothing until a time. */
  step(until = Number.POSITIVE_INFINITY): boolean {
    const runnable = this.processes.filter(({ tasks }) => tasks.length > 0)
    let due = this.timed.filter((timed) => timed.due <= this.now)
    if (runnable.length === 0 && due.length === 0) {
      const next = this.timed.reduce((least, timed) => Math.min(least, timed.due), Number.POSITIVE_INFINITY)
      if (next === Number.POSITIVE_INFINITY || next > until) return false
      this.now = next
      this.stepsInPlace = 0
      due = this.timed.filter((timed) => timed.due <= this.now)
    }
    this.steps++
    if (++this.stepsInPlace > mostStepsInPlace) {
      throw new Violation("liveness", `${mostStepsInPlace} steps without end at one moment`)
    }
    const chosen = this.draw.below(runnable.length + due.length)
    const process = runnable[chosen]
    if (process !== undefined) {
      const [task] = process.tasks.splice(this.draw.below(process.tasks.length), 1)
      task?.()
      this.check()
      return true
    }
    const timed = due[chosen - runnable.length]!
    this.cancel(timed)
    this.trace(() => `${timed.process?.name ?? "-"}: ${timed.what}`)
    timed.happen()
    this.check()
    return true
  }

  private check(): void {
    if (this.found !== null) throw this.found
  }
}

const clockFace = (millis: number): string => {
  const seconds = millis / 1_000
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(3).padStart(6, "0")}`
}
