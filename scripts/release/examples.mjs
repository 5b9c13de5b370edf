/** The first block of each README: what it needs, and how it is run. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { packages, readme } from "./packages.mjs"
import { freePort } from "./ports.mjs"

/** The first block of each README, and what it says to install. */
export const examples = packages.map(({ folder: source, manifest: { name } }) => ({
  name,
  ...readme(source),
}))

/** READMEs whose first block is compiled, and not run. */
export const notRun = {
  "@memfold/store-redis": "needs a Redis server",
  "@memfold/sqlite-vec": "declares the model that it calls",
  "@memfold/store-cloudflare": "is a Worker",
  "@memfold/worker-bullmq": "needs a Redis server",
  "@memfold/worker-cluster": "needs a PostgreSQL server",
  "@memfold/worker-pg-boss": "needs a PostgreSQL server",
}

/** Ports that blocks name. Each is the free one here: only one service runs at a time. */
const ports = [4710, 4711]
const port = await freePort()

/** Blocks that serve until they are ended: what is asked of each, and the status of the answer. */
const serving = {
  "@memfold/proxy": { path: "/", status: 404 },
  "@memfold/server": { path: "/openapi.json", status: 200 },
  "@memfold/studio": { path: "/studio/", status: 200 },
}

/** The block of `@memfold/mcp` serves until its client goes away: this is what the client says, and a part of the answer. */
const hello = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "release", version: "1" },
  },
})
const answer = '"serverInfo"'

/** A static model of two words, in the files of model2vec. */
const model = () => {
  const vocab = { "[UNK]": 0, car: 1, vehicle: 2 }
  const vectors = Float32Array.of(0, 1, 1, 0, 1, 0.25)
  const header = JSON.stringify({
    embeddings: { dtype: "F32", shape: [3, 2], data_offsets: [0, vectors.byteLength] },
  })
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return {
    "model.safetensors": Buffer.concat([length, Buffer.from(header), Buffer.from(vectors.buffer)]),
    "tokenizer.json": JSON.stringify({
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: { type: "Whitespace" },
      post_processor: null,
      decoder: null,
      model: { type: "WordLevel", unk_token: "[UNK]", vocab },
    }),
  }
}

/** Files that blocks read. */
const files = {
  "chat.jsonl": `${JSON.stringify({ role: "user", content: "Hello" })}\n`,
  ...Object.fromEntries(
    Object.entries(model()).map(([name, content]) => [`potion-base-8M/${name}`, content]),
  ),
}

/** The module of a block, without its ending. A test runner finds tests by their names. */
const moduleOf = (name) =>
  `${name.replace("@", "").replace("/", "-")}${name === "@memfold/testing" ? ".test" : ""}`

/** Writes the blocks into a project, and what they read. */
export const writeExamples = (folder) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  for (const { name, code } of examples) {
    if (code === undefined) continue
    const here = ports.reduce((text, one) => text.replaceAll(`${one}`, `${port}`), code)
    writeFileSync(join(folder, `${moduleOf(name)}.ts`), `${here}\nexport {}\n`)
  }
}

/** Starts a program that serves, asks it once it listens, and ends it. */
const whileServing = async ([program, ...args], options, ask) => {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
  const said = []
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => said.push(part))
  const ended = once(child, "close")
  const stop = () => child.kill("SIGKILL")
  process.on("exit", stop)
  try {
    for (let tries = 0; tries < 240 && child.exitCode === null && child.signalCode === null; tries++) {
      const listens = await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
      if (listens) return await ask()
      await sleep(250)
    }
    return { ok: false, out: `does not serve at port ${port}\n${said.join("")}` }
  } finally {
    child.kill("SIGTERM")
    const late = setTimeout(stop, 10_000)
    await ended
    clearTimeout(late)
    process.off("exit", stop)
  }
}

/**
 * Runs the compiled first block of a README: by a command, which is a runtime with its options.
 *
 * @returns whether it did what it is for, and what it said
 */
export const runExample = async (folder, name, command, env) => {
  const file = `out/${moduleOf(name)}.js`
  const run = (args, { input, timeout = 120_000 } = {}) => {
    const options = { cwd: folder, encoding: "utf8", timeout, env, input, maxBuffer: 1e8 }
    const { status, stdout, stderr, error } = spawnSync(command[0], [...command.slice(1), ...args], options)
    return { ok: status === 0, out: `${stdout}${stderr}${error === undefined ? "" : String(error)}` }
  }
  if (name in serving) {
    const { path, status } = serving[name]
    return whileServing([...command, file], { cwd: folder, env }, async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      const out = `${path} answers with ${response.status}`
      await response.body?.cancel()
      return { ok: response.status === status, out }
    })
  }
  switch (name) {
    case "@memfold/client": {
      const serve = [
        "node_modules/memfold/bin/memfold.js",
        "serve",
        "--store",
        "memory:",
        "--port",
        `${port}`,
      ]
      // Not by `run`, which would keep this process from reading what the service says.
      return whileServing([...command, ...serve], { cwd: folder, env }, () => run([file]))
    }
    case "@memfold/mcp": {
      const { ok, out } = run([file], { input: `${hello}\n` })
      return { ok: ok && out.includes(answer), out }
    }
    case "@memfold/testing":
      // Bun does not start Vitest's pool of processes.
      return run(["node_modules/vitest/vitest.mjs", "run", "--pool=threads", file], { timeout: 180_000 })
    case "create-memfold":
      rmSync(join(folder, "my-chat"), { recursive: true, force: true })
      return run([file])
    default:
      return run([file])
  }
}
