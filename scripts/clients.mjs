/**
 * `npm run clients [-- NAME…]`: sets up what is missing, and runs coding agents through the proxy. The agents come from npm, at the
 * versions of `clients/package.json`, into the user's folder for caches (`XDG_CACHE_HOME`): they are large, and nothing of them belongs to
 * the repository. Installing them is accepting their licences.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { say, succeeds } from "./install.mjs"
import { root, run, setup } from "./setup.mjs"

const manifest = readFileSync(join(root, "scripts/clients/package.json"), "utf8")
const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "memfold", "clients")
const stamp = join(folder, "installed")

/** What packages do after their installation, which npm may not do by itself: each puts the program of this system in its place. */
const afterwards = { "@anthropic-ai/claude-code": "install.cjs", "opencode-ai": "postinstall.mjs" }

const install = () => {
  say("installing coding agents from npm, which takes minutes")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), manifest)
  return (
    succeeds("npm", ["install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"], {
      cwd: folder,
    }) &&
    Object.entries(afterwards).every(([name, script]) =>
      succeeds(process.execPath, [script], { cwd: join(folder, "node_modules", name) }),
    )
  )
}

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== manifest) {
  if (!install()) {
    say("the agents could not be installed; npm's output is above")
    process.exit(2)
  }
  writeFileSync(stamp, manifest)
}
await setup()
process.exitCode = await run(
  process.execPath,
  [join(root, "bench/dist/clients/index.js"), ...process.argv.slice(2)],
  { stdio: "inherit", shell: false, env: { MEMFOLD_CLIENTS: folder } },
)
