/**
 * A process that goes on with a chat and dies, as `kill -9` ends it: once a turn is over, or while the model answers. `kills.ts`
 * starts it: a library, the place of a neighbour among its own, the folder, the first turn, the last turn, and where it dies. What the model got in its
 * first call is what this process knows of the ones before it: it is printed.
 */
import { writeSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { neighboursOf } from "./all.js"

const [library = "", position = "", folder = "", first = "0", last = "0", place = ""] = process.argv.slice(2)

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL")
  return new Promise(() => undefined)
}

/** Time for what the library writes beside a call of the model: a real one takes longer. */
const answering = 200

let turn = Number(first)
let isTold = false
const chat = await (
  await neighboursOf(library)
)[Number(position)]!.open(folder, async (prompt) => {
  if (!isTold) writeSync(1, JSON.stringify(prompt))
  isTold = true
  if (place === "answering" && turn === Number(last)) {
    await setTimeout(answering)
    await die()
  }
  return `answer ${turn}.`
})
for (; turn <= Number(last); turn++) await chat.ask("s", `question ${turn}.`)
await die()
