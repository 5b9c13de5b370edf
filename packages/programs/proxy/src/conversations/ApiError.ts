/** Errors in the shape of OpenAI's API, which its clients read. */
import { MayNotBegin } from "../begins.js"
import { UpstreamUnreachable } from "../forward.js"
import { UpstreamBroke } from "./UpstreamBroke.js"

/** What a request is refused with. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  readonly param: string | null
  readonly code: string | null
  readonly type: string
  /** After how many seconds to come again. */
  readonly retryAfter: number | null

  constructor(
    status: number,
    message: string,
    {
      param = null,
      code = null,
      type = "invalid_request_error",
      retryAfter = null,
    }: {
      readonly param?: string | null
      readonly code?: string | null
      readonly type?: string
      readonly retryAfter?: number | null
    } = {},
  ) {
    super(message)
    this.status = status
    this.param = param
    this.code = code
    this.type = type
    this.retryAfter = retryAfter
  }

  get body(): { readonly error: Readonly<Record<string, unknown>> } {
    const { message, type, param, code } = this
    return { error: { message, type, param, code } }
  }
}

/** A field of a request is wrong. */
export const invalid = (param: string, message: string, code: string | null = null): ApiError =>
  new ApiError(400, message, { param, code })

/** There is no such thing. */
export const notFound = (what: string, id: string, code: string | null = null): ApiError =>
  new ApiError(404, `${what} with id '${id}' not found.`, { code })

/** What is named in errors of the memory, and what a client can do about it. */
const known: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  InvalidInput: [400, "invalid_input", "The memory does not take this request."],
  IdempotencyKeyReused: [
    409,
    "idempotency_key_reused",
    "The idempotency key was used before for another request. Use a new key for each request.",
  ],
  GuardRefused: [400, "guard_refused", "The guard of the memory refuses it; nothing was stored."],
  OwnerMismatch: [409, "owner_mismatch", "The conversation belongs to another owner."],
  CannotRedact: [409, "cannot_delete", "The item cannot be deleted now. Try again."],
  CannotFork: [409, "cannot_fork", "The conversation cannot be copied now. Try again."],
  VersionMismatch: [409, "conversation_changed", "The conversation has changed meanwhile. Try again."],
  UnknownMessage: [404, "item_not_found", "The conversation has no such item any more."],
  UnknownBranch: [404, "item_not_found", "The conversation has no such branch any more."],
  // What a sealed store refuses for good.
  erased: [409, "erased", "It was erased."],
  held: [409, "held", "It is held: nothing deletes it until the hold ends."],
  Held: [409, "held", "It is held: nothing deletes it until the hold ends."],
  archived: [409, "archived", "It is in an archive that is not opened here."],
  unreadable: [409, "unreadable", "It is sealed, and cannot be opened here."],
  LogError: [503, "store_unavailable", "The store failed. Try again."],
  LayersError: [503, "store_unavailable", "The memory layers failed. Try again."],
  VectorIndexError: [503, "store_unavailable", "The vectors could not be deleted. Try again."],
  Overloaded: [503, "overloaded", "As many requests wait as may. Try again."],
  DamagedEvent: [500, "damaged_session", "A stored event is damaged. `npx memfold verify` shows it."],
}

/** The name of an error of the memory: what a store refuses for good is no failure. */
const tagOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null || !("_tag" in error)) return ""
  return "refused" in error && typeof error.refused === "string" ? error.refused : String(error._tag)
}

/** What holds something, and why; `null` for any other refusal. */
const holdIn = (error: unknown): string | null => {
  const { reason, message } = Object(error) as { readonly reason?: unknown; readonly message?: unknown }
  const told = tagOf(error) === "held" ? reason : tagOf(error) === "Held" ? message : null
  return typeof told === "string" ? told : null
}

/**
 * The error that a client is told. What an unknown error says may quote the conversation, so it is not told.
 *
 * @param prefix - what ids in the store begin with, of which a client is not told either
 */
export const apiErrorOf = (error: unknown, prefix = ""): ApiError => {
  if (error instanceof ApiError) return error
  if (error instanceof UpstreamBroke || error instanceof UpstreamUnreachable)
    return new ApiError(502, error.message, { code: "upstream_unreachable", type: "server_error" })
  if (error instanceof MayNotBegin)
    return new ApiError(429, "There are as many sessions as are allowed. Delete some first.", {
      code: "too_many_sessions",
      type: "rate_limit_error",
    })
  const tag = tagOf(error)
  // Errors of the codec name the place and what is allowed there, and quote nothing.
  if (tag === "OpenAIDecodeError") return invalid("input", (error as Error).message)
  const [status, code, message] = known[tag] ?? [500, "internal_error", "The proxy failed."]
  const hold = holdIn(error)
  const { retryAfter } = Object(error) as { readonly retryAfter?: unknown }
  return new ApiError(status, hold === null ? message : `${message} ${hold.replaceAll(`"${prefix}`, '"')}`, {
    code,
    type: status < 500 ? "invalid_request_error" : "server_error",
    retryAfter: typeof retryAfter === "number" ? Math.ceil(retryAfter / 1_000) : null,
  })
}
