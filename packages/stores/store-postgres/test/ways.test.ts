/** Ways to a server, the errors of each, and the schema that a log lives in. */
import { EventLog } from "@memfold/core"
import { Effect, Logger } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { records } from "@memfold/harness/crowd"
import { give, type Postgres, postgresServers } from "@memfold/harness/postgresServers"
import { readOnly, recordsOf } from "@memfold/harness/stored"
import { freePort } from "@memfold/harness/ports"
import { make, migrations } from "../src/index.js"
import { newSchema, openingFails, withLog } from "./support.js"

const { server } = postgresServers()
const brief = { retryFor: "300 millis", timeout: "5 seconds" } as const

let one: Postgres
let key = ""
let certificate = ""
const folder = mkdtempSync(join(tmpdir(), "memfold-postgres-tls-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  ;[key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  const made = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "1",
    "-keyout",
    key,
    "-out",
    certificate,
  ]
  execFileSync("openssl", [...made, ...subject], { stdio: "ignore" })
  one = await server({
    config: ["fsync = off", "ssl = on"],
    access: ["host all ann 127.0.0.1/32 scram-sha-256", "hostnossl all secret 127.0.0.1/32 reject"],
    prepare: (data) => {
      for (const [from, name] of [
        [key, "server.key"],
        [certificate, "server.crt"],
      ] as const) {
        const file = join(data, name)
        copyFileSync(from, file)
        chmodSync(give(file), 0o600)
      }
    },
  })
  await one.client.query("CREATE ROLE ann LOGIN PASSWORD 'sesame'; CREATE ROLE secret LOGIN SUPERUSER")
})

const urlOf = (user: string, rest = "postgres") => `postgres://${user}@127.0.0.1:${one.port}/${rest}`
const name = (rest = "postgres", host = "127.0.0.1") => `postgres://${host}:${one.port}/${rest}`

describe("TLS", () => {
  it("is spoken where the URL or the options ask for it, with the authority that they name", async () => {
    const schema = newSchema()
    const secret = (query: string) => `postgres://secret@localhost:${one.port}/postgres${query}`
    const ca = readFileSync(certificate, "utf8")
    for (const options of [
      { url: secret(`?sslmode=verify-full&sslrootcert=${certificate}`) },
      { url: secret(""), tls: { ca } },
    ])
      expect(await withLog({ ...options, schema }, (log) => log.head("s"))).toBe(null)
    // The server lets this user in with TLS alone.
    expect((await openingFails({ url: secret(""), ...brief })).reason).toBe(
      `${name("postgres", "localhost")} does not let this user in; check the user, the password and the server's pg_hba.conf`,
    )
  })

  it("takes nobody's certificate that it does not know, and no other host's", async () => {
    const { reason } = await openingFails({
      url: `postgres://secret@localhost:${one.port}/postgres?sslmode=verify-full`,
      ...brief,
    })
    expect(reason).toContain("the certificate of postgres://localhost:")
    const other = await openingFails({
      url: `${urlOf("secret")}?sslmode=verify-full&sslrootcert=${certificate}`,
      ...brief,
    })
    expect(other.reason).toContain(
      "give its authority with tls or sslrootcert, and the host name that it is for",
    )
  })

  it("that a server does not offer is no reason to go without", async () => {
    const plain = await server({ config: ["fsync = off"] })
    const { reason } = await openingFails({ url: `${plain.url}?sslmode=verify-full`, ...brief })
    expect(reason).toContain("does not offer TLS; turn it on at the server, or leave sslmode out")
  })
})

describe("a log that cannot be opened says why, without secrets", () => {
  const reasons: ReadonlyArray<readonly [what: string, url: () => string, reason: () => string]> = [
    [
      "a wrong password",
      () => urlOf("ann:open"),
      () => `${name()} does not let this user in; check the user, the password and the server's pg_hba.conf`,
    ],
    [
      "a database that does not exist",
      () => urlOf("memfold", "nowhere"),
      () => `${name("nowhere")} does not exist; create the database, or check its name`,
    ],
    [
      "a user that may not create a schema",
      () => urlOf("ann:sesame"),
      () => `the user may not do this in ${name()}; grant what the README lists`,
    ],
    [
      "a host that is not known",
      () => "postgres://memfold:sesame@nowhere.invalid/postgres",
      () =>
        "the host of postgres://nowhere.invalid:5432/postgres is not known; check the address and the network",
    ],
    [
      "no URL",
      () => "postgres://sesame:port",
      () => "the URL of the store is none; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    ],
    [
      "a URL without slashes",
      () => "postgres:me:sesame@host/db",
      () =>
        "the URL of the store does not begin with postgres:// or postgresql://; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    ],
    [
      "another kind of URL",
      () => "mysql://sesame@host",
      () =>
        "the URL of the store does not begin with postgres:// or postgresql://; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    ],
    [
      "a name that no schema can have",
      () => `${urlOf("memfold")}?schema=a%3Fb`,
      () => "the schema of the store is none; its name has 1 to 63 bytes, and no question mark",
    ],
    [
      "two schemas",
      () => `${urlOf("memfold")}?schema=sesame&schema=open`,
      () => 'the URL of the store has the setting "schema" more than once',
    ],
  ]
  it.each(reasons)("%s", async (_what, url, reason) => {
    const error = await openingFails({ url: url(), ...brief })
    expect(error).toMatchObject({ _tag: "LogError", reason: reason() })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/sesame|open@/)
  })

  it("a server that is away", async () => {
    const port = await freePort()
    const error = await openingFails({
      url: `postgres://memfold:sesame@127.0.0.1:${port}/postgres`,
      ...brief,
    })
    expect(error.reason).toBe(
      `postgres://127.0.0.1:${port}/postgres refuses connections; start it, or check the address and the network`,
    )
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("sesame")
  })

  it("a server that is away: after a second, the log says that it is waited for", async () => {
    const told: Array<string> = []
    const options = { url: `postgres://memfold:sesame@127.0.0.1:${await freePort()}/postgres`, ...brief }
    await Effect.runPromise(
      Effect.flip(Effect.scoped(make({ ...options, retryFor: "2 seconds" }))).pipe(
        Effect.provide(
          Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ message }) => void told.push(String(message))),
          ),
        ),
      ),
    )
    expect(told).toEqual([
      expect.stringMatching(
        /^postgres:\/\/127\.0\.0\.1:\d+\/postgres does not answer; memfold goes on trying$/,
      ),
    ])
    expect(told.join()).not.toContain("sesame")
  })

  it("a database in another encoding", async () => {
    await one.client.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    const { reason } = await openingFails({ url: urlOf("memfold", "latin"), ...brief })
    expect(reason).toBe(`${name("latin")} has the encoding LATIN1; create a database with the encoding UTF8`)
  })
})

describe("a schema", () => {
  it("is the one of the URL, or of the options, or memfold", async () => {
    const [first, second] = [newSchema(), newSchema()]
    const append = (log: EventLog.Service) =>
      log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
    await withLog({ url: `${one.url}?schema=${first}` }, append)
    await withLog({ url: `${one.url}?schema=${first}`, schema: second }, append)
    await withLog({ url: one.url }, append)
    for (const schema of [first, second, "memfold"]) {
      const { rows } = await one.client.query(`SELECT name, last_version FROM ${schema}.sessions`)
      expect(rows).toEqual([{ name: "s", last_version: "1" }])
    }
  })

  it("can have any name, and keeps its sessions to itself", async () => {
    for (const schema of [`odd "name"; DROP SCHEMA public`, "select", "Ünï $1 ::"]) {
      await withLog({ url: one.url, schema }, (log) =>
        Effect.gen(function* () {
          expect(yield* log.head("s")).toBe(null)
          yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
          yield* log.append("s", records(1), { expectedVersion: 2, batchId: "b" })
          expect(yield* log.delete("s")).toBe(true)
        }),
      )
    }
    expect((await one.client.query("SELECT to_regnamespace('public') AS public")).rows).toEqual([
      { public: "public" },
    ])
  })

  it("is created once, however many open it at the same moment", async () => {
    const schema = newSchema()
    const heads = await Promise.all(
      Array.from({ length: 16 }, () =>
        withLog({ url: one.url, schema, connections: 2 }, (log) => log.head("s")),
      ),
    )
    expect(new Set(heads)).toEqual(new Set([null]))
    const { rows } = await one.client.query(`SELECT version FROM ${schema}.migrations ORDER BY version`)
    expect(rows).toEqual([{ version: 1 }, { version: 2 }])
  })

  it("can be created by somebody else, with SQL; then the log needs no right to create", async () => {
    const schema = newSchema()
    await one.client.query(`${migrations({ schema }).join(";")};
      GRANT USAGE ON SCHEMA ${schema} TO ann;
      GRANT SELECT ON ${schema}.migrations, ${schema}.feed TO ann;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ${["sessions", "events", "types", "projections", "summaries"].map((table) => `${schema}.${table}`).join(", ")} TO ann`)
    await withLog({ url: urlOf("ann:sesame"), schema }, (log) =>
      Effect.gen(function* () {
        const projections = [{ kind: "description", rows: [{ key: "", data: `{"owner":"o","title":null}` }] }]
        yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a", projections })
        yield* log.append("s", records(1), { expectedVersion: 2, batchId: "b" })
        expect(yield* EventLog.versionOf(log, "s")).toBe(3)
        expect(yield* log.delete("s")).toBe(true)
      }),
    )
  })

  it("can have its events in partitions, each for a range of sessions", async () => {
    const schema = newSchema()
    const statements = migrations({ schema }).map((statement) =>
      statement.includes(`CREATE TABLE "${schema}".events `)
        ? `${statement} PARTITION BY RANGE (id)`
        : statement,
    )
    await one.client.query(
      `${statements.join(";")};
       CREATE TABLE ${schema}.events_0 PARTITION OF ${schema}.events FOR VALUES FROM (MINVALUE) TO (3::bigint << 32);
       CREATE TABLE ${schema}.events_rest PARTITION OF ${schema}.events DEFAULT`,
    )
    await withLog({ url: one.url, schema }, (log) =>
      Effect.gen(function* () {
        for (const session of ["a", "b", "c", "d"]) {
          yield* log.append(session, records(2), { expectedVersion: 0, batchId: "a" })
          yield* log.append(session, records(1), { expectedVersion: 2, batchId: "b" })
          const again = log.append(session, records(1), { expectedVersion: 2, batchId: "b" })
          expect(yield* again).toEqual({ fromVersion: 3, version: 3, duplicate: true })
          const page = { fromVersion: 1, toVersion: 9, reverse: true, limit: 2 }
          expect((yield* log.read(session, page)).map(({ version }) => version)).toEqual([3, 2])
        }
        expect(yield* log.delete("a")).toBe(true)
      }),
    )
    const counts = `SELECT (SELECT count(*) FROM ${schema}.events_0) AS old, (SELECT count(*) FROM ${schema}.events_rest) AS rest`
    expect((await one.client.query(counts)).rows).toEqual([{ old: "3", rest: "6" }])
  })

  it("without tables is refused with create: false, and nothing is created", async () => {
    const schema = newSchema()
    const { reason } = await openingFails({ url: one.url, schema, create: false })
    expect(reason).toBe(
      `${name()} has no tables of this memfold in the schema ${schema}; open it for writing once`,
    )
    const { rows } = await one.client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema])
    expect(rows).toEqual([])
  })

  it("with the tables of another program, or of a newer memfold, is refused and not changed", async () => {
    const [theirs, newer] = [newSchema(), newSchema()]
    await one.client.query(`CREATE SCHEMA ${theirs}; CREATE TABLE ${theirs}.sessions (id TEXT)`)
    expect((await openingFails({ url: one.url, schema: theirs })).reason).toBe(
      `${name()} has tables of another program in the schema ${theirs}; choose another schema`,
    )
    const records = await withLog({ url: one.url, schema: newer }, (log) =>
      Effect.gen(function* () {
        const record = { time: 0, type: "Noted", schemaVersion: 1, data: "{}" }
        for (const session of ["a", "b"])
          yield* log.append(session, [record, record], { expectedVersion: 0, batchId: session })
        return yield* recordsOf(log)
      }),
    )
    await one.client.query(
      `INSERT INTO ${newer}.migrations (version) VALUES (3); ALTER TABLE ${newer}.events ADD COLUMN later TEXT`,
    )
    expect((await openingFails({ url: one.url, schema: newer })).reason).toBe(
      `${name()} has version 3 of the tables in the schema ${newer}, this memfold knows version 2; update memfold, or read it with memfold export`,
    )
    expect(await withLog({ url: one.url, schema: newer, readonly: true }, readOnly)).toMatchObject({
      records,
      refused: Array(5).fill("it is open to be read, and takes no writes"),
    })
  })
})

describe("an operation that fails says why, without what was written", () => {
  it("a NUL character, and ids that no index can hold", async () => {
    await withLog({ url: one.url, schema: newSchema() }, (log) =>
      Effect.gen(function* () {
        const nul =
          "PostgreSQL keeps no text with a NUL character; the session id, the key, the owner or the title has one"
        const append = (session: string, batchId: string) =>
          log.append(session, records(1), { expectedVersion: 0, batchId })
        expect(yield* Effect.flip(append("a\0b", "a"))).toMatchObject({ reason: nul })
        expect(yield* Effect.flip(append("a", "a\0b"))).toMatchObject({ reason: nul })
        yield* append("a", "a")
        const usual = log.append("a", records(1), { expectedVersion: 1, batchId: "a\0b" })
        const error = yield* Effect.flip(usual)
        expect(error).toMatchObject({ reason: nul })
        expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("JSON data")
        const random = Array.from({ length: 4_000 }, (_, at) =>
          String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000)),
        ).join("")
        expect(yield* Effect.flip(append(random, "a"))).toMatchObject({
          reason:
            "a session id, a key or an owner is longer than an index of PostgreSQL can hold (2,700 bytes)",
        })
      }),
    )
  })

  it("two active summaries of a session (L1)", async () => {
    const schema = newSchema()
    await withLog({ url: one.url, schema }, (log) =>
      Effect.gen(function* () {
        const summary = (id: string) => ({
          key: id,
          mark: "active",
          data: JSON.stringify({
            version: 1,
            id,
            status: "active",
            supersededBy: null,
            coveredTo: 1,
            total: 1,
            text: "private words",
            turnPrefix: null,
            tokens: 1,
            time: 0,
          }),
        })
        const error = yield* Effect.flip(
          log.append("s", records(1), {
            expectedVersion: 0,
            batchId: "a",
            projections: [{ kind: "summary", rows: [summary("one"), summary("two")] }],
          }),
        )
        expect(error).toMatchObject({
          reason: `the change would leave two active summaries in ${name()}; nothing was written`,
        })
        expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("private words")
        expect(yield* log.head("s")).toBe(null)
      }),
    )
  })

  it("a server that is set to read only", async () => {
    const schema = newSchema()
    await withLog({ url: one.url, schema }, (log) => log.head("s"))
    const url = `${one.url}?options=-c default_transaction_read_only=on`
    await withLog({ url, schema }, (log) =>
      Effect.gen(function* () {
        expect(yield* log.head("s")).toBe(null)
        expect(
          yield* Effect.flip(log.append("s", records(1), { expectedVersion: 0, batchId: "a" })),
        ).toMatchObject({
          reason: `${name()} takes no writes: it is a standby, or set to read-only; connect to the primary`,
        })
      }),
    )
  })
})
