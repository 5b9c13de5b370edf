/**
 * `npm run example -- langchain`: 100 turns of an agent of LangChain with tools on one session. In the middle its process is killed
 * while a tool runs, and another one goes on. Offline, against a local server that is as strict as Anthropic's API; with
 * `ANTHROPIC_API_KEY` set, against the API itself.
 */
import { fileURLToPath } from "node:url"
import { killedInTheMiddle } from "../killedInTheMiddle.js"
import { turns, work } from "./worker.js"

const [, , task, address = "", file = "", from = "1"] = process.argv
if (task === "work") await work(address, file, Number(from))
else {
  const program = fileURLToPath(import.meta.url)
  const succeeded = await killedInTheMiddle(program, turns, ({ anthropicURL }) => anthropicURL)
  process.exitCode = succeeded ? 0 : 1
}
