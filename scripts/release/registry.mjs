/**
 * A registry on this machine, for as long as a release is tried: Verdaccio, in front of the registry that npm uses. Its program, its
 * port and what it has fetched are kept, so that package managers find their caches again.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./ports.mjs"
import { must, pnpm } from "./prepare.mjs"

/** The registry's program: newer ones need Node 22. It asks for a tag of one library that not every mirror has. */
const manifest = {
  private: true,
  dependencies: { verdaccio: "6.8.0" },
  overrides: { "node-fetch": "2.7.0" },
}

const portIn = (file) => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)

const configuration = (uplink) => ({
  storage: "./storage",
  uplinks: { npm: { url: uplink, timeout: "60s", max_fails: 20 } },
  packages: {
    // Only what is published here: never a package of this name from elsewhere.
    memfold: { access: "$all", publish: "$all" },
    "create-memfold": { access: "$all", publish: "$all" },
    "@memfold/*": { access: "$all", publish: "$all" },
    "**": { access: "$all", proxy: "npm" },
  },
  log: { type: "stderr", format: "pretty", level: "error" },
})

/** Publishes tarballs, in the place of what was published before. */
const publish = (folder, url, tarballs) => {
  for (const name of ["@memfold", "memfold", "create-memfold"])
    rmSync(join(folder, "storage", name), { recursive: true, force: true })
  // Anyone may publish there, but the client asks for a token.
  writeFileSync(join(folder, ".npmrc"), `//${new URL(url).host}/:_authToken=none\n`)
  for (const { file } of tarballs)
    must(pnpm, ["publish", file, "--registry", url, "--no-git-checks"], { cwd: folder })
}

/**
 * Starts the registry, and publishes a release there.
 *
 * @returns its URL, and what ends it
 */
export const startRegistry = async (folder, { tarballs, isNew }) => {
  mkdirSync(folder, { recursive: true })
  const uplink = must("npm", ["config", "get", "registry"]).trim()
  const port = await freePort(portIn(join(folder, "port")))
  const url = `http://127.0.0.1:${port}/`
  writeFileSync(join(folder, "port"), String(port))
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(configuration(uplink)))
  const verdaccio = join(folder, "node_modules/verdaccio/bin/verdaccio")
  if (!existsSync(verdaccio)) {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
    must("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder })
  }
  const published = join(folder, "published")
  if (isNew) rmSync(published, { force: true })
  const child = spawn(
    process.execPath,
    [verdaccio, "--config", "config.yaml", "--listen", `127.0.0.1:${port}`],
    {
      cwd: folder,
      stdio: ["ignore", "ignore", "ignore"],
    },
  )
  const stop = () => {
    child.kill()
  }
  // An interrupted run leaves no server behind.
  process.on("exit", stop)
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`Verdaccio ended with ${child.exitCode}`)
    const answers = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answers) {
      if (!existsSync(published)) publish(folder, url, tarballs)
      writeFileSync(published, "")
      return { url, stop }
    }
    await sleep(500)
  }
  stop()
  throw new Error("Verdaccio does not answer")
}
