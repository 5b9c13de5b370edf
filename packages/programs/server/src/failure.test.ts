import { errorNamed, failuresOf, refusals } from "@memfold/harness/failures"
import { expect, it } from "vitest"
import { problemOf } from "./failure.js"

// Consumers run in the process of the application, and not in the service.
const ofService = failuresOf().filter((name) => name !== "ConsumerFailed")

it.each(ofService)("%s is a problem that a client can do something about", (name) => {
  const { status, type } = problemOf(errorNamed(name))
  expect([400, 404, 409, 412, 500, 503]).toContain(status)
  expect(type).not.toContain("InternalError")
})

it.each(refusals)("what a store refuses for good is no failure of it: %s", (refused) => {
  expect(problemOf(errorNamed("LogError", { refused })).status).toBe(409)
})
