/** What a client rejects with. */
import type { Problem } from "./statuses.js"

/**
 * The service refused a request, or could not be reached. `problem` is what the service said; `null` if it said nothing that can be
 * read.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError"
  readonly _tag = "ServiceError"
  /** The status of the response; `null` if there was none. */
  readonly status: number | null
  /**
   * The name of the error, such as `IdempotencyKeyReused`; `Unreachable` if there was no response, `InvalidInput` if an argument is wrong
   * and nothing was sent, `InvalidOption` if the client was made with an option that is not allowed.
   */
  readonly error: string
  readonly problem: Problem | null

  constructor(
    given:
      | { readonly problem: Problem }
      | { readonly status: number | null; readonly detail: string; readonly error?: string },
  ) {
    super("problem" in given ? given.problem.detail : given.detail)
    this.problem = "problem" in given ? given.problem : null
    this.status = "problem" in given ? given.problem.status : given.status
    this.error =
      ("error" in given ? given.error : undefined) ??
      this.problem?.type.replace(/^urn:memfold:/, "") ??
      (this.status === null ? "Unreachable" : "Unreadable")
  }
}

/** Whether the service may answer later: it could not be reached, or was too busy. */
export const isPassing = ({
  status,
  error,
}: {
  readonly status: number | null
  readonly error?: string
}): boolean => error === "Unreachable" || status === 429 || status === 503
