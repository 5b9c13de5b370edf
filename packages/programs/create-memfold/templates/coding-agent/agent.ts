/** A coding agent in the terminal: `npm start -- "the task"`. It works in the folder `project`, and its session goes on. */
import { aiSdk } from "@memfold/ai-sdk"
import { stepCountIs, streamText } from "ai"
import { createMemory, SplitTurn } from "memfold"
import { complete, model, modelName } from "./model.js"
import { tools } from "./tools.js"

const instructions =
  "You are a coding agent. Look at the project with your tools before you change it, run its tests after a change, and say in one sentence what you did."

const task = process.argv.slice(2).join(" ") || "Add a function that multiplies two numbers, with a test."
const memory = createMemory({
  store: "sqlite:agent.db",
  summarizer: complete,
  // A summary names the files that were read and changed. The newest turns stay as they are, and a long turn is split.
  strategy: SplitTurn({ contextLimit: 128_000 }),
})
const chat = aiSdk(memory).session("project", { instructions })

console.log(`${modelName}\n\n> ${task}\n`)
const context = await chat.messages(task)
const result = streamText({ model, tools, ...context, ...chat.callbacks, stopWhen: stepCountIs(40) })
for await (const part of result.fullStream) {
  if (part.type === "text-delta") process.stdout.write(part.text)
  if (part.type === "tool-call") console.log(`- ${part.toolName} ${JSON.stringify(part.input).slice(0, 100)}`)
  if (part.type === "error") throw part.error
}
const { tokens } = await memory.context("project")
console.log(
  `\n\n(${tokens} tokens of context; \`npx memfold events project --store sqlite:agent.db\` shows the session)`,
)
await memory.close()
