import { Deferred, Effect, Either, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import * as Batcher from "./batcher.js"

interface Item {
  readonly key: string
  readonly size?: number
  readonly fails?: boolean
}

/** A batcher that notes its groups, and answers with the keys. */
const noting = ({ before = Effect.void }: { readonly before?: Effect.Effect<void> } = {}) => {
  const groups: Array<string> = []
  const batched = Batcher.make<Item, string, string>({
    keyOf: ({ key }) => key,
    sizeOf: ({ size = 1 }) => size,
    mostSize: 10,
    canBeOfOne: (error) => error === "one of them",
    run: (group) =>
      Effect.gen(function* () {
        yield* before
        groups.push(group.map(({ key }) => key).join(" "))
        const failing = group.find(({ fails }) => fails)
        if (failing !== undefined)
          return yield* Effect.fail(failing.key === "all" ? "all of them" : "one of them")
        return group.map(({ key }) => `did ${key}`)
      }),
  })
  const all = (items: ReadonlyArray<Item>) =>
    Effect.runPromise(
      Effect.all(
        items.map((item) => Effect.either(batched(item))),
        { concurrency: "unbounded" },
      ),
    )
  return { groups, batched, all }
}

const items = (...keys: ReadonlyArray<string>): ReadonlyArray<Item> => keys.map((key) => ({ key }))

describe("a batcher", () => {
  it("works on all that comes at the same time as one group, and answers each", async () => {
    const { groups, all } = noting()
    expect(await all(items("a", "b", "c"))).toEqual(
      ["did a", "did b", "did c"].map((one) => Either.right(one)),
    )
    expect(groups).toEqual(["a b c"])
  })

  it("works on what comes meanwhile as the next group", async () => {
    const [started, opened] = Effect.runSync(Effect.all([Deferred.make<void>(), Deferred.make<void>()]))
    const { groups, batched } = noting({
      before: Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(opened)),
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        const first = yield* Effect.fork(batched({ key: "first" }))
        yield* Deferred.await(started)
        const rest = yield* Effect.forEach(items("a", "b"), (item) => Effect.fork(batched(item)))
        yield* Batcher.othersFirst
        yield* Deferred.succeed(opened, undefined)
        yield* Fiber.join(first)
        expect(yield* Effect.forEach(rest, (fiber) => Fiber.join(fiber))).toEqual(["did a", "did b"])
      }),
    )
    expect(groups).toEqual(["first", "a b"])
  })

  it("waits for what comes in each next turn of the event loop, for a bounded number of turns", async () => {
    const { groups, batched } = noting()
    /** Items of which one comes in each turn of the event loop. */
    const come = (left: number): Promise<unknown> =>
      new Promise((resolve) => {
        setImmediate(() => {
          const others = left === 0 ? [] : [come(left - 1)]
          resolve(Promise.all([Effect.runPromise(batched({ key: String(left), size: 0 })), ...others]))
        })
      })
    await come(4)
    expect(groups).toEqual(["4 3 2 1 0"])
    groups.length = 0
    await come(99)
    expect(groups.length).toBeGreaterThan(4)
    expect(groups.join(" ").split(" ").length).toBe(100)
  })

  it("has no two items with one key in a group, and keeps their order", async () => {
    const { groups, all } = noting()
    await all(items("a", "b", "a", "c", "a"))
    expect(groups).toEqual(["a b c", "a", "a"])
  })

  it("has groups of a limited size, and a larger item alone", async () => {
    const { groups, all } = noting()
    await all([{ key: "a", size: 6 }, { key: "b", size: 4 }, { key: "c" }, { key: "large", size: 99 }])
    expect(groups).toEqual(["a b", "c", "large"])
  })

  it("works on each item of a group alone if one of them can be the reason of a failure", async () => {
    const { groups, all } = noting()
    expect(await all([{ key: "a" }, { key: "b", fails: true }, { key: "c" }])).toEqual([
      Either.right("did a"),
      Either.left("one of them"),
      Either.right("did c"),
    ])
    expect(groups).toEqual(["a b c", "a", "b", "c"])
  })

  it("fails for all of a group otherwise", async () => {
    const { groups, all } = noting()
    expect(await all([{ key: "a" }, { key: "all", fails: true }])).toEqual([
      Either.left("all of them"),
      Either.left("all of them"),
    ])
    expect(groups).toEqual(["a all"])
  })

  it("lets timers and sockets have their turn between the answers of a large group", async () => {
    const { batched } = noting()
    const answeredAt: Array<number> = []
    let turn = 0
    const count = (): void => {
      turn++
      if (answeredAt.length < 32) setImmediate(count)
    }
    setImmediate(count)
    const writers = Array.from({ length: 32 }, (_, index) =>
      Effect.map(batched({ key: String(index), size: 0 }), () => answeredAt.push(turn)),
    )
    await Effect.runPromise(Effect.all(writers, { concurrency: "unbounded" }))
    expect(answeredAt.filter((at) => at === answeredAt[0]).length).toBeLessThanOrEqual(8)
    expect(new Set(answeredAt).size).toBeGreaterThanOrEqual(4)
  })

  it("answers the others when a fiber that waits is interrupted", async () => {
    const { batched } = noting()
    await Effect.runPromise(
      Effect.gen(function* () {
        const [first, second] = yield* Effect.all([
          Effect.fork(batched({ key: "a" })),
          Effect.fork(batched({ key: "b" })),
        ])
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(first)
        expect(yield* Fiber.join(second)).toBe("did b")
        expect(yield* batched({ key: "c" })).toBe("did c")
      }),
    )
  })
})
