/** D1 as Miniflare runs it, from two logs at the same time, and what it refuses. */
import { Effect } from "effect"
import { Miniflare } from "miniflare"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type D1, makeD1 } from "../src/index.js"

const worker = "export default { fetch: () => new Response() }"
let miniflare: Miniflare
let database: D1
beforeAll(async () => {
  miniflare = new Miniflare({ modules: true, script: worker, d1Databases: ["DB"] })
  database = (await miniflare.getD1Database("DB")) as unknown as D1
})
afterAll(() => miniflare.dispose())

/** Drops all that the database has. */
const empty = async (): Promise<void> => {
  const { results } = await database
    .prepare(
      "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
    )
    .all()
  // Tables after those that refer to them.
  const order = ["view", "projections", "summaries", "events"]
  const rank = (row: Record<string, unknown>) => {
    const at = order.findIndex((one) => one === row["type"] || one === row["name"])
    return at < 0 ? order.length : at
  }
  const drops = results
    .toSorted((one, other) => rank(one) - rank(other))
    .map((row) => database.prepare(`DROP ${String(row["type"])} "${String(row["name"])}"`))
  if (drops.length > 0) await database.batch(drops)
}

describe("two logs on one database", () => {
  const two = <A, E>(
    use: (
      one: Effect.Effect.Success<ReturnType<typeof makeD1>>,
      other: Effect.Effect.Success<ReturnType<typeof makeD1>>,
    ) => Effect.Effect<A, E>,
  ) =>
    Effect.gen(function* () {
      yield* Effect.promise(empty)
      const logs = yield* Effect.all([makeD1({ database }), makeD1({ database })], { concurrency: 2 })
      return yield* use(...logs)
    }).pipe(Effect.scoped, Effect.runPromise)

  const record = { time: 0, type: "Test", schemaVersion: 1, data: "{}" }
  const row = { kind: "snapshot", rows: [{ key: "", data: "{}" }] }

  it("start many sessions at the same time, each once", async () => {
    const versions = await two((one, other) =>
      Effect.gen(function* () {
        const start = (session: string, at: number) =>
          (at % 2 === 0 ? one : other).append(session, [record], { expectedVersion: 0, batchId: `b${at}` })
        const sessions = Array.from({ length: 8 }, (_, at) => `s${at % 4}`)
        const started = yield* Effect.forEach(sessions, (session, at) => Effect.either(start(session, at)), {
          concurrency: "unbounded",
        })
        // Of two that start one session, one wins.
        expect(started.filter(({ _tag }) => _tag === "Right")).toHaveLength(4)
        return yield* Effect.forEach(new Set(sessions), (session) => one.head(session))
      }),
    )
    expect(versions.map((head) => head?.version)).toEqual([1, 1, 1, 1])
  })

  it("a transaction whose reads have changed is made again, or ends in a conflict: nothing of it is half done", async () => {
    const rows = await two((one, other) =>
      Effect.gen(function* () {
        yield* one.append("s", [record], { expectedVersion: 0, batchId: "a" })
        const appends = [one, other, one, other].map((log, at) =>
          Effect.either(
            log.append("s", [record, record], {
              expectedVersion: 1,
              batchId: `c${at}`,
              projections: [{ ...row, rows: [{ key: String(at), data: "{}" }] }],
            }),
          ),
        )
        const ended = yield* Effect.all(appends, { concurrency: "unbounded" })
        expect(ended.filter(({ _tag }) => _tag === "Right")).toHaveLength(1)
        const winner = ended.findIndex(({ _tag }) => _tag === "Right")
        expect((yield* one.head("s"))?.version).toBe(3)
        expect(yield* one.projections.get("s", "snapshot")).toEqual([{ key: String(winner), data: "{}" }])
        expect(yield* one.delete("s")).toBe(true)
        yield* one.append("s", [record], { expectedVersion: 0, batchId: "d" })
        return yield* one.projections.get("s", "snapshot")
      }),
    )
    expect(rows).toEqual([])
  })
})

it("refuses a database of another program, and changes nothing", async () => {
  await empty()
  await database.batch([database.prepare("CREATE TABLE sessions (id TEXT)")])
  const opened = Effect.runPromise(Effect.flip(Effect.scoped(makeD1({ database }))))
  expect((await opened).message).toContain("tables of another program")
  await empty()
  const unmade = Effect.runPromise(Effect.flip(Effect.scoped(makeD1({ database, create: false }))))
  expect((await unmade).message).toContain("no tables of memfold")
})

it("says what it cannot keep: a message above D1's limit for a value", async () => {
  await empty()
  const error = await Effect.gen(function* () {
    const log = yield* makeD1({ database })
    const large = { time: 0, type: "Test", schemaVersion: 1, data: JSON.stringify("x".repeat(2_500_000)) }
    return yield* Effect.flip(log.append("s", [large], { expectedVersion: 0, batchId: "a" }))
  }).pipe(Effect.scoped, Effect.runPromise)
  expect(error.message).toContain("2 MB")
})
