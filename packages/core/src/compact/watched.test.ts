import { describe, expect, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { watched } from "./watched.js"

/** An effect that never ends by itself, and says when it has begun and when it was interrupted. */
const endless = (seen: Array<string>, name: string) =>
  Effect.sync(() => seen.push(`${name} begins`)).pipe(
    Effect.zipRight(Effect.never),
    Effect.onInterrupt(() =>
      Effect.zipRight(
        Effect.yieldNow(),
        Effect.sync(() => seen.push(`${name} ends`)),
      ),
    ),
  )

describe("work beside a watch", () => {
  it.effect("ends as the work does, and the watch is interrupted", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const later = Effect.delay(Effect.succeed("done"), "1 second")
      // A caller that goes on: what it leaves behind is not ended with it.
      const fiber = yield* Effect.forkDaemon(
        Effect.zipLeft(watched(later, endless(seen, "watch")), Effect.sleep("1 minute")),
      )
      yield* TestClock.adjust("2 seconds")
      expect(seen).toEqual(["watch begins", "watch ends"])
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(fiber)).toBe("done")
    }),
  )

  it.effect("fails as the work does", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(watched(Effect.fail("broken"), Effect.never))).toBe("broken")
      const exit = yield* Effect.exit(watched(Effect.die("a bug"), Effect.never))
      expect(exit).toEqual(Exit.die("a bug"))
    }),
  )

  it.effect("ends as the watch does, once the work has been interrupted", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const fiber = yield* Effect.fork(
        watched(endless(seen, "work"), Effect.delay(Effect.fail("late"), "1 second")).pipe(
          Effect.tapError(() => Effect.sync(() => seen.push("told"))),
        ),
      )
      yield* TestClock.adjust("1 second")
      expect(yield* Effect.flip(Fiber.join(fiber))).toBe("late")
      expect(seen).toEqual(["work begins", "work ends", "told"])
    }),
  )

  it.effect("is interrupted with its caller, who waits for the work", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const fiber = yield* Effect.fork(watched(endless(seen, "work"), endless(seen, "watch")))
      yield* TestClock.adjust("1 second")
      const exit = yield* Fiber.interrupt(fiber)
      expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
      expect(seen.slice(0, 2).toSorted()).toEqual(["watch begins", "work begins"])
      expect(seen).toContain("work ends")
    }),
  )

  it.effect("leaves nothing behind, at whatever step it is interrupted", () =>
    Effect.gen(function* () {
      for (let steps = 10; steps < 80; steps++) {
        let running = 0
        const work = Effect.acquireUseRelease(
          Effect.sync(() => running++),
          () => Effect.never,
          () => Effect.sync(() => running--),
        )
        // A caller that goes on, and leaves other fibers their turn after so many steps.
        const caller = Effect.uninterruptibleMask((restore) =>
          Effect.zipRight(Effect.exit(restore(watched(work, work))), Effect.sleep("1 minute")),
        ).pipe(Effect.withMaxOpsBeforeYield(steps))
        const fiber = yield* Effect.forkDaemon(caller)
        yield* Effect.forkDaemon(Fiber.interrupt(fiber))
        yield* TestClock.adjust("1 second")
        expect([steps, running]).toEqual([steps, 0])
        yield* TestClock.adjust("1 minute")
      }
    }),
  )

  it.effect("cannot be interrupted where its caller cannot, and the watch still ends", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const gate = yield* Deferred.make<string>()
      const fiber = yield* Effect.fork(
        Effect.uninterruptible(watched(Deferred.await(gate), endless(seen, "watch"))),
      )
      yield* TestClock.adjust("1 second")
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("1 second")
      expect(fiber.unsafePoll()).toBeNull()
      yield* Deferred.succeed(gate, "done")
      yield* Fiber.join(interrupting)
      yield* TestClock.adjust("1 second")
      expect(seen).toEqual(["watch begins", "watch ends"])
    }),
  )
})
