/** What a turn costs in time, in room on the disk and in messages of the prompt, as a conversation grows. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import { type Turn, turnAt } from "../turn/conversation.js"
import { type Cost, costOf } from "../turn/cost.js"
import { claim } from "../measure.js"
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
  /** Of the turns of the session that is played. */
  costs: Array<Cost>
}

/** Turns of one neighbour before the next one has its share, because other load on the machine should affect all of them. */
const share = 10
/** The time of a turn is the middle of this many. */
const counted = 30
/** How many messages a second session has, which begins in a process that has compiled what a turn runs. */
const warm = 100

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

/**
 * Whether the turns of a neighbour are within its bound. Other programs use the machine as well, so processor time is compared.
 *
 * @param alone whether its folder has one session, so that what it keeps is compared as well
 */
const isBound = (
  growing: ReadonlyArray<Growing>,
  { neighbour, folder, costs }: Growing,
  alone: boolean,
): boolean => {
  const { name, bound } = neighbour
  const other = growing.find((one) => one.neighbour.name === bound?.than)
  if (bound === undefined || other === undefined) return true
  const cpu = (of: ReadonlyArray<Cost>) => middle(of.slice(-counted)).cpu
  const most = cpu(other.costs) * (bound.times ?? 1) + (bound.more ?? 0)
  const held = claim(`${name}: processor time, of the most that it may take`, cpu(costs) / most, 1)
  if (bound.disk !== true || !alone) return held
  return claim(`${name}: on the disk, of "${bound.than}"`, bytesIn(folder) / bytesIn(other.folder), 1) && held
}

/** Prints a line for each neighbour, and the bounds. Returns whether all of them are held. */
const show = (growing: ReadonlyArray<Growing>, what: string, alone: boolean): boolean => {
  console.log(`\nAfter ${what}`)
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
  return growing.map((one) => isBound(growing, one, alone)).every(Boolean)
}

/** Plays the turns `[from, until)` of a session with each neighbour. */
const play = async (
  growing: ReadonlyArray<Growing>,
  session: string,
  turns: (index: number) => Turn,
  [from, until]: readonly [from: number, until: number],
): Promise<void> => {
  for (let played = from; played < until; played += share)
    for (const one of growing)
      for (let index = played; index < Math.min(played + share, until); index++) {
        const { user, assistant } = turns(index)
        one.answer = assistant
        one.costs.push(await costOf(() => one.chat.ask(session, user)))
      }
}

const messagesOf = (messages: number) => `${messages.toLocaleString("en")} messages`

/**
 * Plays turns with each neighbour, and prints at each size, in messages; then turns of a second session, in the process as it is by then.
 * Returns whether memfold is within its bounds.
 */
export const grow = async (
  root: string,
  turns: (index: number) => Turn,
  sizes: ReadonlyArray<number>,
): Promise<boolean> => {
  const growing = await Promise.all(
    (await Promise.all(libraryNames.map(neighboursOf)))
      .flat()
      .map((neighbour, index) => open(neighbour, root, index)),
  )
  let played = 0
  let held = true
  for (const messages of sizes) {
    const until = Math.floor(messages / 2)
    await play(growing, "s", turns, [played, until])
    played = Math.max(played, until)
    held = show(growing, messagesOf(messages), true) && held
  }
  for (const one of growing) one.costs = []
  await play(growing, "warm", turns, [0, warm / 2])
  const before = `behind ${played.toLocaleString("en")} turns of the process with each memory`
  held = show(growing, `${messagesOf(warm)} of a second session, ${before}`, false) && held
  await Promise.all(growing.map(({ chat }) => chat.close()))
  return held
}

/** Generated turns: questions of 120 characters and answers of 480. */
export const growth = (root: string, sizes: ReadonlyArray<number>): Promise<boolean> => {
  console.log("\nA turn is a question of 120 characters and an answer of 480. The model answers at once.")
  return grow(root, turnAt, sizes)
}
