/**
 * The pages that one begins with, followed as they are written: in an empty folder, with an empty home, by a package manager and a
 * Node. What a page says to install is installed, its block is saved under the name that it gives, and its command is typed. Models
 * are played by the strict provider server.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { requireRuntimes } from "../runtimes.mjs"
import { root } from "../setup.mjs"
import { headers } from "./consumer.mjs"
import { pnpm } from "./prepare.mjs"

/** What a page says to type. */
const pageOf = (document) => {
  const text = readFileSync(join(root, document), "utf8")
  const [, block = ""] = /^```sh\n([\s\S]*?)^```$/mu.exec(text) ?? []
  const [, file, command] = /save this as\s`([^`]+)`, and run it with\s`([^`]+)`/u.exec(text) ?? []
  const [, code, printed] = /^```ts\n([\s\S]*?)^```$[\s\S]*?^```text\n([\s\S]*?)^```$/mu.exec(text) ?? []
  const [forNode20] = /(?<=^On Node 20, .*?`)npm install [^`]+/mu.exec(text) ?? []
  const typed = block
    .replaceAll(/\\\n\s*/gu, "")
    .trim()
    .split("\n")
  const installs = typed.filter((line) => line.startsWith("npm install"))
  return {
    document,
    installs,
    forNode20,
    serves: typed.find((line) => !installs.includes(line)),
    file,
    command,
    code,
    printed,
  }
}

const pages = readdirSync(join(root, "docs/start"))
  .map((name) => pageOf(`docs/start/${name}`))
  .filter(({ file }) => file !== undefined)

/** Compiles a driver where none can be loaded that was built before: npm brings its own, and pnpm does not find the one that it has. */
const nodeGyp = join(root, "node_modules/pnpm/dist/node-gyp-bin")

/** A line as whoever uses the manager types it, where nobody can be asked. */
const inManager = {
  npm: (line) => line.replace(/^npx (?!memfold)/u, "npx --yes "),
  pnpm: (line) =>
    line
      .replace(/^npm install/u, `${pnpm} add --config.strict-dep-builds=false --allow-build=better-sqlite3`)
      .replace(/^npx memfold/u, `${pnpm} exec memfold`)
      .replace(/^npx/u, `${pnpm} dlx --allow-build=esbuild`),
}

/** Runs a line in a shell. Resolves with whether it ended well, and what it said; `out` is on standard output. */
const run = async (line, options) => {
  const child = spawn("sh", ["-c", line], { ...options, timeout: 600_000, stdio: ["ignore", "pipe", "pipe"] })
  const [out, err] = [[], []]
  child.stdout.on("data", (part) => out.push(part))
  child.stderr.on("data", (part) => err.push(part))
  const [code] = await once(child, "close")
  return { ok: code === 0, out: out.join(""), said: `${line}\n${out.join("")}${err.join("")}` }
}

/** Runs `use`, which resolves with what went wrong or `null`, while a line serves. What the line says is told with what went wrong. */
const whileServing = async (line, options, use) => {
  if (line === undefined) return use()
  const child = spawn("sh", ["-c", `exec ${line}`], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  const ended = once(child, "close")
  const said = []
  const serving = new Promise((resolve) => {
    for (const output of [child.stdout, child.stderr])
      output.on("data", (part) => {
        said.push(part)
        if (said.join("").includes(options.env.MEMFOLD_SERVICE)) resolve()
      })
  })
  try {
    await Promise.race([serving, ended])
    const failure = child.exitCode === null ? await use() : "the service has ended"
    return failure && `${failure}\n${line}\n${said.join("")}`
  } finally {
    if (child.exitCode === null) process.kill(-child.pid)
    await ended
  }
}

/** Follows one page. Resolves with what went wrong, or `null`. */
const follow = async (page, { folder, manager, node, registry, provider }) => {
  const [home, cwd] = [join(folder, "home"), join(folder, "chat")]
  rmSync(folder, { recursive: true, force: true })
  for (const one of [home, cwd]) mkdirSync(one, { recursive: true })
  writeFileSync(join(home, ".npmrc"), `registry=${registry}\n`)
  const typed = inManager[manager]
  const env = {
    PATH: [dirname(node.program), nodeGyp, process.env.PATH].join(delimiter),
    HOME: home,
    ...headers,
    // What was loaded for the page before need not be loaded again.
    npm_config_cache: join(folder, "../pages-cache"),
    npm_config_store_dir: join(folder, "../pages-store"),
    npm_config_minimum_release_age: "0",
    FORCE_COLOR: "0",
    OPENAI_API_KEY: "none",
    ANTHROPIC_API_KEY: "none",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
    MEMFOLD_PROVIDERS: provider,
    MEMFOLD_SERVICE: "http://127.0.0.1:4710",
  }
  const options = { cwd, env }
  const installs = [...page.installs, ...(node.name === "node-20" ? [page.forNode20] : [])]
  for (const line of installs.filter((line) => line !== undefined)) {
    const { ok, said } = await run(typed(line), options)
    if (!ok) return said
  }
  writeFileSync(join(cwd, page.file), page.code)
  const redirect = pathToFileURL(join(root, "site/src/redirect.mjs"))
  const service = page.serves && typed(page.serves.replace(/https:\S+/u, provider))
  return whileServing(service, options, async () => {
    // Only the program is redirected: the manager asks its registry.
    const line = typed(page.command).replace(/tsx (\S+)$/u, `tsx --import ${redirect} $1`)
    const { ok, out, said } = await run(line, options)
    return ok && out.endsWith(page.printed) ? null : said
  })
}

const Nodes = ["node-24", "node-22", "node-20"]

/** Follows all pages, or those whose name has a text, with each manager and Node. Returns what failed. */
export const tryPages = async (parent, registry, only = "", say) => {
  const { providerServer, scripted } = await import("@memfold/strict-providers")
  const failures = []
  for (const node of requireRuntimes(Nodes).toReversed())
    for (const manager of Object.keys(inManager))
      for (const page of pages.filter((one) => one.document.includes(only))) {
        const server = await providerServer({
          answer: scripted([{ text: "Noted." }, { text: "KX-4471." }]),
        })
        const began = performance.now()
        const provider = server.anthropicURL
        const options = { folder: join(parent, "page"), manager, node, registry, provider }
        const failure = await follow(page, options)
        await server.close()
        const took = `${Math.round((performance.now() - began) / 1000)} s`
        const what = `${page.document}, ${manager}, ${node.name}`
        say(`${what}: ${failure === null ? "as it says" : "failed"}, ${took}`)
        if (failure !== null) failures.push(`${what}\n${failure.slice(-3_000)}`)
      }
  return failures
}
