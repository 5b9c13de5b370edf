/** One engine: a memory in a process of its own, over the log that all share. */
import {
  Effect,
  Exit,
  type Fiber,
  FiberId,
  FiberRef,
  HashMap,
  HashSet,
  Logger,
  Option,
  Random,
  Runtime,
  Scope,
} from "effect"
import { EventLog, Memory, Summarizer, TokenCounter } from "../../src/index.js"
import { quarter } from "@memfold/testing/fakes"
import { faultyLog } from "./faultyLog.js"
import { faultySummarizer } from "./faultySummarizer.js"
import type { History } from "./history.js"
import type { EnginePlan } from "./plan.js"
import { must } from "./violation.js"
import type { Process, World } from "./world.js"

export class Engine {
  readonly process: Process
  readonly memory: Memory.Service
  closing = false
  /** The sessions in which a client had it take over a compaction at some time. */
  readonly takesOver: Set<string>
  private readonly scope: Scope.CloseableScope
  private readonly runtime: Runtime.Runtime<never>

  constructor(
    name: string,
    readonly plan: EnginePlan,
    private readonly parts: {
      readonly world: World
      readonly history: History
      readonly log: EventLog.Service
    },
  ) {
    const { world, history, log } = parts
    this.process = world.start(name, plan.skew, plan.operations)
    const { process } = this
    this.takesOver = process.takesOver
    const ports = { world, history, process }
    const [first, ...others] = plan.summarizers.map((one, position) =>
      faultySummarizer(`summarizer ${position}`, { ...ports, plan: one }),
    )
    const logger = Logger.make(({ message, annotations }) => {
      const why = Option.getOrElse(HashMap.get(annotations, "why"), () => "")
      world.trace(() => `${name}: (${String(message)} ${String(why)})`)
      world.guard(() => must(why !== "it threw", "L8", () => `${String(message)}: ${String(why)}`))
    })
    this.runtime = Effect.runtime<never>().pipe(
      Effect.withClock(process.clock),
      Effect.withRandom(Random.make(`${world.draw.seed} ${name}`)),
      Effect.locally(FiberRef.currentLoggers, HashSet.make(logger)),
      Effect.withTracerEnabled(false),
      Effect.runSync,
    )
    this.scope = Effect.runSync(Scope.make())
    const { hook } = plan
    const hooks: Memory.CompactionOptions["hooks"] =
      hook === null
        ? {}
        : {
            beforeCompaction: () =>
              Effect.sync(() => {
                if (world.draw.chance(hook.dies)) throw new Error("a defect in a hook")
                return !world.calm && world.draw.chance(hook.veto) ? { veto: true } : undefined
              }),
          }
    this.memory = Memory.make({ ...plan.options, compaction: { ...plan.options.compaction, hooks } }).pipe(
      Effect.provideService(EventLog.EventLog, faultyLog(log, { ...ports, faults: plan.faults })),
      Effect.provideService(TokenCounter.TokenCounter, quarter),
      Effect.provideService(Summarizer.Summarizer, Summarizer.withFallback(first!, ...others)),
      Scope.extend(this.scope),
      // A finalizer runs with the scheduler that it was added with.
      Effect.withScheduler(process.scheduler),
      Runtime.runSync(this.runtime),
    )
    process.opening = false
  }

  get name(): string {
    return this.process.name
  }

  /** Runs something in the engine's process. `ended` is called with its exit, unless the process dies. */
  run<A, E>(effect: Effect.Effect<A, E>, ended: (exit: Exit.Exit<A, E>) => void): Fiber.RuntimeFiber<A, E> {
    const fiber = Runtime.runFork(this.runtime)(effect, { scheduler: this.process.scheduler })
    fiber.addObserver((exit) => this.parts.world.guard(() => ended(exit)))
    return fiber
  }

  /** Shuts the engine down as an application would. */
  close(ended: () => void): void {
    this.closing = true
    this.run(Scope.close(this.scope, Exit.void), ended)
  }
}

/** Interrupts what a client does not want any more. */
export const interrupt = (fiber: Fiber.RuntimeFiber<unknown, unknown>): void =>
  fiber.unsafeInterruptAsFork(FiberId.none)

export const told = (defect: unknown): string =>
  defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)
