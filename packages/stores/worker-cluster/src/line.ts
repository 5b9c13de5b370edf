/** The looks of a process that wait for their turn: a limited number at once, the fullest contexts first. */
import { Deferred, Effect, FiberId } from "effect"

interface Waiting {
  readonly fill: number
  readonly go: () => void
}

/** A line of looks. */
export interface Line {
  /** Runs an effect when it is its turn. */
  readonly run: <A, E, R>(fill: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Begins no other look, and waits until those that run have ended. */
  readonly close: Effect.Effect<void>
}

/** Makes a line whose looks run `size` at once. */
export const makeLine = (size: number): Line => {
  const waiting: Array<Waiting> = []
  const ended = Deferred.unsafeMake<void>(FiberId.none)
  let free = size
  let isOpen = true

  const goOn = () => {
    if (!isOpen) {
      if (free === size) Deferred.unsafeDone(ended, Effect.void)
      return
    }
    while (free > 0 && waiting.length > 0) {
      let first = 0
      for (const [at, { fill }] of waiting.entries()) if (fill > (waiting[first]?.fill ?? 0)) first = at
      const [next] = waiting.splice(first, 1)
      free--
      next?.go()
    }
  }
  const leave = () => {
    free++
    goOn()
  }
  const turn = (fill: number) =>
    Effect.async<void>((resume) => {
      const one: Waiting = { fill, go: () => resume(Effect.void) }
      waiting.push(one)
      goOn()
      return Effect.sync(() => {
        const at = waiting.indexOf(one)
        if (at === -1) leave()
        else waiting.splice(at, 1)
      })
    })

  return {
    run: (fill, effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(restore(turn(fill)), Effect.ensuring(restore(effect), Effect.sync(leave))),
      ),
    close: Effect.suspend(() => {
      isOpen = false
      goOn()
      return Deferred.await(ended)
    }),
  }
}
