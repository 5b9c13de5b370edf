/**
 * Gathers what many fibers do at the same time: while a group is worked on, the others wait, and go together in the next group.
 * A fiber that finds nobody at work takes a group itself.
 */
import { Cause, Deferred, Effect, Exit, FiberId, Option } from "effect"

/** What to gather. */
export interface BatcherOptions<Item, A, E> {
  /** Works on a group, and returns an answer for each item. */
  readonly run: (group: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<A>, E>
  /** Whether a group that failed with this error is worked on again, each item alone: the error can be due to one of them. */
  readonly canBeOfOne: (error: E) => boolean
  /** A group has no two items with one key. */
  readonly keyOf: (item: Item) => string
  /** A group has one item, or a total size of `mostSize` or less. */
  readonly sizeOf: (item: Item) => number
  readonly mostSize: number
}

interface PendingItem<Item, A, E> {
  readonly item: Item
  readonly answer: Deferred.Deferred<A, E>
}

/**
 * How many fibers get their answers before timers and sockets have their turn. What a fiber does with its answer holds the event loop,
 * and a group can have as many as there are sessions.
 */
const answersAtOnce = 8

/**
 * For how many turns of the event loop a group waits while each of them brings an item. Sessions that are opened at once come one in a turn,
 * and what a group costs, such as a disk's confirmation, hardly depends on how many it has.
 */
const mostTurns = 16

/** Runtimes without `setImmediate` have a timer that takes its turn as well. */
const later = (work: () => void): unknown =>
  typeof setImmediate === "undefined" ? setTimeout(work, 0) : setImmediate(work)

/** Lets other fibers, timers and sockets of the process go on first. */
export const othersFirst: Effect.Effect<void> = Effect.async((resume) => {
  later(() => resume(Effect.void))
})

/** Makes a function that works on an item, in a group with the items of other fibers. It is not interrupted. */
export const make = <Item, A, E>({
  run,
  canBeOfOne,
  keyOf,
  sizeOf,
  mostSize,
}: BatcherOptions<Item, A, E>): ((item: Item) => Effect.Effect<A, E>) => {
  let waiting: Array<PendingItem<Item, A, E>> = []
  let isWorking = false

  const nextGroup = (): ReadonlyArray<PendingItem<Item, A, E>> => {
    const group: Array<PendingItem<Item, A, E>> = []
    const later: Array<PendingItem<Item, A, E>> = []
    const keys = new Set<string>()
    let size = 0
    for (const one of waiting) {
      const key = keyOf(one.item)
      size += sizeOf(one.item)
      const fits = group.length === 0 || (size <= mostSize && !keys.has(key))
      keys.add(key)
      if (fits) group.push(one)
      else later.push(one)
    }
    waiting = later
    return group
  }

  const work = (group: ReadonlyArray<PendingItem<Item, A, E>>): Effect.Effect<void> =>
    Effect.flatMap(Effect.exit(run(group.map(({ item }) => item))), (exit) => {
      if (
        Exit.isFailure(exit) &&
        group.length > 1 &&
        Cause.isFailType(exit.cause) &&
        canBeOfOne(exit.cause.error)
      )
        return Effect.forEach(group, (one) => work([one]), { discard: true })
      return Effect.forEach(
        group,
        ({ answer }, position) => {
          const answered = Deferred.done(
            answer,
            Exit.map(exit, (answers) => answers[position]!),
          )
          return position % answersAtOnce === answersAtOnce - 1
            ? Effect.zipRight(answered, othersFirst)
            : answered
        },
        { discard: true },
      )
    })

  /** Waits a turn of the event loop, and another one while more items come. */
  const gather = (turnsLeft: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const before = waiting.length
      return Effect.flatMap(othersFirst, () =>
        waiting.length > before && turnsLeft > 1 ? gather(turnsLeft - 1) : Effect.void,
      )
    })

  /** Works on a group, and lets another fiber go on with the items that have come meanwhile. */
  const lead: Effect.Effect<void> = Effect.flatMap(gather(mostTurns), () =>
    Effect.flatMap(work(nextGroup()), () => {
      isWorking = waiting.length > 0
      return isWorking ? Effect.asVoid(Effect.forkDaemon(lead)) : Effect.void
    }),
  )

  return (item) =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        const answer = Deferred.unsafeMake<A, E>(FiberId.none)
        waiting.push({ item, answer })
        if (isWorking) return Deferred.await(answer)
        isWorking = true
        // The group that it has worked on begins with its own item: to wait for an answer that is there takes a turn of the fiber.
        return Effect.flatMap(
          Effect.zipRight(lead, Deferred.poll(answer)),
          Option.getOrElse(() => Deferred.await(answer)),
        )
      }),
    )
}
