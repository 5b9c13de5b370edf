/** The command `memfold-mcp`: opens a store and serves it. Standard output carries the protocol, and nothing else. */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { createMemory, type CreateOptions, defaultStrategy, storeForms } from "memfold"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { nameOf } from "./failure.js"
import { serveHttp } from "./http.js"
import { memoryServer } from "./server.js"

const help = `memfold-mcp STORE [options]

Serves the conversations of a store to MCP clients, over stdio.

  STORE              ${storeForms.join(", ")};
                     memory: is lost at the end
  --strategy NAME    when to compact, and what stays: ${defaultStrategy} (default), rounds, …
  --guard KINDS      what is left out before anything is stored, by @memfold/guard: secrets,cards,ibans,emails,phones
  --read-only        only the tools that change nothing
  --http PORT        over HTTP instead, at http://127.0.0.1:PORT/mcp
  --host ADDRESS     the address to listen on; there is no log-in
  --allow-host NAME  a host name that requests may have; may be repeated
  --help, --version

Settings of the strategy are environment variables, such as MEMFOLD_FULL_CONTEXT_TURNS.
`

// A server goes on whose log nobody reads. Over stdio, the transport ends when nobody reads the answers.
process.stderr.on("error", () => undefined)

const say = (text: string): void => void process.stderr.write(`memfold-mcp: ${text}\n`)

const onError = (error: Error): void => say(`a request was not served: ${nameOf(error)}`)

const versionOf = (): string =>
  (
    JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      readonly version: string
    }
  ).version

const portOf = (text: string): number => {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new RangeError("--http takes a port, a number from 0 to 65535")
  }
  return port
}

const parsed = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      strategy: { type: "string" },
      guard: { type: "string" },
      "read-only": { type: "boolean", default: false },
      http: { type: "string" },
      host: { type: "string" },
      "allow-host": { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
      version: { type: "boolean", default: false },
    },
  })

/** The guard for the kinds of an option: its package is one that only its users install. */
const guardOf = async (kinds: string | undefined): Promise<Pick<CreateOptions, "beforeAppend">> => {
  if (kinds === undefined) return {}
  const name = "@memfold/guard"
  const { guard } = await import(name).catch(() => {
    throw new RangeError(`--guard needs the package ${name}; install it`)
  })
  return { beforeAppend: guard({ kinds: kinds.split(",").map((kind) => kind.trim()) }) }
}

const asked = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve())
  })

/**
 * Resolves when the connection has ended: `true` if the client ended it, by the end of standard input. The transport ends it
 * when a line is too long for it, and when nobody reads standard output.
 */
const disconnected = (transport: StdioServerTransport): Promise<boolean> =>
  new Promise((resolve) => {
    const close = transport.onclose
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has one listener, and no such method
    transport.onclose = () => {
      close?.()
      resolve(process.stdin.readableEnded || process.stdin.destroyed)
    }
  })

/** The connection has ended, and the client did not end it. */
class Disconnected extends Error {
  constructor() {
    super("the connection has ended: a line was too long, or nobody reads the answers")
  }
}

const main = async (): Promise<void> => {
  const { values, positionals } = parsed()
  if (values.help) return void process.stdout.write(help)
  if (values.version) return void process.stdout.write(`${versionOf()}\n`)
  const [store, ...others] = positionals
  if (store === undefined || others.length > 0) {
    throw new RangeError("name one store, such as sqlite:memory.db; --help says more")
  }
  const { strategy, guard, http, host, "read-only": readOnly, "allow-host": allowedHosts } = values
  if (http === undefined && (host !== undefined || allowedHosts.length > 0)) {
    throw new RangeError("--host and --allow-host are for --http PORT")
  }
  await using opened = createMemory({
    store,
    logger: "warning",
    ...(strategy === undefined ? {} : { strategy }),
    ...(await guardOf(guard)),
  })
  const { USER, USERNAME } = process.env
  const memory = opened.as({ id: USER || USERNAME || "memfold-mcp", via: "mcp" })
  // A store that cannot be opened is known now, and not at the first call.
  await memory.sessions()[Symbol.asyncIterator]().next()
  const options = { readOnly, version: versionOf() }
  if (http === undefined) {
    const transport = new StdioServerTransport()
    const serving = serveStdio(() => memoryServer(memory, options), { transport, onerror: onError })
    const isDone = await Promise.race([asked().then(() => true), disconnected(transport)])
    await serving.close()
    if (!isDone) throw new Disconnected()
    return
  }
  const serving = await serveHttp(memory, {
    ...options,
    port: portOf(http),
    ...(host === undefined ? {} : { host }),
    allowedHosts,
    onError,
  })
  // Whoever reads that it listens may end it at once.
  const end = asked()
  say(`listening at ${serving.url}`)
  await end
  await serving.close()
}

try {
  await main()
} catch (error) {
  say(error instanceof Error ? error.message : nameOf(error))
  process.exitCode = error instanceof Disconnected ? 1 : 2
}
