/** Sealing a text: AES-256-GCM, with what the text is bound to. */
import { EventLog } from "@memfold/log"
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto"
import type { Key } from "./Keyring.js"

/** The keys of a session, derived from the keys of its holders. */
export interface SessionKeys {
  /** The ids of the keys that they are derived from: of its holder now, and of its holders before. */
  readonly ids: readonly [string, ...Array<string>]
  readonly seal: KeyObject
  readonly nonce: Uint8Array
  /** Hides the keys of rows that tell of a text. */
  readonly rows: Uint8Array
}

const derived = (key: Uint8Array, session: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, session, "memfold sealed 1", 96))

/**
 * Derives the keys of a session: a key that leaks opens one session, and no other of its holder.
 *
 * @param key - of its holder now, whose alone the names of rows follow from: who looks for a row may not know the earlier ones
 * @param earlier - of holders that it had before: without each of them, nothing is opened
 */
export const sessionKeys = (key: Key, earlier: ReadonlyArray<Key>, session: string): SessionKeys => {
  const own = derived(key.bytes, session)
  const bytes =
    earlier.length === 0 ? own : derived(Buffer.concat([key, ...earlier].map((one) => one.bytes)), session)
  return {
    ids: [key.id, ...earlier.map(({ id }) => id)],
    seal: createSecretKey(bytes.subarray(0, 32)),
    nonce: bytes.subarray(32, 64),
    rows: own.subarray(64),
  }
}

/** A key of a row that says nothing: without the keys of the session, nobody finds which word it stands for. */
export const hiddenKey = ({ rows }: SessionKeys, key: string): string =>
  createHmac("sha256", rows).update(key).digest("base64url").slice(0, 22)

/** A text, and what it is bound to: opening it elsewhere fails. */
export interface BoundText {
  readonly text: string
  readonly about: string
}

/**
 * Seals texts. Equal texts at equal places are sealed equally, so that a batch that is sent again is the same batch: the nonces follow from
 * one keyed hash of all texts and places, and no nonce is used for two texts.
 */
export const sealTexts = (
  { ids: [id, ...also], seal, nonce: key }: SessionKeys,
  texts: ReadonlyArray<BoundText>,
): ReadonlyArray<string> => {
  const hash = createHmac("sha256", key)
  for (const { text, about } of texts) hash.update(`${about.length}:${text.length}:${about}${text}`)
  const first = hash.digest().subarray(0, 12)
  const start = first.readUInt32BE(8)
  const named = `${EventLog.sealedStart}${JSON.stringify(id)}${also.length === 0 ? "" : `,"also":${JSON.stringify(also)}`}`
  return texts.map(({ text, about }, at) => {
    const nonce = Buffer.from(first)
    nonce.writeUInt32BE((start ^ at) >>> 0, 8)
    const cipher = createCipheriv("aes-256-gcm", seal, nonce).setAAD(Buffer.from(about))
    const bytes = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
    return `${named},"text":"${bytes.toString("base64")}"}`
  })
}

/** A sealed text: the ids of its keys, and its bytes. */
export interface SealedText {
  readonly ids: SessionKeys["ids"]
  readonly bytes: Buffer
}

/** The sealed text in stored data; `null` if it is none. */
export const sealedIn = (data: string): SealedText | null => {
  if (!data.startsWith(EventLog.sealedStart)) return null
  try {
    const { sealed, also = [], text } = JSON.parse(data) as Readonly<Record<string, unknown>>
    if (typeof sealed !== "string" || typeof text !== "string" || !Array.isArray(also)) return null
    const bytes = Buffer.from(text, "base64")
    return bytes.length < 28 ? null : { ids: [sealed, ...also.map(String)], bytes }
  } catch {
    return null
  }
}

/** Whether a record has what was stored before the store was sealed, and not the place of what is in an archive. */
export const isInTheClear = ({ data, schemaVersion }: EventLog.LogRecord): boolean =>
  sealedIn(data) === null && schemaVersion !== EventLog.movedSchema

/** The text again; `null` if it was changed, moved, or sealed with another key. */
export const unsealed = ({ seal }: SessionKeys, bytes: Buffer, about: string): string | null => {
  try {
    const decipher = createDecipheriv("aes-256-gcm", seal, bytes.subarray(0, 12))
      .setAAD(Buffer.from(about))
      .setAuthTag(bytes.subarray(-16))
    const text = decipher.update(bytes.subarray(12, -16))
    // It gives no more bytes, and throws if these are not what was sealed.
    decipher.final()
    return text.toString("utf8")
  } catch {
    return null
  }
}
