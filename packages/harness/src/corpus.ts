/** The real transcripts in the folder that MEMFOLD_CORPUS names. */
import type { Message } from "@memfold/core"
import { Either, Option } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join, relative } from "node:path"
import { type Format, formats, parse } from "@memfold/cli/transcript/Transcript"

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

/** The conversations of a file: in the first format that reads it. */
const conversations = (file: string): ReadonlyArray<Conversation> => {
  const text = readFileSync(file, "utf8")
  const name = relative(folder, file)
  const read = (format: Format, pick?: number) =>
    Either.getRight(parse(text, { file, format, ...(pick === undefined ? {} : { pick }) }))
  for (const format of formats) {
    if (format === "tau-bench") {
      const found: Array<Conversation> = []
      for (let pick = 0; ; pick++) {
        const one = read(format, pick)
        if (Option.isNone(one)) break
        found.push({ name: `${name} #${pick}`, messages: one.value.messages })
      }
      if (found.length > 0) return found
    } else {
      const one = read(format)
      if (Option.isSome(one)) return [{ name, messages: one.value.messages }]
    }
  }
  return []
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
