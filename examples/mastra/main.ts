/**
 * `npm run example -- mastra`: 100 turns of an agent of Mastra with tools on one session. In the middle its process is killed
 * while a tool runs, and another one goes on. Offline, against a local server that is as strict as OpenAI's API; with
 * `OPENAI_API_KEY` set, against the API itself.
 */
import { restarted } from "../shared/restart.js"
import { turns, work } from "./worker.js"

await restarted(import.meta.url, {
  turns,
  key: "OPENAI_API_KEY",
  addressOf: ({ openaiURL }) => openaiURL,
  work,
})
