/** A registry on this machine, for as long as a release is tried: Verdaccio, in front of the registry that npm uses. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** The registry's program: newer ones need Node 22. It asks for a tag of one library that not every mirror has. */
const program = {
  private: true,
  dependencies: { verdaccio: "6.8.0" },
  overrides: { "node-fetch": "2.7.0" },
}

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
    "create-memfold": { access: "$all", publish: "$all" },
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
  writeFileSync(join(folder, "package.json"), JSON.stringify(program))
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  })
  if (installed.status !== 0) throw new Error("Verdaccio cannot be installed")
  const args = ["node_modules/verdaccio/bin/verdaccio", "--config", "config.yaml"]
  const child = spawn(process.execPath, [...args, "--listen", `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  })
  const url = `http://127.0.0.1:${port}/`
  const stop = () => {
    child.kill()
  }
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`Verdaccio ended with ${child.exitCode}`)
    const answers = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answers) return { url, stop }
    await sleep(500)
  }
  stop()
  throw new Error("Verdaccio does not answer")
}
