/** The shipped support chat, replayed: real lengths, in place of the generated turns of `growth`. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { Turn } from "../turn/conversation.js"
import { grow } from "./growth.js"

interface Line {
  readonly role: string
  readonly content: string
}

/** The turns of a transcript without tools: what the user says in a row is one question. */
const turnsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  let user: Array<string> = []
  for (const { role, content } of lines) {
    if (role === "user") user.push(content)
    else if (role === "assistant" && user.length > 0) {
      turns.push({ user: user.join("\n"), assistant: content })
      user = []
    }
  }
  return turns
}

export const sample = async (root: string): Promise<boolean> => {
  const cli = dirname(createRequire(import.meta.url).resolve("@memfold/cli/package.json"))
  const file = readFileSync(join(cli, "samples/support-zh.jsonl"), "utf8")
  const turns = turnsOf(
    file
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line),
  )
  const bytes = turns.reduce((sum, { user, assistant }) => sum + Buffer.byteLength(user + assistant), 0)
  console.log(
    `\nThe shipped support chat: ${turns.length} turns, ${Math.round(bytes / 1_024)} KiB of text. The model answers at once.`,
  )
  return grow(root, (index) => turns[index]!, [2 * turns.length])
}
