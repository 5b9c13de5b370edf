/** Processes over shards in memory that are killed at their calls, and what must hold behind them. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Clock, Duration, Effect, Stream } from "effect"
import { expect } from "vitest"
import { makeSharded, type Shard, type ShardedLog } from "../src/index.js"

export const record = (n: number) => ({ time: n, type: "Noted", schemaVersion: 1, data: `{"n":${n}}` })

export class Killed extends Error {}

/** Whether a call is about what a shard says of itself: the numbers of calls leave it out. `identity.test.ts` is about it. */
const isIdentity = ([session]: ReadonlyArray<unknown>): boolean => session === "memfold:place:shard"

/** What happens at each call of a store by a process: it goes on, or is killed before it, or behind it. */
export type Fate = "on" | "before" | "behind"

/** Lets other fibers go on for a while, as long as the numbers of a seed say. */
export type Pause = Effect.Effect<void>

export const pausesOf = (seed: number): Pause => {
  let state = seed
  return Effect.suspend(() => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Effect.repeatN(Effect.yieldNow(), (state >>> 16) % 6)
  })
}

/** A log as a process sees it that is killed at a call: everything that it calls later dies, too. */
export const mortal = (log: EventLog.Service, fate: () => Fate, pause: Pause): EventLog.Service => {
  let isDead = false
  const call =
    <Given extends ReadonlyArray<unknown>, A, E>(run: (...given: Given) => Effect.Effect<A, E>) =>
    (...given: Given): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        if (isIdentity(given) && !isDead) return run(...given)
        const now = isDead ? "before" : fate()
        if (now !== "on") isDead = true
        // An error made at each call would take longer than the calls.
        const killed = Effect.dieSync(() => new Killed())
        const done = now === "before" ? killed : run(...given)
        // Other fibers go on between any two calls, and time does.
        return Effect.zipRight(
          Effect.zipRight(Effect.sleep(3), pause),
          now === "behind" ? Effect.zipRight(Effect.exit(done), killed) : done,
        )
      })
  const { projections } = log
  return {
    ...log,
    append: call(log.append),
    read: call(log.read),
    head: call(log.head),
    list: call(log.list),
    delete: call(log.delete),
    rewrite: call(log.rewrite),
    replace: call(log.replace!),
    projections: { ...projections, get: call(projections.get), put: call(projections.put) },
  }
}

/** A log whose process is stopped at a call, and goes on when it is told. */
export const stopped = (
  log: EventLog.Service,
  step: { left: number },
  stop: Effect.Effect<void>,
): EventLog.Service => {
  const call =
    <Given extends ReadonlyArray<unknown>, A, E>(run: (...given: Given) => Effect.Effect<A, E>) =>
    (...given: Given): Effect.Effect<A, E> =>
      Effect.suspend(() =>
        !isIdentity(given) && --step.left === 0 ? Effect.zipRight(stop, run(...given)) : run(...given),
      )
  const { append, read, head, list, delete: remove, replace, projections } = log
  return {
    ...log,
    append: call(append),
    read: call(read),
    head: call(head),
    list: call(list),
    delete: call(remove),
    replace: call(replace!),
    projections: { ...projections, get: call(projections.get), put: call(projections.put) },
  }
}

export const stores = Effect.forEach(["a", "b", "c", "d"], (name) =>
  Effect.map(InMemoryEventLog.make, (log): Shard => ({ name, log })),
)

/** A process over the shards. */
export const processOver = (
  shards: ReadonlyArray<Shard>,
  fate: () => Fate = () => "on",
  pause: Pause = Effect.yieldNow(),
): ShardedLog =>
  makeSharded({ shards: shards.map((shard) => ({ ...shard, log: mortal(shard.log, fate, pause) })) })

export const logOf = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, session)), (found) => [...found])

/** Appends as an application does: after a conflict it reads, and tries again; each batch has its id. */
export const appending = (
  log: ShardedLog,
  session: string,
  n: number,
): Effect.Effect<unknown, EventLog.LogError> =>
  Effect.flatMap(EventLog.versionOf(log, session), (expectedVersion) =>
    log.append(session, [record(n), record(n)], { expectedVersion, batchId: `b${n}` }),
  ).pipe(Effect.catchTag("VersionConflict", () => appending(log, session, n)))

/** Every batch that was acknowledged is there once and whole, and the session is on one shard alone for whoever looks. */
export const checked = (shards: ReadonlyArray<Shard>, session: string, acknowledged: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const log = processOver(shards)
    const found = yield* logOf(log, session)
    expect(found.map(({ version }) => version)).toEqual(found.map((_, at) => at + 1))
    const batches = found.filter((_, at) => at % 2 === 0).map(({ batchId }) => batchId)
    expect(found.filter((_, at) => at % 2 === 1).map(({ batchId }) => batchId)).toEqual(batches)
    const there = new Set(batches)
    expect(there.size).toBe(batches.length)
    expect(acknowledged.filter((n) => !there.has(`b${n}`))).toEqual([])
    const listed = yield* Stream.runCollect(EventLog.sessions(log))
    expect([...listed].map((info) => `${info.session} ${info.version}`)).toEqual([
      `${session} ${found.length}`,
    ])
  })

export const killedAt = (step: number, how: Exclude<Fate, "on">) => {
  let calls = 0
  return (): Fate => (++calls === step ? how : "on")
}

/** Runs an effect in a time that goes on by itself, slowly beside what fibers do. */
export const simulated = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  let now = 0
  const sleepers = new Set<{ readonly end: number; readonly wake: () => void }>()
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(now) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const sleeper = { end: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        sleepers.add(sleeper)
        return Effect.sync(() => sleepers.delete(sleeper))
      }),
  }
  const tick = Effect.sync(() => {
    now++
    for (const sleeper of sleepers) if (sleeper.end <= now && sleepers.delete(sleeper)) sleeper.wake()
  })
  // What takes a thread of its own, as compressing does, comes to an end: otherwise the time would spin for as long as it takes.
  const rest = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
  const ticks = Effect.repeatN(Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 3), tick), 15)
  const time = Effect.forever(Effect.zipRight(ticks, rest))
  return Effect.runPromise(Effect.raceFirst(effect, time).pipe(Effect.withClock(clock)))
}
