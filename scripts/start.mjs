/** `npm start`: sets up what is missing, then the tour; with arguments, the command line itself. */
import { join } from "node:path"
import { root, run, setup } from "./setup.mjs"

await setup()
const args = process.argv.slice(2)
process.exitCode = await run(
  process.execPath,
  [join(root, "packages/programs/memfold/bin/memfold.js"), ...(args.length === 0 ? ["tour"] : args)],
  // Files are named from where the command was typed.
  { cwd: process.env.INIT_CWD ?? root, stdio: "inherit", shell: false },
)
