/** Reads the data sets that have questions: LoCoMo and LongMemEval, as they are published. */
import { Either, Schema } from "effect"
import type { Conversation } from "../Conversation.js"
import { isLocomo, readLocomo } from "./locomo.js"
import { isLongMemEval, readLongMemEval } from "./longMemEval.js"

/** A file looks like a data set and cannot be read as one. The text quotes no conversation. */
export class DataSetError extends Schema.TaggedError<DataSetError>()("DataSetError", {
  dataSet: Schema.String,
  problem: Schema.String,
}) {
  /** The data set and the problem, in words. */
  override get message(): string {
    return `it is read as ${this.dataSet}; ${this.problem}`
  }
}

const readers = [
  { dataSet: "LoCoMo", is: isLocomo, read: readLocomo },
  { dataSet: "LongMemEval", is: isLongMemEval, read: readLongMemEval },
] as const

/**
 * The conversations of a data set, with their questions. Questions whose evidence is not in the conversation are left
 * out.
 *
 * @param value - The parsed JSON of a file: a list of conversations, or one of them.
 * @returns the conversations; `null` if it is no data set, but a transcript or something else; an error if it is one and
 *   cannot be read
 *
 * @example
 * ```ts
 * import { readDataSet } from "@memfold/lab"
 * import { readFileSync } from "node:fs"
 *
 * console.log(readDataSet(JSON.parse(readFileSync("locomo10.json", "utf8"))))
 * ```
 */
export const readDataSet = (
  value: unknown,
): Either.Either<ReadonlyArray<Conversation> | null, DataSetError> => {
  const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  const [first] = all
  const reader = readers.find(({ is }) => is(first))
  if (reader === undefined) return Either.right(null)
  const { dataSet, is, read } = reader
  const conversations: Array<Conversation> = []
  for (const [position, one] of all.entries()) {
    const outcome = is(one) ? read(one, position) : { problem: `conversation ${position} is of another form` }
    if ("problem" in outcome) return Either.left(new DataSetError({ dataSet, problem: outcome.problem }))
    conversations.push(outcome.conversation)
  }
  return Either.right(conversations)
}
