/**
 * The safety net under a queue. A look is lost when the process that has written is killed before the queue has the look, or when the
 * queue loses it. So workers sweep: they look again at each session that was active since the sweep before, as its write did. Which these
 * are, the feed of the store says, which the workers consume as a group; the list of all sessions is read where there is no feed, by the first
 * sweep of a worker, and by one that has waited long.
 *
 * A sweep is itself a look in the queue, at a session of its own name, dispatched for its time. So one worker sweeps at a time, a sweep
 * whose worker is killed is repeated, and its time says how far back it goes: after a night without workers, the whole night.
 */
import { Clock, Effect, Stream } from "effect"
import type { DispatchError, Look, Queue } from "@memfold/log/Dispatcher"
import { warn } from "../observe/logs.js"
import type { ConsumerFailed } from "./feed.js"
import type { MemoryError } from "./MemoryOptions.js"
import type { Service as Memory } from "./MemoryService.js"

/** The session whose look is a sweep. No session of an application has this name. */
export const sweepSession = "memfold:sweep"

type SweepError = DispatchError | MemoryError | ConsumerFailed

/** How many sessions a sweep looks at at once. */
const atOnce = 4

/**
 * How far back the first sweep of a worker goes, in milliseconds: the queue may have lost the looks of a while, and the sweep that waited. A
 * sweep that has waited for longer reads the list, too.
 */
const firstGoesBack = 3_600_000

/** Dispatches a sweep for a time in milliseconds since the epoch. It costs little, and has to come also when the queue is long. */
const dispatchSweep = (queue: Pick<Queue, "dispatch">, time: number): Effect.Effect<void, DispatchError> =>
  queue.dispatch({ session: sweepSession, time, fill: 1 })

/** Looks at a session. One that cannot be read is left alone: nobody can compact it, and its next write says so. */
const lookAt = (memory: Pick<Memory, "look">, session: string): Effect.Effect<void, SweepError> =>
  memory.look(session).pipe(
    Effect.catchTags({
      DamagedEvent: () => Effect.void,
      LogError: ({ message }) =>
        warn("a sweep could not look at a session; the next sweep tries again", { session, why: message }),
    }),
  )

/** The events that a sweep takes at once. */
const batch = 512

/** Looks at the sessions with events that the feed has behind the sweeps before, once each. What is as old as a time is not looked at again. */
const lookAtFed = (
  memory: Pick<Memory, "look" | "consume">,
  since: number,
): Effect.Effect<void, SweepError> =>
  Effect.suspend(() => {
    const looked = new Set<string>()
    return memory.consume(
      sweepSession,
      (events) =>
        Effect.forEach(
          new Set(events.map(({ session }) => session).filter((session) => !looked.has(session))),
          (session) => Effect.tap(lookAt(memory, session), () => void looked.add(session)),
          { concurrency: atOnce, discard: true },
        ).pipe(Effect.as(events.findLast(({ time }) => time < since)?.position ?? null)),
      { follow: false, from: "end", batch },
    )
  })

const lookAtListed = (
  memory: Pick<Memory, "look" | "sessions">,
  since: number,
): Effect.Effect<void, SweepError> =>
  memory.sessions.pipe(
    Stream.filter(({ updatedTime }) => updatedTime >= since),
    Stream.mapEffect(({ session }) => lookAt(memory, session), { concurrency: atOnce, unordered: true }),
    Stream.runDrain,
    Effect.catchTag("DamagedEvent", () => Effect.void),
  )

/**
 * Looks at every session that was active in the time since two sweeps before this one, so that each activity is seen twice. It reads what the
 * feed or the list has, a page at a time, and the states of the active sessions. Then it dispatches the next sweep: sweeps that take longer
 * than the time between them follow each other, and do not run beside each other. Should the worker be killed before, the queue repeats this
 * one.
 *
 * @param options `every`: the time between sweeps, in milliseconds; `isFirst`: whether it is the first sweep of this worker
 */
const sweep = (
  queue: Pick<Queue, "dispatch">,
  memory: Pick<Memory, "look" | "sessions" | "consume">,
  { time }: Pick<Look, "time">,
  { every, isFirst }: { readonly every: number; readonly isFirst: boolean },
): Effect.Effect<void, SweepError> =>
  Effect.gen(function* () {
    if (!Number.isFinite(every)) return
    const began = yield* Clock.currentTimeMillis
    const since = Math.min(time, isFirst ? began - firstGoesBack : began) - 2 * every
    const looked = yield* lookAtFed(memory, began - every).pipe(
      Effect.as(!isFirst && time > began - firstGoesBack),
      Effect.catchTags({ LogError: () => Effect.succeed(false), InvalidInput: () => Effect.succeed(false) }),
      Effect.flatMap((isEnough) => (isEnough ? Effect.void : lookAtListed(memory, since))),
      Effect.either,
    )
    // Also behind one that failed, which the queue repeats for a while and then gives up.
    yield* dispatchSweep(queue, began + every)
    return yield* looked
  })

/**
 * Makes the sweeps of a worker, one at a time: the queue has a sweep again whose worker it takes for dead, and one for each worker that
 * starts meanwhile, and most places of a worker are to stay free for sessions.
 *
 * @param every the time between sweeps, in milliseconds; infinite for none
 */
export const sweepsOf = (
  queue: Pick<Queue, "dispatch">,
  memory: Pick<Memory, "look" | "sessions" | "consume">,
  every: number,
) => {
  let isFirst = true
  let isUnderWay = false
  return {
    /**
     * Dispatches the next sweep when the worker starts. One that waits stays as it is: workers that are started one after the other do
     * not each have all sessions looked at.
     */
    begin: Number.isFinite(every)
      ? Effect.flatMap(Clock.currentTimeMillis, (now) => dispatchSweep(queue, now + every))
      : Effect.void,
    /** Sweeps, unless this worker is at it already. */
    run: (look: Look): Effect.Effect<void, SweepError> =>
      Effect.suspend(() => {
        if (isUnderWay) return Effect.void
        isUnderWay = true
        return sweep(queue, memory, look, { every, isFirst }).pipe(
          Effect.tap(() => Effect.sync(() => (isFirst = false))),
          Effect.ensuring(Effect.sync(() => (isUnderWay = false))),
        )
      }),
  }
}
