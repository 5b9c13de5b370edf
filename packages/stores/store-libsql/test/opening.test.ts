/** What is opened, and what is refused. */
import { createClient } from "@libsql/client/web"
import { Effect } from "effect"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { libsqlServers, type Server, signed } from "@memfold/harness/libsqlServers"
import { fill, readOnly, recordsOf } from "@memfold/harness/stored"
import { layer } from "../src/index.js"
import { empty, openingFails, withLog } from "./support.js"

const server = libsqlServers()
let one: Server
beforeAll(async () => {
  one = await server()
})
beforeEach(() => empty(one.url))

const changed = async (statement: string): Promise<void> => {
  const client = createClient({ url: one.url })
  await client.execute(statement)
  client.close()
}

it("the feed begins with its first reader that may write", async () => {
  const record = { time: 0, type: "Noted", schemaVersion: 1, data: "{}" }
  await withLog({ url: one.url }, (log) =>
    log.append("chat", [record, record], { expectedVersion: 0, batchId: "a" }),
  )
  const read = (options = {}) => withLog({ url: one.url, ...options }, (log) => log.feed!({ limit: 10 }))
  await expect(read({ readonly: true })).rejects.toThrow("read it there once")
  expect((await read()).map(({ record: { version } }) => version)).toEqual([1, 2])
  await withLog({ url: one.url }, (log) => log.append("chat", [record], { expectedVersion: 2, batchId: "b" }))
  expect((await read({ readonly: true })).map(({ record: { version } }) => version)).toEqual([1, 2, 3])
})

describe("a database is refused, and says why,", () => {
  it("with the tables of another program", async () => {
    await changed("CREATE TABLE sessions (id TEXT)")
    expect(await openingFails({ url: one.url })).toMatchObject({
      operation: "open",
      reason: `${one.url} has tables of another program; choose another database`,
    })
  })

  it("of a newer memfold", async () => {
    await fill(layer({ url: one.url }))
    const records = await withLog({ url: one.url }, recordsOf)
    await changed("UPDATE memfold SET version = 7")
    await changed("ALTER TABLE events ADD COLUMN later TEXT")
    expect((await openingFails({ url: one.url })).reason).toContain("has version 7 of the tables")
    expect(await withLog({ url: one.url, readonly: true }, readOnly)).toEqual({
      records,
      problems: [],
      refused: Array(5).fill("it is open to be read, and takes no writes"),
    })
  })

  it("without tables, where none are to be created", async () => {
    const options = { url: one.url, create: false }
    expect((await openingFails(options)).reason).toContain("has no tables of memfold")
    await withLog({ url: one.url }, () => Effect.void)
    await withLog(options, (log) => log.head("one"))
  })

  it.each([
    ["chats.db", "is no URL of libSQL"],
    ["mysql://host/chats", "is no URL of libSQL"],
    ["file:chats.db", "is a file; open it with @memfold/store-sqlite"],
    ["http://127.0.0.1:9/?authToken=secret", "does not answer"],
  ])("at %s", async (url, reason) => {
    const error = await openingFails({ url, authToken: "secret" })
    expect(error.message).toContain(reason)
    expect(error.message).not.toContain("secret")
  })

  it("without the token that the server asks for", async () => {
    const tokens = signed()
    const { url } = await server(tokens)
    await withLog({ url, authToken: tokens.token }, (log) => log.head("one"))
    for (const wrong of [{}, { authToken: signed().token }, { authToken: "secret" }]) {
      const error = await openingFails({ url, ...wrong })
      expect(error.reason).toBe(`${url} refuses the token; give the \`authToken\` of this database`)
      expect(error.message).not.toContain("secret")
    }
  })
})

it("an error quotes nothing of what was written", async () => {
  const rows = ["one", "two"].map((key) => ({ key, data: "private", mark: "active" }))
  const failed = withLog({ url: one.url }, (log) =>
    Effect.gen(function* () {
      const record = { time: 0, type: "Test", schemaVersion: 1, data: "{}" }
      yield* log.append("one", [record], { expectedVersion: 0, batchId: "a" })
      return yield* Effect.flip(
        log.projections.put("one", { version: 1, batchId: "a" }, [{ kind: "snapshot", rows }]),
      )
    }),
  )
  const { message } = await failed
  expect(message).toContain("two rows with one mark")
  expect(message).not.toContain("private")
})
