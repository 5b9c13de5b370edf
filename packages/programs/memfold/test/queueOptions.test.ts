/** Options of queues and workers that cannot be meant are refused before anything connects. */
import { Dispatcher, InMemoryEventLog } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import * as BullMQ from "@memfold/worker-bullmq"
import * as Cluster from "@memfold/worker-cluster"
import * as PgBoss from "@memfold/worker-pg-boss"
import { Effect, type Scope } from "effect"
import { expect, it } from "vitest"

type Make = (options: never) => Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope>

const queues: ReadonlyArray<readonly [name: string, make: Make, url: string]> = [
  ["BullMQ", BullMQ.make, "redis://localhost:1"],
  ["pg-boss", PgBoss.make, "postgres://localhost:1/app"],
  ["a cluster", Cluster.make, "cluster:postgres://localhost:1/app"],
]

const refused = (made: Effect.Effect<unknown, Dispatcher.DispatchError, Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(Effect.flip(made)))

it.each(queues)("of %s", async (_name, make, url) => {
  const secret = url.replace("localhost:1", "me:SECRET@localhost:port")
  const wrong: ReadonlyArray<readonly [given: object, words: string]> = [
    [{ url: undefined }, "`url`"],
    [{ url: "" }, "`url` must be the URL of"],
    [{ url: "mysql://me:SECRET@localhost" }, "`url` must be the URL of"],
    [{ url: secret }, "`url` must be the URL of"],
    [{ queue: "" }, "`queue` must be a text"],
    ...[0, 1.5, "3", Number.NaN].map(
      (attempts) => [{ attempts }, "`attempts` must be a whole number from 1"] as const,
    ),
    ...[-1, "1 second"].map((backOff) => [{ backOff }, "`backOff` must be a whole number from 0"] as const),
    ...[0, "30 seconds", 1e12].map((lease) => [{ lease }, "`lease` must be a whole number from"] as const),
    [{ atempts: 5 }, "there is no option `atempts`; there are url"],
  ]
  for (const [given, words] of wrong) {
    const error = await refused(make({ url, ...given } as never))
    expect([given, error._tag, error.message]).toEqual([
      given,
      "DispatchError",
      expect.stringContaining(words),
    ])
    expect(error.message).not.toContain("SECRET")
  }
})

it.each(["my-schema", "1st", "", "x".repeat(51), 5])("of pg-boss: the schema %j", async (schema) => {
  const error = await refused(PgBoss.make({ url: "postgres://localhost:1/app", schema } as never))
  expect([error._tag, error.message]).toEqual(["DispatchError", expect.stringContaining("`schema` must be")])
})

it("of a worker", async () => {
  // Nothing asks it.
  const queue = {} as Dispatcher.Queue
  const wrong: ReadonlyArray<readonly [given: object, words: string]> = [
    ...[0, -1, 1.5, Number.NaN, "8"].map(
      (concurrency) => [{ concurrency }, '"concurrency" must be'] as const,
    ),
    [{ shutdown: "soon" }, '"shutdown" must be a duration'],
    ...[0, "never"].map((sweepEvery) => [{ sweepEvery }, '"sweepEvery" must be a duration of more'] as const),
    [{ concurency: 4 }, 'did you mean "concurrency"?'],
  ]
  for (const [given, words] of wrong) {
    const error = await refused(
      Effect.flatMap(
        Effect.flatMap(InMemoryEventLog.make, (log) => memoryOver(log, { strategy: pairs })),
        (memory) => Dispatcher.work(queue, memory, given),
      ),
    )
    expect([given, error.message]).toEqual([given, expect.stringContaining(words)])
  }
})
