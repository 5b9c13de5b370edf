/** What failed calls of models say without their words. */
import { failureOf, isFields } from "@memfold/codec"

/** The SDK wraps the provider's error when it gives up; the status is in the last one. */
const causeOf = (error: unknown): unknown =>
  isFields(error) && error["lastError"] !== undefined ? error["lastError"] : error

/** The failure of a call, with the provider's status, for `describeFailure`. */
export const statusOf = (error: unknown): unknown => {
  const cause = causeOf(error)
  const status = isFields(cause) ? cause["statusCode"] : undefined
  return typeof status === "number" ? { ...failureOf(cause), status } : cause
}
