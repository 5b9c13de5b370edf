/** A database that is restored from a backup while a process uses it: the log refuses, and says so. */
import { Effect, Either } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { records } from "@memfold/harness/crowd"
import { type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { withLog } from "./support.js"

const { server } = postgresServers()
/** Runs a program of PostgreSQL's own. */
const tool = (name: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(join(process.env["MEMFOLD_POSTGRES_BIN"] ?? "", name), args, { encoding: "utf8" })

/** A database of its own in a server, and its URL. */
const databaseIn = async ({ client, url }: Postgres): Promise<string> => {
  await client.query("CREATE DATABASE chats")
  return url.replace(/postgres$/, "chats")
}

interface Accident {
  /** Takes a backup; answers with what restores it. */
  readonly prepare: (one: Postgres, url: string) => Promise<() => Promise<unknown>>
}

/** The ways in which a backup comes back. */
const accidents: Readonly<Record<string, Accident>> = {
  "a dump is restored over the tables": {
    prepare: async (_one, url) => {
      const dump = tool("pg_dump", "--clean", "--schema=memfold", url)
      return async () =>
        execFileSync(join(process.env["MEMFOLD_POSTGRES_BIN"]!, "psql"), ["-q", url], { input: dump })
    },
  },
  "the database is dropped, and made again from a dump": {
    prepare: async ({ client }, url) => {
      const dump = tool("pg_dump", "--schema=memfold", url)
      return async () => {
        await client.query("DROP DATABASE chats WITH (FORCE)")
        await client.query("CREATE DATABASE chats")
        execFileSync(join(process.env["MEMFOLD_POSTGRES_BIN"]!, "psql"), ["-q", url], { input: dump })
      }
    },
  },
  "the server is started on an older copy of its folder": {
    prepare: async (one) => {
      const data = join(one.folder, "data")
      await one.stop()
      execFileSync("cp", ["-a", data, `${data}.backup`])
      await one.start()
      return async () => {
        await one.stop()
        execFileSync("rm", ["-rf", data])
        execFileSync("mv", [`${data}.backup`, data])
        await one.start()
      }
    },
  },
}

describe("a database that is open", () => {
  it.each(Object.entries(accidents))("refuses to write and to read when %s", async (_name, { prepare }) => {
    const one = await server({ config: ["fsync = off"] })
    const url = await databaseIn(one)
    const append = (version: number, batchId: string) => ({ expectedVersion: version, batchId })
    await withLog({ url, notifications: false }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(2), append(0, "a"))
        const restore = yield* Effect.promise(() => prepare(one, url))
        yield* log.append("s", records(1), append(2, "b"))
        yield* Effect.promise(restore)
        // What was seen a moment ago holds for a second.
        const late = Date.now() + 2_000
        vi.spyOn(Date, "now").mockReturnValue(late)
        const refused: ReadonlyArray<Either.Either<unknown, Error>> = [
          yield* Effect.either(log.append("s", records(1), append(3, "c"))),
          yield* Effect.either(log.append("new", records(1), append(0, "d"))),
          yield* Effect.either(log.head("s")),
          yield* Effect.either(log.delete("s")),
        ]
        for (const each of refused)
          expect(Either.getOrNull(Either.flip(each))?.message).toContain("was restored from a backup")
      }),
    ).finally(() => vi.restoreAllMocks())
    // Opened again, it has what the backup has, and goes on.
    await withLog({ url }, (log) =>
      Effect.gen(function* () {
        expect((yield* log.head("s"))?.version).toBe(2)
        yield* log.append("s", records(1), append(2, "e"))
      }),
    )
  })

  it("goes on when the server was killed, is vacuumed, or takes others' writes", async () => {
    const one = await server()
    const url = await databaseIn(one)
    await withLog({ url, notifications: false }, (log) =>
      Effect.gen(function* () {
        for (let version = 0; version < 6; version += 2) {
          yield* log.append("s", records(1), { expectedVersion: version, batchId: `a${version}` })
          const open = yield* Effect.promise(() => one.client.connect())
          // A transaction that is open has a number, and is gone with the server.
          yield* Effect.promise(() => open.query("BEGIN; SELECT pg_current_xact_id()"))
          open.on("error", () => undefined)
          yield* Effect.promise(async () => {
            await one.kill()
            await one.start()
          })
          open.release(true)
          yield* log.append("s", records(1), { expectedVersion: version + 1, batchId: `b${version}` })
        }
        yield* Effect.promise(async () => {
          tool("vacuumdb", "--full", "--quiet", url)
        })
        yield* log.append("s", records(1), { expectedVersion: 6, batchId: "c" })
        expect((yield* log.head("s"))?.version).toBe(7)
      }),
    )
  })
})
