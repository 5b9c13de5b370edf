/** The conversations of LoCoMo, with the questions that can be answered from them. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Conversation, readDataSet } from "@memfold/lab"
import { Either } from "effect"

/** The conversations in the folder of the data sets; `null`, after a line that says so, if they are not there. */
export const conversations = (): ReadonlyArray<Conversation> | null => {
  const file = join(process.env["MEMFOLD_DATA"] ?? "../shared/data", "locomo/conversations.json")
  if (existsSync(file)) return Either.getOrThrow(readDataSet(JSON.parse(readFileSync(file, "utf8"))))
  console.log(`\nRemember: skipped, there is no ${file}; set MEMFOLD_DATA to the folder of the data sets`)
  return null
}
