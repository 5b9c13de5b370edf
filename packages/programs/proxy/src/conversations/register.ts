/**
 * The register of a session: what OpenAI's API knows of a conversation beside its items. It is a session of its own, whose messages are
 * records that only grow in number, so that every store keeps it.
 */
import { type Fields, pagesBack } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { invalid, notFound } from "./ApiError.js"
import { isConversationId } from "./ids.js"
import type { Store } from "./Store.js"

export type Metadata = Readonly<Record<string, string>>

/** A change of what is known. */
type Change =
  | { readonly is: "created"; readonly time: number; readonly metadata: Metadata }
  | { readonly is: "metadata"; readonly metadata: Metadata }
  | { readonly is: "deleted" }
  | { readonly is: "response-deleted"; readonly response: string }
  | {
      readonly is: "background"
      readonly response: Fields
      readonly asked: string
      readonly time: number
    }
  | { readonly is: "background-seen"; readonly response: string; readonly time: number }
  | { readonly is: "background-cancel"; readonly response: string }
  | {
      readonly is: "background-ended"
      readonly response: string
      readonly status: "failed" | "cancelled"
      readonly error: BackgroundError | null
    }

/** Why a response in the background has failed. */
export interface BackgroundError {
  readonly code: string
  readonly message: string
}

/** A response that was accepted to be answered in the background. */
export interface BackgroundRecord {
  /** As it was accepted. */
  readonly response: Fields
  /** What tells its request from another one. */
  readonly asked: string
  /** When the process that answers it has said so last, in milliseconds since the epoch. */
  readonly seen: number
  readonly isCancelAsked: boolean
  /** How it has ended without an answer; `null` if it has not. */
  readonly ended: {
    readonly status: "failed" | "cancelled"
    readonly error: BackgroundError | null
  } | null
}

/** What the register says. */
export interface Register {
  /** When the conversation was created, in milliseconds since the epoch; `null` for a session without a conversation. */
  readonly created: number | null
  readonly metadata: Metadata
  readonly isDeleted: boolean
  readonly deletedResponses: ReadonlySet<string>
  readonly background: ReadonlyMap<string, BackgroundRecord>
}

const provider = "memfold-register"

/** The session with the register of a session. */
export const registerOf = (session: string): string => `${session}.register`

const messageOf = (record: Change): Message.Message => ({
  role: "system",
  parts: [{ type: "opaque", provider, data: record }],
})

const recordIn = ({ parts: [part] }: Message.Message): Change | null =>
  part?.type === "opaque" && part.provider === provider ? (part.data as Change) : null

/** The responses in the background that records tell of. */
const backgroundIn = (records: ReadonlyArray<Change>): ReadonlyMap<string, BackgroundRecord> => {
  const found = new Map<string, BackgroundRecord>()
  const change = (id: string, changed: Partial<BackgroundRecord>): void => {
    const known = found.get(id)
    if (known !== undefined) found.set(id, { ...known, ...changed })
  }
  for (const one of records) {
    if (one.is === "background") {
      const { response, asked, time } = one
      found.set(String(response["id"]), { response, asked, seen: time, isCancelAsked: false, ended: null })
    } else if (one.is === "background-seen") change(one.response, { seen: one.time })
    else if (one.is === "background-cancel") change(one.response, { isCancelAsked: true })
    else if (one.is === "background-ended")
      change(one.response, { ended: { status: one.status, error: one.error } })
  }
  return found
}

export const readRegister = async (store: Store, session: string): Promise<Register> => {
  const pages: Array<ReadonlyArray<Message.Message>> = []
  for await (const { messages } of pagesBack(store, registerOf(session), { limit: 500 })) pages.push(messages)
  const records = pages
    .toReversed()
    .flat()
    .map(recordIn)
    .filter((one) => one !== null)
  const created = records.find(({ is }) => is === "created")
  const described = records.findLast((one) => one.is === "created" || one.is === "metadata")
  return {
    created: created?.is === "created" ? created.time : null,
    metadata: described !== undefined && "metadata" in described ? described.metadata : {},
    isDeleted: records.some(({ is }) => is === "deleted"),
    deletedResponses: new Set(
      records.flatMap((one) => (one.is === "response-deleted" ? [one.response] : [])),
    ),
    background: backgroundIn(records),
  }
}

/** Reads the register of a conversation. Fails if there is none, or if it was deleted. */
export const readConversation = async (store: Store, id: string): Promise<Register> => {
  const register = isConversationId(id) ? await readRegister(store, id) : null
  if (register === null || register.created === null || register.isDeleted)
    throw notFound("Conversation", id, "conversation_not_found")
  return register
}

export const record = async (store: Store, session: string, added: Change): Promise<void> => {
  await store.append(registerOf(session), messageOf(added))
}

export const deleteWithRegister = async (store: Store, session: string): Promise<void> => {
  await store.delete(session)
  await store.delete(registerOf(session))
}

/** Metadata of a request: at most 16 pairs, keys of at most 64 and values of at most 512 characters. */
export const checkMetadata = (given: unknown): Metadata => {
  if (given === undefined || given === null) return {}
  const wrong = (message: string) => invalid("metadata", message)
  if (typeof given !== "object" || Array.isArray(given))
    throw wrong("Invalid type for 'metadata': expected an object.")
  const pairs = Object.entries(given)
  if (pairs.length > 16)
    throw wrong(`Invalid 'metadata': too many properties. Expected at most 16, but got ${pairs.length}.`)
  for (const [key, value] of pairs) {
    if ([...key].length > 64) throw wrong("Invalid 'metadata': a key has at most 64 characters.")
    if (typeof value !== "string") throw wrong("Invalid 'metadata': a value is a string.")
    if ([...value].length > 512) throw wrong("Invalid 'metadata': a value has at most 512 characters.")
  }
  return Object.fromEntries(pairs) as Metadata
}
