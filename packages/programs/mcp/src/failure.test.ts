import { errorNamed, failuresOf, refusals } from "@memfold/harness/failures"
import { expect, it } from "vitest"
import { failure } from "./failure.js"

const textOf = (error: Error) => JSON.stringify(failure(error).content)

it.each(failuresOf(["append", "context", "messages", "recall", "summaries", "compact"]))(
  "%s tells the model what to do next",
  (name) => expect(textOf(errorNamed(name))).not.toContain("The call failed"),
)

it.each(refusals)("what a store refuses for good is not to be tried again: %s", (refused) => {
  expect(textOf(errorNamed("LogError", { refused }))).not.toContain("Call again")
})
