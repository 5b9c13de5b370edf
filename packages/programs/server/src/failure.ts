/** The one mapping of errors to problems: which status an error has, and what to do about it. */
import type { HttpApiError } from "@effect/platform"
import { isProblem, type Problem, problem, type Status, wrongIn } from "@memfold/client/api"

/** The status of each error of a memory, and what to do where its message does not say it. */
const known: Readonly<Record<string, readonly [status: Status, next?: string]>> = {
  InvalidInput: [400],
  InvalidOption: [400],
  OpenAIDecodeError: [400, "Nothing was stored. Correct the message, or name its format in `format`."],
  AnthropicDecodeError: [400, "Nothing was stored. Correct the message, or name its format in `format`."],
  SettingsError: [400],
  UnknownName: [400],
  HttpApiDecodeError: [400, "Correct the request; /docs describes it."],
  RequestError: [400, "Send JSON, as /docs describes it."],
  UnknownMessage: [404],
  UnknownSummary: [404],
  UnknownBranch: [404],
  RouteNotFound: [404, "/docs lists the paths."],
  IdempotencyKeyReused: [409],
  OwnerMismatch: [409],
  CannotFork: [409],
  GuardRefused: [400],
  CannotRedact: [409],
  Held: [409],
  NotSealed: [409],
  VersionMismatch: [412],
  DamagedEvent: [500, "`npx memfold verify` shows what is damaged in the store."],
}

/** What a failing part of the service says; why it failed is in its log, and is nobody else's business. */
const unavailable: Readonly<Record<string, string>> = {
  LogError: "The store failed. Try again: a write with the same Idempotency-Key is applied once.",
  LayersError: "The memory layers failed. Try again.",
  VectorIndexError: "The vectors could not be deleted. Try again.",
}

/** What a store refuses for good is no failure. */
const refusals: Readonly<Record<string, readonly [status: Status, name: string]>> = {
  erased: [409, "Erased"],
  held: [409, "Held"],
  archived: [409, "Archived"],
  unreadable: [409, "Unreadable"],
  position: [400, "InvalidInput"],
  limit: [413, "TooLong"],
}

/** The name of an error, for logs: its text may quote what was said. */
const nameOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return "unknown error"
  if (isProblem(error)) return error.type.slice(error.type.lastIndexOf(":") + 1)
  if ("_tag" in error && typeof error._tag === "string") return error._tag
  return error instanceof Error ? error.name : "unknown error"
}

/**
 * What the log may have of a failure. Errors of the memory quote no messages; the text of any other error may, so only where it was
 * thrown is told.
 */
export const failureFor = (error: unknown): Readonly<Record<string, string>> => {
  const failure = nameOf(error)
  if (!(error instanceof Error)) return { failure }
  if ("_tag" in error && (failure in known || failure in unavailable))
    return { failure, reason: error.message }
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "))
  return {
    failure,
    at: frames
      .slice(0, 5)
      .map((frame) => frame.trim())
      .join(" "),
  }
}

/** The message of an error without its last full stop. */
const sentence = (error: unknown): string =>
  (error instanceof Error ? error.message : "").trimEnd().replace(/\.$/, "")

/** What the errors of the platform say: their own texts quote the request, or are a page long. */
const texts: Readonly<Record<string, (error: unknown) => string>> = {
  RequestError: () => "The body cannot be read",
  RouteNotFound: () => "There is no such path",
  HttpApiDecodeError: (error) => wrongIn((error as HttpApiError.HttpApiDecodeError).issues),
}

export const problemOf = (error: unknown): Problem => {
  if (isProblem(error)) return error
  const name = nameOf(error)
  const given = typeof error === "object" && error !== null && "session" in error ? error.session : undefined
  const session = typeof given === "string" && given !== "" ? given : undefined
  const refused = refusals[(error as { readonly refused?: string } | null)?.refused ?? ""]
  if (refused !== undefined) return problem(...refused, sentence(error), session)
  const later = unavailable[name]
  if (later !== undefined) return problem(503, name, later, session)
  if (name === "Overloaded") {
    const { retryAfter = 0 } = error as { readonly retryAfter?: number }
    return { ...problem(503, name, sentence(error), session), retryAfter: Math.ceil(retryAfter / 1_000) }
  }
  const [status, next] = known[name] ?? []
  if (status === undefined)
    return problem(
      500,
      "InternalError",
      "The service failed. Nothing is known about the effect of the request.",
    )
  const text = texts[name]?.(error) ?? sentence(error)
  return problem(status, name, [text, next].filter(Boolean).join(". "), session)
}
