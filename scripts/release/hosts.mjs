/**
 * Applications as hosts build them: Next.js with the route of its page, SvelteKit, Hono and Express in one file, and a function like
 * that of Lambda in a folder without packages. Each is built by its own bundler, started, and asked for an answer.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { providerServer, scripted } from "@memfold/strict-providers"
import { requireRuntimes } from "../runtimes.mjs"
import { root } from "../setup.mjs"
import { freePort } from "./ports.mjs"

/** The route of the page on Next.js. */
const nextRoute = () =>
  /^```ts\n([\s\S]*?)^```$/mu.exec(readFileSync(join(root, "docs/start/next.md"), "utf8"))[1]

/** A turn with a store in a file, and what is said where a package is missing. */
const answering = `import { createMemory } from "memfold"
const memory = createMemory({ store: "sqlite:chats.db" })
export const answer = async (text) => {
  await memory.append("chat-1", { role: "user", content: text })
  const { messages } = await memory.context("chat-1")
  const other = createMemory({ store: "libsql://127.0.0.1:1" })
  const { name } = await other.context("s").catch((error) => error)
  await other.close()
  return { last: messages.at(-1).content, name }
}
`
const answered = '{"last":"KX-4471","name":"MissingPackage"}'
const esbuild = "npx esbuild main.mjs --bundle --platform=node --log-level=error"

/** Applications: what they install, their files, how they are built and started, and how they are asked. */
const hosts = {
  next: {
    install:
      "next react react-dom typescript@5 @types/node @types/react @memfold/ai-sdk memfold ai @ai-sdk/anthropic effect@3",
    files: () => ({
      "app/layout.tsx":
        "export default ({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>\n",
      "app/page.tsx": "export default () => <p>chat</p>\n",
      "app/api/chat/route.ts": nextRoute(),
    }),
    build: ["npx next build"],
    start: "npx next start",
    path: "/api/chat",
    body: {
      id: "chat-1",
      trigger: "submit-message",
      messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "My order is KX-4471." }] }],
    },
    expected: '"type":"text-delta"',
  },
  sveltekit: {
    install: "vite @sveltejs/kit @sveltejs/adapter-node svelte @sveltejs/vite-plugin-svelte memfold",
    files: () => ({
      "vite.config.js":
        'import { sveltekit } from "@sveltejs/kit/vite"\nimport adapter from "@sveltejs/adapter-node"\nexport default { plugins: [sveltekit({ adapter: adapter() })] }\n',
      "src/app.html": "<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n",
      "src/answer.js": answering,
      "src/routes/chat/+server.js":
        'import { answer } from "../../answer.js"\nexport const POST = async ({ request }) => Response.json(await answer(await request.json()))\n',
    }),
    build: ["npx vite build"],
    start: "node build/index.js",
    path: "/chat",
  },
  hono: {
    install: "hono @hono/node-server esbuild memfold",
    files: () => ({
      "main.mjs": `import { serve } from "@hono/node-server"\nimport { Hono } from "hono"\n${answering}
serve({ fetch: new Hono().post("/", async (c) => c.json(await answer(await c.req.json()))).fetch, port: Number(process.env.PORT) })\n`,
    }),
    build: [
      `${esbuild} --format=esm --outfile=out/main.mjs --banner:js="import{createRequire}from'node:module';const require=createRequire(import.meta.url);"`,
    ],
    start: "node out/main.mjs",
  },
  express: {
    install: "express webpack webpack-cli memfold",
    files: () => ({
      "main.mjs": `import express from "express"\n${answering}
express().use(express.json({ strict: false })).post("/", async (req, res) => res.json(await answer(req.body))).listen(Number(process.env.PORT))\n`,
    }),
    build: ["npx webpack ./main.mjs --target node --mode none --output-path out --output-filename main.cjs"],
    start: "node out/main.cjs",
  },
  lambda: {
    install: "esbuild memfold",
    files: () => ({
      "main.mjs": `${answering}\nexport const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(await answer(event)) })\n`,
      // What the platform does with the file that it is given.
      "platform.cjs": `const { handler } = require("./main.cjs")
require("node:http").createServer(async (request, response) => {
  let text = ""
  for await (const part of request) text += part
  response.end((await handler(JSON.parse(text))).body)
}).listen(Number(process.env.PORT))\n`,
    }),
    build: [`${esbuild} --format=cjs --minify --outfile=out/main.cjs`, "cp platform.cjs out/platform.cjs"],
    start: "node platform.cjs",
    alone: "out",
  },
}

/** Builds an application, starts it and asks it. Returns what went wrong, or `null`. */
const tryHost = async (host, { folder, registry, node }) => {
  const { install, files, build, start, path = "/", body = "KX-4471", expected = answered, alone } = host
  const cwd = join(folder, "app")
  rmSync(folder, { recursive: true, force: true })
  for (const [name, text] of Object.entries(files())) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "app", private: true, type: "module" }))
  writeFileSync(join(cwd, ".npmrc"), `registry=${registry}\n`)
  const server = await providerServer({ answer: scripted([{ text: "Noted." }]) })
  const port = await freePort()
  const env = {
    ...process.env,
    PATH: `${dirname(node.program)}${delimiter}${process.env.PATH}`,
    PORT: String(port),
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: `${server.anthropicURL}/v1`,
    NEXT_TELEMETRY_DISABLED: "1",
    NODE_PATH: undefined,
  }
  for (const line of [`npm install --no-audit --no-fund ${install}`, ...build]) {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line], {
      cwd,
      env,
      encoding: "utf8",
      timeout: 900_000,
    })
    if (status !== 0) return `${line}\n${stdout}${stderr}`
  }
  // A folder that has the bundle and nothing else.
  const place = alone === undefined ? cwd : join(folder, "alone")
  if (alone !== undefined) cpSync(join(cwd, alone), place, { recursive: true })
  const child = spawn("sh", ["-c", `exec ${start}`], {
    cwd: place,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  const said = []
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => said.push(part))
  const ended = once(child, "close")
  try {
    for (let tries = 0; tries < 120 && child.exitCode === null; tries++) {
      const ask = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }
      const text = await fetch(`http://127.0.0.1:${port}${path}`, ask).then(
        (response) => response.text(),
        () => undefined,
      )
      if (text !== undefined)
        return text.includes(expected) ? null : `it answers ${text.slice(0, 500)}\n${said.join("")}`
      await sleep(250)
    }
    return `it does not serve\n${said.join("")}`
  } finally {
    if (child.exitCode === null) process.kill(-child.pid)
    await ended
    await server.close()
  }
}

/** Tries all hosts, or one. Returns what failed. */
export const tryHosts = async (parent, registry, only, say) => {
  const [node] = requireRuntimes(["node-24"])
  const failures = []
  for (const [name, host] of Object.entries(hosts).filter(([one]) => only === undefined || one === only)) {
    const began = performance.now()
    const failure = await tryHost(host, { folder: join(parent, "host"), registry, node })
    const took = `${Math.round((performance.now() - began) / 1000)} s`
    say(`${name}: ${failure === null ? "is built, and answers" : "failed"}, ${took}`)
    if (failure !== null) failures.push(`${name}\n${failure.slice(-3_000)}`)
  }
  return failures
}
