import { errorNamed, failuresOf, refusals } from "@memfold/harness/failures"
import { expect, it } from "vitest"
import { apiErrorOf } from "./ApiError.js"
import { operations } from "./Store.js"

it.each(failuresOf(operations))("%s is an error that a client of OpenAI can do something about", (name) => {
  const { code, message } = apiErrorOf(errorNamed(name))
  expect(code).not.toBe("internal_error")
  expect(message).not.toContain("It failed")
})

it.each(refusals)("what a store refuses for good is no failure of it: %s", (refused) => {
  expect(apiErrorOf(errorNamed("LogError", { refused }))).toMatchObject({ status: 409, code: refused })
})
