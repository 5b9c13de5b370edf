/** A subscriber: it has to see every event once, in order, and none that never was. */
import { Cause, Effect, Exit, type Fiber, Option, Stream } from "effect"
import type { EventCodec } from "../../src/index.js"
import { type Engine, interrupt } from "./engine.js"
import type { History, Truth } from "./history.js"
import { must } from "./violation.js"
import type { World } from "./world.js"

/** How often it asks for what other processes wrote, in milliseconds. */
export const every = 5_000

export class Subscriber {
  readonly engine: Engine
  readonly session: string
  /** The sequence number it waits for, and in which of the session's lives. */
  next: number
  incarnation: number
  private readonly world: World
  private readonly history: History
  private heard = false
  /** The ids of the events heard in that life, up to the one before `next`. */
  private readonly ids: Array<string> = []
  private fiber: Fiber.RuntimeFiber<unknown, unknown> | null = null

  constructor({
    world,
    history,
    engine,
    session,
    from,
  }: {
    readonly world: World
    readonly history: History
    readonly engine: Engine
    readonly session: string
    readonly from: number
  }) {
    this.world = world
    this.history = history
    this.engine = engine
    this.session = session
    this.next = from
    this.incarnation = history.of(session).incarnation
  }

  /** Listens, and tells when the subscription has ended by itself. */
  start(ended: (error: unknown) => void): void {
    const { engine, session, next } = this
    const stream = engine.memory.subscribe(session, { fromVersion: next, pollInterval: every })
    const listening = Stream.runForEach(stream, (recorded) =>
      Effect.sync(() => this.world.guard(() => this.hear(recorded))),
    )
    this.fiber = engine.run(listening, (exit) => {
      if (Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)) return
      ended(
        Exit.isFailure(exit)
          ? Option.getOrElse(Cause.failureOption(exit.cause), () => exit.cause)
          : "it is over",
      )
    })
  }

  stop(): void {
    if (this.fiber !== null) interrupt(this.fiber)
  }

  private hear(recorded: EventCodec.RecordedEvent): void {
    const truth = this.history.of(this.session)
    const life = this.history.lifeOf(this.session, recorded)
    const written = life === truth
    // A subscriber that has heard nothing yet cannot tell one log from another: it hears whichever there is.
    if (!this.heard && written) this.incarnation = truth.incarnation
    this.heard = true
    // What was read before a deletion may be heard after it: a life that is over by now may begin, too.
    if (life !== undefined && life.incarnation > this.incarnation && recorded.version === 1) {
      this.incarnation = life.incarnation
      this.next = 1
      this.ids.length = 0
    }
    if (written && this.heardAllOf(truth)) this.incarnation = truth.incarnation
    must(
      recorded.version === this.next,
      "L10",
      () => `a subscriber of ${this.session} hears event ${recorded.version} and waited for ${this.next}`,
    )
    this.next++
    this.ids.push(recorded.id)
    must(written === (truth.incarnation === this.incarnation), "L10", () =>
      written
        ? `a subscriber of ${this.session} hears event ${recorded.version}, and never heard how the session began anew`
        : `a subscriber of ${this.session} hears event ${recorded.version}, which is another one in the log`,
    )
  }

  /**
   * Whether the session, as it is now, begins with the very events that were heard. An append that is retried after a
   * deletion brings the same events again: then nothing tells the new life from the old one, and nothing is missing.
   */
  private heardAllOf({ events }: Truth): boolean {
    const { ids, next } = this
    const first = next - 1 - ids.length
    return ids.length > 0 && ids.every((id, position) => events[first + position]?.id === id)
  }

  /** Nothing that was written long enough ago is missing. */
  caughtUp(): void {
    const { session, incarnation, next, heard } = this
    // A subscriber that has heard nothing cannot know that the session began anew.
    if (!heard && next > 1) return
    const truth = this.history.of(session)
    const old = truth.written.findLastIndex((time) => time + every + 2_000 < this.world.now)
    must(
      truth.records.length === 0 ||
        ((truth.incarnation === incarnation || this.heardAllOf(truth)) && next > old + 1),
      "L10",
      () => `a subscriber of ${session} waits for event ${next} and has not heard ${old + 1}`,
    )
  }
}
