/** The real transcripts in the folder that MEMFOLD_CORPUS names. */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join, relative } from "node:path"
import { parseAll } from "@memfold/cli/transcript/Transcript"

const folder = process.env["MEMFOLD_CORPUS"]
if (folder === undefined) throw new Error("MEMFOLD_CORPUS names no folder; type npm run test:corpus -- DIR")

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((name) => join(folder, name))
  .filter((name) => [".json", ".jsonl", ".traj"].includes(extname(name)))
  .toSorted()

/** One conversation of a file. */
export interface Conversation {
  readonly name: string
  readonly messages: ReadonlyArray<Message.Message>
}

/** The conversations of a file, in the format that the file is recognized by; none if it is a transcript of no known format. */
const conversations = (file: string): ReadonlyArray<Conversation> => {
  const name = relative(folder, file)
  const found = Either.getOrElse(parseAll(readFileSync(file, "utf8"), { file }), () => [])
  return found.map(({ messages }, pick) => ({
    name: found.length === 1 ? name : `${name} #${pick}`,
    messages,
  }))
}

/** The files of the folder, each with its conversations; none where no format reads it. */
export const corpus = files.map((file) => ({ file: relative(folder, file), found: conversations(file) }))

/** Settings small enough for real transcripts to be compacted often. */
export const settings: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "sliding-window": { tailKeepSize: 8, contextSize: 40, compressionWindowSize: 5 },
  rounds: { fullContextTurns: 2, cachedContextTurns: 1 },
  "split-turn": { contextLimit: 4_000 },
  "rolling-buffer": { bufferSize: 4 },
}
