/** What a turn costs in time, in room on the disk and in messages of the prompt, as a conversation grows. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import { type Turn, turnAt } from "../turn/conversation.js"
import { type Cost, costOf } from "../turn/cost.js"
import { middle } from "../turn/pairs.js"
import { libraryNames, neighboursOf } from "./all.js"
import type { Chat, Neighbour } from "./Neighbour.js"

/** A conversation that grows with one neighbour. */
interface Growing {
  readonly neighbour: Neighbour
  readonly folder: string
  readonly chat: Chat
  /** How many messages the model got in the last turn. */
  prompt: number
  answer: string
  readonly costs: Array<Cost>
}

/** Turns of one neighbour before the next one has its share, because other load on the machine should affect all of them. */
const share = 10
/** The time of a turn is the middle of this many. */
const counted = 30

/**
 * What the files of a folder take, with what waits in write-ahead logs brought in. That is done in a copy: a second driver in
 * this process would end the locks of the first one.
 */
const bytesIn = (folder: string): number => {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  for (const name of readdirSync(copy).filter((file) => file.endsWith(".db"))) {
    const database = new Sqlite(join(copy, name))
    database.pragma("wal_checkpoint(TRUNCATE)")
    database.close()
  }
  const bytes = readdirSync(copy).reduce((sum, name) => sum + statSync(join(copy, name)).size, 0)
  rmSync(copy, { recursive: true })
  return bytes
}

const amount = (bytes: number): string =>
  bytes === 0
    ? "nothing"
    : bytes < 1_048_576
      ? `${Math.round(bytes / 1_024)} KiB`
      : `${(bytes / 1_048_576).toFixed(1)} MiB`

const open = async (neighbour: Neighbour, root: string, index: number): Promise<Growing> => {
  const folder = join(root, String(index))
  mkdirSync(folder, { recursive: true })
  const growing: Growing = {
    neighbour,
    folder,
    prompt: 0,
    answer: "",
    costs: [],
    chat: await neighbour.open(folder, async (prompt) => {
      growing.prompt = prompt.length
      return growing.answer
    }),
  }
  return growing
}

/** Prints a line for each neighbour. */
const show = (growing: ReadonlyArray<Growing>, messages: number): void => {
  console.log(`\nAfter ${messages.toLocaleString("en")} messages`)
  const columns = ["a turn", "processor", "on the disk", "prompt"]
    .map((column) => column.padStart(13))
    .join("")
  console.log(`  ${"".padEnd(64)}${columns}  commits`)
  for (const { neighbour, folder, costs, prompt } of growing) {
    const { wall, cpu } = middle(costs.slice(-counted))
    const cells = [`${wall.toFixed(1)} ms`, `${cpu.toFixed(1)} ms`, amount(bytesIn(folder)), String(prompt)]
    const row = cells.map((cell) => cell.padStart(13)).join("")
    console.log(`  ${neighbour.name.padEnd(64)}${row}  ${neighbour.durability}`)
  }
}

/** Plays turns with each neighbour, and prints at each size, in messages. */
export const grow = async (
  root: string,
  turns: (index: number) => Turn,
  sizes: ReadonlyArray<number>,
): Promise<void> => {
  const growing = await Promise.all(
    (await Promise.all(libraryNames.map(neighboursOf)))
      .flat()
      .map((neighbour, index) => open(neighbour, root, index)),
  )
  let played = 0
  for (const messages of sizes) {
    const until = Math.floor(messages / 2)
    while (played < until) {
      const next = Math.min(played + share, until)
      for (const one of growing)
        for (let index = played; index < next; index++) {
          const { user, assistant } = turns(index)
          one.answer = assistant
          one.costs.push(await costOf(() => one.chat.ask("s", user)))
        }
      played = next
    }
    show(growing, messages)
  }
  await Promise.all(growing.map(({ chat }) => chat.close()))
}

/** Generated turns: questions of 120 characters and answers of 480. */
export const growth = (root: string, sizes: ReadonlyArray<number>): Promise<void> => {
  console.log("\nA turn is a question of 120 characters and an answer of 480. The model answers at once.")
  return grow(root, turnAt, sizes)
}
