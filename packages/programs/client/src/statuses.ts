/** Problems as plain values, for programs that need none of their schemas. */

/** The statuses of problems. */
export const statuses = [400, 401, 403, 404, 405, 409, 412, 413, 415, 429, 500, 503] as const

/** The status of a problem. */
export type Status = (typeof statuses)[number]

/** A problem, as the service sends it. */
export interface Problem {
  /** `urn:memfold:` and the name of the error, such as `urn:memfold:IdempotencyKeyReused`. */
  readonly type: string
  readonly title: string
  readonly status: Status
  /** What happened, and what to do. */
  readonly detail: string
  readonly session?: string | undefined
  /** After how many seconds to come again, where the service knows it. */
  readonly retryAfter?: number | undefined
}

/** Whether a value is a problem of the service. */
export const isProblem = (given: unknown): given is Problem =>
  typeof given === "object" &&
  given !== null &&
  "detail" in given &&
  "status" in given &&
  (statuses as ReadonlyArray<unknown>).includes(given.status)
