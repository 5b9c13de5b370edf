/**
 * `npm run example -- effect-ai`: 100 turns of an agent of Effect AI with tools on one session. In the middle its process is killed
 * while a tool runs, and another one goes on. Offline, against a local server that is as strict as Anthropic's API; with
 * `ANTHROPIC_API_KEY` set, against the API itself.
 */
import { restarted } from "../shared/restart.js"
import { turns, work } from "./worker.js"

await restarted(import.meta.url, {
  turns,
  key: "ANTHROPIC_API_KEY",
  addressOf: ({ anthropicURL }) => anthropicURL,
  work,
})
