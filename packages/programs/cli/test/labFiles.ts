/** A conversation and a module with policies, for the tests of `memfold lab`. */
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inFolder } from "@memfold/harness/program"

/** Messages of the user and the assistant in turn, with times. */
export const chat = (messages: number) =>
  Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} is about the order KX-${1_000 + (index % 26)} and says a little something`,
    time: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
  }))

/** A folder with the files, and the program run in it. */
export const labFiles = (name: string) => {
  const { folder, memfold, file } = inFolder(name)
  // A module of the user's imports memfold by its name.
  mkdirSync(join(folder, "node_modules"))
  const memfoldPackage = fileURLToPath(new URL("../../memfold", import.meta.url))
  symlinkSync(memfoldPackage, join(folder, "node_modules/memfold"), "junction")
  const mine = file(
    "mine.mjs",
    `import { Keep, Rounds, Strategy, SummaryMode, Trigger } from "memfold"
     export const short = Strategy.make({
       name: "the newest messages",
       when: Trigger.backlog({ messages: 8 }),
       keep: Keep.lastMessages(4),
       summaryMode: SummaryMode.drop,
     })
     export default Rounds({ fullContextTurns: 2, cachedContextTurns: 1 })
     export const other = 42`,
  )
  return { folder, memfold, file, small: file("small.json", chat(60)), mine }
}
