/** PostgreSQL servers and PgBouncers for tests: own processes, in own folders, on ports of their own. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Client, Pool } from "pg"
import { afterAll } from "vitest"
import { eventually } from "./eventually.js"
import { freePort } from "./ports.js"

/** The programs under test; `scripts/postgres.mjs` says where they are, or how to get them. */
const bin = process.env["MEMFOLD_POSTGRES_BIN"]
const bouncerProgram = process.env["MEMFOLD_PGBOUNCER"]

const advice =
  "npm test installs PostgreSQL and PgBouncer, or says what to type; node scripts/postgres.mjs prints where they are"

const programOf = (name: string): string => {
  if (bin === undefined) throw new Error(`MEMFOLD_POSTGRES_BIN names no folder with ${name}; ${advice}`)
  return join(bin, name)
}

/** Servers refuse to run as root: root starts them as the user `postgres` or `nobody`. */
const user = (() => {
  if (process.getuid?.() !== 0) return undefined
  const entries = readFileSync("/etc/passwd", "utf8").split("\n")
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = entries.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error("the servers of these tests refuse to run as root, and there is no user postgres or nobody")
})()

/** Gives a file or a folder to the user of the servers. */
export const give = (path: string): string => {
  if (user !== undefined) chownSync(path, user.uid, user.gid)
  return path
}

const running = new Set<ChildProcess>()
// Should the test run itself be ended, the servers end with it.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

const mostPorts = 10

/** A process that tests kill and start again. */
const processOf = (command: string, args: ReadonlyArray<string>, folder: string) => {
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals) => {
    const ended = child
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return
    const exit = once(ended, "exit")
    ended.kill(signal)
    await exit
    running.delete(ended)
  }
  return {
    pid: () => child?.pid,
    end,
    signal: (signal: NodeJS.Signals) => void child?.kill(signal),
    /** Starts it, and waits until `isReady`; fails once the process ends. */
    start: async (isReady: () => Promise<boolean>) => {
      const started = spawn(command, args, { ...user, cwd: folder, stdio: "ignore" })
      child = started
      running.add(started)
      let ended: Error | undefined
      started.once("error", (cause) => (ended = new Error(`${command} cannot be run; ${advice}`, { cause })))
      started.once("exit", (code, signal) => {
        running.delete(started)
        ended ??= new Error(`${command} ended with ${code ?? signal}; see the log in ${folder}`)
      })
      const outcome = await eventually(`${command} answers`, async () => ended ?? isReady())
      if (outcome instanceof Error) throw outcome
    },
  }
}

export interface Postgres {
  readonly port: number
  /** `postgres://memfold@127.0.0.1:PORT/postgres`, of a superuser. */
  readonly url: string
  /** The folder of its data, its log and its Unix socket. */
  readonly folder: string
  /** Starts it again, on its port and folder. */
  readonly start: () => Promise<void>
  /** `kill -9`, and waits until it is gone. */
  readonly kill: () => Promise<void>
  /** Ends all its connections and stops it. */
  readonly stop: () => Promise<void>
  /** Connections of the test's own, of a superuser. */
  readonly client: Pool
}

export interface PostgresOptions {
  /** Lines of `postgresql.conf`. */
  readonly config?: ReadonlyArray<string>
  /** Lines of `pg_hba.conf`, before the one that lets everybody in from this machine. */
  readonly access?: ReadonlyArray<string>
  /** Prepares the folder of the data before the first start. */
  readonly prepare?: (data: string) => void
  /** The server is a standby of this one, under this name. */
  readonly standby?: { readonly of: Postgres; readonly name: string }
}

export interface Bouncer {
  readonly url: string
}

/** Runs a program of the server to its end. */
const runTool = async (folder: string, name: string, args: ReadonlyArray<string>): Promise<void> => {
  await promisify(execFile)(programOf(name), args, { ...user, cwd: folder })
}

let newData: Promise<string> | undefined

/** The data of a new server, which a process makes once, and copies: `initdb` takes longer than a server to start. */
const makeNewData = async (): Promise<string> => {
  const own = give(mkdtempSync(join(tmpdir(), "postgres-new-")))
  process.on("exit", () => rmSync(own, { recursive: true, force: true }))
  const data = join(own, "data")
  const encoding = ["-E", "UTF8", "--locale=C"]
  await runTool(own, "initdb", ["-D", data, "-U", "memfold", "-A", "trust", "-N", ...encoding])
  return data
}

/** Makes the data of a server: those of a new one, or a copy of its primary's. */
const makeData = async (own: string, { access = [], standby }: PostgresOptions): Promise<string> => {
  const data = join(own, "data")
  if (standby === undefined) {
    newData ??= makeNewData()
    await promisify(execFile)("cp", ["-a", await newData, data], { ...user, cwd: own })
    const trust = ["local all all trust", "host all,replication all 127.0.0.1/32 trust"]
    writeFileSync(join(data, "pg_hba.conf"), [...access, ...trust, ""].join("\n"))
  } else {
    const { of, name } = standby
    const from = `host=127.0.0.1 port=${of.port} user=memfold application_name=${name}`
    await runTool(own, "pg_basebackup", ["-D", data, "-d", from, "-R", "-X", "stream", "-c", "fast", "-N"])
  }
  return data
}

/** Writes the configuration of a server; answers with the path of the file. */
const writeConfig = (own: string, data: string, port: number, { config = [] }: PostgresOptions): string => {
  const file = join(own, "postgresql.conf")
  const settings = [
    `hba_file = '${join(data, "pg_hba.conf")}'`,
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${own}'`,
    "max_connections = 100",
    "shared_buffers = 16MB",
    "logging_collector = on",
    `log_directory = '${own}'`,
    "log_filename = 'log'",
    ...config,
    "",
  ]
  writeFileSync(file, settings.join("\n"))
  return file
}

/**
 * Starts servers for the tests of a file, each on the first free port that it gets. To be called once, at its top. A server
 * counts as started once the one that answers at the port says that its folder is the server's own.
 */
export const postgresServers = () => {
  const folder = give(mkdtempSync(join(tmpdir(), "memfold-postgres-")))
  const ends = new Set<() => Promise<void>>()
  const pools = new Set<Pool>()
  afterAll(async () => {
    await Promise.all([...pools].map((pool) => pool.end()))
    await Promise.all([...ends].map((end) => end()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const tryServer = async (options: PostgresOptions): Promise<Postgres> => {
    const port = await freePort()
    const own = give(mkdtempSync(join(folder, "server-")))
    const data = await makeData(own, options)
    options.prepare?.(data)
    const config = writeConfig(own, data, port, options)
    const url = `postgres://memfold@127.0.0.1:${port}/postgres`
    const client = new Pool({ connectionString: url, max: 4 })
    client.on("error", () => {})
    const server = processOf(programOf("postgres"), ["-D", data, "-c", `config_file=${config}`], own)
    const isOurs = async () => {
      // Another program's server may be there, until ours finds out and ends.
      const { rows } = await client.query("SHOW data_directory")
      return (rows[0] as { data_directory: string }).data_directory === data
    }
    // The processes of a killed server take a moment to end; until then another one does not start.
    const startAgain = () =>
      eventually(`the server at ${port} starts again`, () => server.start(isOurs).then(() => true))
    try {
      await server.start(isOurs)
    } catch (error) {
      await client.end()
      throw error
    }
    pools.add(client)
    ends.add(() => server.end("SIGQUIT"))
    return {
      port,
      url,
      folder: own,
      client,
      start: async () => void (await startAgain()),
      kill: () => server.end("SIGKILL"),
      stop: () => server.end("SIGINT"),
    }
  }

  const withPort = async <A>(attempt: () => Promise<A>): Promise<A> => {
    for (let left = mostPorts; ; left--) {
      try {
        return await attempt()
      } catch (error) {
        if (left === 1 || bin === undefined) throw error
      }
    }
  }

  /** Starts a PgBouncer in transaction mode in front of a server. */
  const tryBouncer = async (to: Postgres): Promise<Bouncer> => {
    if (bouncerProgram === undefined) throw new Error(`MEMFOLD_PGBOUNCER names no pgbouncer; ${advice}`)
    const port = await freePort()
    const own = give(mkdtempSync(join(folder, "bouncer-")))
    // Only the bouncer of this test knows a database of this name.
    const database = `db_${randomUUID().replaceAll("-", "")}`
    writeFileSync(
      join(own, "pgbouncer.ini"),
      `[databases]
${database} = host=127.0.0.1 port=${to.port} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(own, "users.txt")}
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
server_login_retry = 1
logfile = ${join(own, "log")}
`,
    )
    writeFileSync(join(own, "users.txt"), `"memfold" ""\n"ann" ""\n"bob" ""\n`)
    for (const file of ["pgbouncer.ini", "users.txt"]) chmodSync(give(join(own, file)), 0o600)
    const url = `postgres://memfold@127.0.0.1:${port}/${database}`
    const bouncer = processOf(bouncerProgram, [join(own, "pgbouncer.ini")], own)
    await bouncer.start(async () => {
      const client = new Client({ connectionString: url })
      client.on("error", () => {})
      await client.connect()
      await client.end()
      return true
    })
    ends.add(() => bouncer.end("SIGKILL"))
    return { url }
  }

  return {
    server: (options: PostgresOptions = {}) => withPort(() => tryServer(options)),
    bouncer: (to: Postgres) => withPort(() => tryBouncer(to)),
    folder,
  }
}
