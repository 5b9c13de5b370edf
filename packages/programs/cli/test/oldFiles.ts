/** Files of older programs in a folder of their own, and what is read from them. */
import { TokenCounter } from "@memfold/core"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect } from "vitest"
import { eventsOf } from "../src/import/events.js"
import { isConsolidated, programs, type Sources } from "../src/import/programs.js"
import { database } from "./oldDatabases.js"

/** Reads the files of a program. */
export const read = (program: string, sources: Sources) => Effect.runPromise(programs.get(program)!(sources))

/** The session that would be made, how much of it is covered, and how many messages there are. */
export const outcome = async (program: string, sources: Sources) => {
  const { session, state } = await read(program, sources)
  if (isConsolidated(state)) return [session, state.coveredTo, state.messages.length]
  const imported = eventsOf(state, { session, now: 0, counter: TokenCounter.estimating })
  return [session, imported.state.coveredTo, imported.state.total]
}

/** Messages of the user and the assistant in turn. */
export const chat = (count: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index}`,
    ...extra(index),
  }))

/** Messages with ids. */
export const withIds = (count: number) => chat(count).map((one, index) => ({ id: `m${index}`, ...one }))

/** A folder for the tests of a file, removed after them. */
export const oldFiles = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-programs-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  /** Writes a file, of text or of JSON, and answers with its path. */
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
    return path
  }
  return {
    folder,
    file,
    /** Writes a database with tables. */
    tables: (name: string, given: Parameters<typeof database>[1]): string =>
      database(join(folder, name), given),
    /** The one line that says what is wrong: with the file's name, and without a word of what was said. */
    wrong: async (program: string, sources: Sources): Promise<string> => {
      const error = await Effect.runPromise(Effect.flip(programs.get(program)!(sources)))
      expect(error.message.split("\n")).toHaveLength(1)
      expect(error.message).not.toContain("a secret")
      return error.message.replaceAll(`${folder}/`, "")
    },
    transcript: (name: string, messages: unknown) => ({ file: file(name, messages), format: "auto" }),
  }
}
