/** What is lost when a process is killed: processes that take turns at one chat, each of which dies. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { libraryNames, neighboursOf } from "./all.js"

/** Where processes die, by turns. */
const places = ["answered", "answering"] as const
const processes = 4
/** Few enough that the whole chat is in the prompt. */
const turnsOfEach = 3

const dying = fileURLToPath(new URL("dying.js", import.meta.url))

/** Runs a process to its death. Returns what the model got in its first call. */
const life = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const child = spawn(process.execPath, [dying, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")])
  if (signal !== "SIGKILL") throw new Error(`the process of ${args[0]} ended by itself`)
  return JSON.parse(printed) as ReadonlyArray<string>
}

/** Of turns that were over, and of questions whose answer was being written: how many the next processes did not have. */
interface Lost {
  readonly turns: number
  readonly ofTurns: number
  readonly questions: number
  readonly ofQuestions: number
}

const killed = async (library: string, position: number, folder: string): Promise<Lost> => {
  mkdirSync(folder, { recursive: true })
  let prompt: ReadonlyArray<string> = []
  for (let index = 0; index <= processes; index++) {
    const first = index * turnsOfEach
    const last = index === processes ? first : first + turnsOfEach - 1
    prompt = await life(library, String(position), folder, String(first), String(last), places[index % 2]!)
  }
  // The last process saw what all the others left.
  const said = prompt.join("\n")
  const played = Array.from({ length: processes * turnsOfEach }, (_, turn) => turn)
  const isInterrupted = (turn: number) =>
    turn % turnsOfEach === turnsOfEach - 1 && places[Math.floor(turn / turnsOfEach) % 2] === "answering"
  const over = played.filter((turn) => !isInterrupted(turn))
  const interrupted = played.filter(isInterrupted)
  return {
    turns: over.filter((turn) => !said.includes(`question ${turn}.`) || !said.includes(`answer ${turn}.`))
      .length,
    ofTurns: over.length,
    questions: interrupted.filter((turn) => !said.includes(`question ${turn}.`)).length,
    ofQuestions: interrupted.length,
  }
}

export const kills = async (root: string): Promise<boolean> => {
  console.log(
    `\n${processes} processes take turns at one chat. Each is killed: when a turn is over, or while the model answers.`,
  )
  console.log(`  ${"lost".padEnd(64)}${"turns that were over".padStart(22)}${"open questions".padStart(17)}`)
  // Nothing is timed, so the libraries are at it side by side.
  const outcomes = await Promise.all(
    libraryNames.map(async (library) => {
      const rows = []
      for (const [position, { name }] of (await neighboursOf(library)).entries())
        rows.push({ name, ...(await killed(library, position, join(root, library, String(position)))) })
      return rows
    }),
  )
  for (const { name, turns, ofTurns, questions, ofQuestions } of outcomes.flat())
    console.log(
      `  ${name.padEnd(64)}${`${turns} of ${ofTurns}`.padStart(22)}${`${questions} of ${ofQuestions}`.padStart(17)}`,
    )
  return outcomes
    .flat()
    .filter(({ name }) => name.endsWith("memfold"))
    .every(({ turns }) => turns === 0)
}
