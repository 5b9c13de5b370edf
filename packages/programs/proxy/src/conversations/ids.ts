/**
 * Ids. The id of a response names its session, so that a response is found without an index, in every process over the store. The id of
 * a session ends with digits that only its speaker's key makes of the others: whoever else has the id hears nothing.
 */
import { createHash, randomBytes } from "node:crypto"
import { signed, type Speaker } from "../speaker.js"

const random = (bytes: number): string => randomBytes(bytes).toString("hex")

/** Digits that follow from texts: a retry with a key of the client gets the ids of the first request. */
const digits = (texts: ReadonlyArray<string>, length: number): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, length)

/** The digits of a session: 32, and 12 that are its speaker's. */
const bound = (own: string, speaker: Speaker): string =>
  speaker === null ? own : `${own}${signed(speaker, own, 12)}`

/**
 * Whether a session, or its register, is the speaker's, by its id. An id that says nothing of it is anybody's: it has 32 digits, as behind a token, or is none
 * that was made here.
 */
export const belongsTo = (session: string, speaker: Speaker): boolean => {
  const [, own = "", digits] =
    /^(?:conv|chain)_([0-9a-f]{32})([0-9a-f]{12})(?:\.register)?$/.exec(session) ?? []
  return digits === undefined || speaker === null || digits === signed(speaker, own, 12)
}

export const conversationId = (speaker: Speaker): string => `conv_${bound(random(16), speaker)}`

/** The session of responses that belong to no conversation. With a key, the same one each time. */
export const chainId = (key: ReadonlyArray<string> | null, speaker: Speaker): string =>
  `chain_${bound(key === null ? random(16) : digits(["chain", ...key], 32), speaker)}`

const kinds = { c: "conv_", r: "chain_" } as const

/** The id of a response in a session. With a key, the same one each time. */
export const responseId = (session: string, key: ReadonlyArray<string> | null): string => {
  const kind = session.startsWith(kinds.c) ? "c" : "r"
  const own = key === null ? random(8) : digits(["response", session, ...key], 16)
  return `resp_${kind}${session.slice(kinds[kind].length)}${own}`
}

/** The session of a response; `null` if this is not the id of one. */
export const sessionOf = (response: string): string | null => {
  const [, kind, digits] = /^resp_([cr])([0-9a-f]{32}(?:[0-9a-f]{12})?)[0-9a-f]{16}$/.exec(response) ?? []
  return digits === undefined ? null : kinds[kind as "c" | "r"] + digits
}

export const isConversationId = (id: string): boolean => /^conv_[0-9a-f]{32}(?:[0-9a-f]{12})?$/.test(id)

/** How the ids of items of each type begin. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["function_call", "fc"],
  ["function_call_output", "fco"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctco"],
  ["reasoning", "rs"],
  ["compaction", "cmp"],
])

/** An id for an item that came without one. */
export const itemId = (type: string): string => `${prefixes.get(type) ?? "item"}_mf${random(12)}`

/** Whether an item got its id here: no upstream knows it. */
export const isOwnItemId = (id: unknown): boolean =>
  typeof id === "string" && /^[a-z]+_mf[0-9a-f]{24}$/.test(id)
