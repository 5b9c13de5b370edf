/** A chat in the terminal: `npm start`, and `npm start -- NAME` for a session of another name. */
import { createInterface } from "node:readline/promises"
import { stdin, stdout } from "node:process"
import { createMemory } from "memfold"
import { complete, modelName, reply } from "./model.js"

const session = process.argv[2] ?? "me"
const memory = createMemory({ store: "sqlite:chats.db", summarizer: complete })

const { total } = await memory.messages(session)
console.log(`${modelName}; session "${session}" has ${total} messages. An empty line ends the chat.`)

const terminal = createInterface({ input: stdin, output: stdout })
stdout.write("> ")
for await (const line of terminal) {
  const text = line.trim()
  if (text === "") break
  await memory.append(session, { role: "user", content: text })
  const { messages, tokens } = await memory.context(session)
  let answer = ""
  for await (const piece of reply(messages)) {
    answer += piece
    stdout.write(piece)
  }
  await memory.append(session, { role: "assistant", content: answer })
  stdout.write(`\n(${tokens} tokens sent)\n> `)
}
terminal.close()
await memory.close()
