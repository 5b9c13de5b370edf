/** A registry on this machine, for as long as a release is tried: Verdaccio, in front of the registry that npm uses. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Newer ones need Node 22. */
const verdaccio = "verdaccio@6.8.0"

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address()
  server.close()
  await once(server, "close")
  return port
}

const configuration = (uplink) => ({
  storage: "./storage",
  uplinks: { npm: { url: uplink, timeout: "60s", max_fails: 20 } },
  packages: {
    // Only what is published here: never a package of this name from elsewhere.
    memfold: { access: "$all", publish: "$all" },
    "@memfold/*": { access: "$all", publish: "$all" },
    "**": { access: "$all", proxy: "npm" },
  },
  log: { type: "stderr", format: "pretty", level: "error" },
})

/** Starts the registry. Resolves with its URL, and with what ends it. */
export const startRegistry = async (folder) => {
  mkdirSync(folder, { recursive: true })
  const uplink = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).stdout.trim()
  const port = await freePort()
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(configuration(uplink)))
  const args = ["--yes", verdaccio, "--config", "config.yaml", "--listen", `127.0.0.1:${port}`]
  const child = spawn("npx", args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], detached: true })
  const url = `http://127.0.0.1:${port}/`
  const stop = () => {
    // npx, and what it has started.
    if (child.exitCode === null) process.kill(-child.pid)
  }
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`${verdaccio} ended with ${child.exitCode}`)
    const answers = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answers) return { url, stop }
    await sleep(500)
  }
  stop()
  throw new Error(`${verdaccio} does not answer`)
}
