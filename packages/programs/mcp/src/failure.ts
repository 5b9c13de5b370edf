/** Errors as tool errors: they say what happened and what to do, and quote no message. */
import type { CallToolResult } from "@modelcontextprotocol/server"

/** There is no session of that name in the store. */
export class NoSuchSession extends Error {
  readonly _tag = "NoSuchSession"

  constructor(session: string) {
    super(`There is no session "${session}" in this store`)
  }
}

/** The session has no summary with that id; without an id, none that is active. */
export class NoSuchSummary extends Error {
  readonly _tag = "NoSuchSummary"

  constructor(session: string, summary?: string) {
    super(
      `Session "${session}" has ${summary === undefined ? "no active summary" : `no summary "${summary}"`}`,
    )
  }
}

/** What a client does next, by the `_tag` of the error. */
const next: Readonly<Record<string, string>> = {
  NoSuchSession: "list_sessions names the existing sessions; append_messages starts a new session.",
  OpenAIDecodeError: "Nothing was stored. Correct the message and call again.",
  InvalidInput: "Nothing was stored. Correct the argument and call again.",
  IdempotencyKeyReused: "Nothing was stored. Take another idempotency_key for other messages.",
  OwnerMismatch: "Nothing was stored. Leave the owner out, or take another session.",
  GuardRefused: "Say it without that, and call again.",
  NoSuchSummary: "list_summaries names the summaries of a session.",
  UnknownSummary: "The tool list_summaries names the summaries of a session.",
  Refused: "Nothing was stored.",
  LogError:
    "Call again. An append with the same idempotency_key is stored once, whether this one was stored or not.",
  DamagedEvent: "Nothing was changed. `npx memfold verify` shows what is damaged in the store.",
  UnknownBranch: "Leave the branch out for the branch in force.",
  VersionMismatch: "Nothing was stored. Read the session again, and decide again.",
  Overloaded: "Wait as long as it says, and call again.",
  // What a sealed store refuses for good.
  erased: "Nobody can read it any more; take another session.",
  held: "Nothing changes it until the hold ends.",
  archived:
    "Whoever runs the store has to open it with its archive; the newest messages can be read without it.",
  unreadable: "Whoever runs the store has to give the keys that it was sealed with.",
  Closed: "The server is shutting down. Start it again.",
}

/** The name of an error: what a store refuses for good is no failure. */
const tagOf = (error: unknown): string => {
  if (!(error instanceof Error)) return ""
  if ("refused" in error && typeof error.refused === "string") return error.refused
  return "_tag" in error && typeof error._tag === "string" ? error._tag : ""
}

/**
 * The tool error for what a call failed with. An error that is none of the memory's own is only named: its text may quote
 * what was said.
 */
export const failure = (error: unknown): CallToolResult => {
  const step = next[tagOf(error)]
  const text =
    step === undefined
      ? `The call failed (${nameOf(error)}). Nothing is known about its effect; look at the session before you call again.`
      : `${(error as Error).message}. ${step}`
  return { isError: true, content: [{ type: "text", text }] }
}

/** What a log may say of an error: its name and its code, never its text. */
export const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown error"
  const code = "code" in error && typeof error.code !== "object" ? ` ${String(error.code)}` : ""
  return `${tagOf(error) || error.name}${code}`
}
