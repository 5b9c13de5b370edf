/** The root: the key that wraps the keys of holders. It is in a file, in the environment, or in a service for keys. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"

/** Keys are there, and cannot be read here, however often they are asked for. */
export class Unreadable extends Error {}

/** Wraps keys. What it wraps is useless without it. */
export interface Root {
  /** What wrapped keys name the root by; a root that is rotated has another one. */
  readonly id: string
  /**
   * @param key - 32 bytes
   * @param about - what the key is for; `unwrap` has to be told it again
   */
  readonly wrap: (key: Uint8Array, about: string) => Promise<Uint8Array>
  /** The key again. Rejects if this root did not wrap it, or not for that. */
  readonly unwrap: (wrapped: Uint8Array, about: string) => Promise<Uint8Array>
}

/** A root in this process, of 32 bytes. Its name is a digest: a file that is moved, or put back elsewhere, is the root that it was. */
const rootOf = (key: Uint8Array): Root => ({
  id: `root-${createHash("sha256").update("memfold root").update(key).digest("hex").slice(0, 16)}`,
  wrap: async (given, about) => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about))
    return Buffer.concat([nonce, cipher.update(given), cipher.final(), cipher.getAuthTag()])
  },
  unwrap: async (wrapped, about) => {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, wrapped.subarray(0, 12))
        .setAAD(Buffer.from(about))
        .setAuthTag(wrapped.subarray(-16))
      const bytes = decipher.update(wrapped.subarray(12, -16))
      return Buffer.concat([bytes, decipher.final()])
    } catch {
      throw new Unreadable("it was changed since the root has wrapped it")
    }
  },
})

const keyIn = (text: string, where: string): Buffer => {
  const key = Buffer.from(text.trim(), "base64")
  if (key.length !== 32)
    throw new RangeError(`${where} has to be 32 bytes in base64, such as "openssl rand -base64 32" prints`)
  return key
}

/**
 * A root in a file, which is made if it is missing, and which its user alone may read. Back it up apart from the store.
 *
 * @param path - the file: 32 bytes in base64
 * @throws RangeError: the file has something else
 *
 * @example
 * ```ts
 * import { fileRoot } from "@memfold/sealed"
 *
 * const root = fileRoot("keys/root.key")
 * console.log(root.id)
 * ```
 */
export const fileRoot = (path: string): Root => {
  if (!existsSync(path)) {
    const draft = `${path}.${randomBytes(6).toString("hex")}`
    writeFileSync(draft, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 })
    try {
      // Of two processes that begin at once, one makes the root.
      linkSync(draft, path)
    } catch (error) {
      if (!existsSync(path)) throw error
    } finally {
      rmSync(draft)
    }
  }
  return rootOf(keyIn(readFileSync(path, "utf8"), path))
}

/**
 * A root in an environment variable.
 *
 * @param name - the variable: 32 bytes in base64
 * @throws RangeError: the variable is missing, or has something else
 *
 * @example
 * ```ts
 * import { environmentRoot } from "@memfold/sealed"
 *
 * process.env["MEMFOLD_ROOT_KEY"] = Buffer.alloc(32, 7).toString("base64")
 * const root = environmentRoot("MEMFOLD_ROOT_KEY")
 * console.log(root.id)
 * ```
 */
export const environmentRoot = (name: string): Root => rootOf(keyIn(process.env[name] ?? "", name))
