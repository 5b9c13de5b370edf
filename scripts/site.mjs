/**
 * `npm run site`: sets up what is missing, generates the reference of the API, and builds the documentation site into
 * `site/dist`. `npm run site:dev` serves the pages while they are edited; `npm run site -- --no-api` builds without the reference.
 */
import { join } from "node:path"
import { root, run, setup } from "./setup.mjs"

await setup()
const folder = join(root, "site")
const asked = new Set(process.argv.slice(2))
const serves = asked.has("dev")

/** Runs a program of the site, and ends with its exit code if that is not 0. */
const site = async (name, ...args) => {
  const code = await run(join(folder, "node_modules/.bin", name), args, { cwd: folder, stdio: "inherit" })
  if (code !== 0) process.exit(code)
}

if (!serves && !asked.has("--no-api")) await site("typedoc", "--options", "typedoc.config.js")
await site("vitepress", serves ? "dev" : "build")
