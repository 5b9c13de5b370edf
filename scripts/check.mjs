/** `npm run check`: types, lint and boundaries, format, tests; the one command before a commit. */
import { run, setup, tool } from "./setup.mjs"

await setup()
const steps = [
  ["types", tool("tsc"), ["-p", "tsconfig.test.json"]],
  ["lint and boundaries", tool("oxlint"), ["--deny-warnings"]],
  ["format", tool("oxfmt"), ["--check"]],
  ["tests", process.execPath, ["scripts/test.mjs"]],
]
for (const [name, command, args] of steps) {
  process.stderr.write(`memfold: ${name}\n`)
  const code = await run(command, args, { stdio: "inherit" })
  if (code !== 0) {
    process.stderr.write(`memfold: ${name} failed\n`)
    process.exit(code)
  }
}
process.stderr.write("memfold: all checks passed\n")
