/** A root in AWS Key Management Service: the root never leaves it. */
import { DecryptCommand, EncryptCommand } from "@aws-sdk/client-kms"
import { createHash } from "node:crypto"
import { type Root, Unreadable } from "./Root.js"

/** Which key of AWS KMS is the root. */
export interface KmsOptions {
  /** A `KMSClient` of `@aws-sdk/client-kms`. Its type is not named: who has no root there need not have the package. */
  readonly client: { readonly send: (command: never) => Promise<unknown> }
  /** The id, the ARN or the alias of a symmetric key. */
  readonly keyId: string
}

/**
 * A root in AWS KMS. It is asked once for each key of an owner that a process uses. What the key is for is bound to it by its SHA-256:
 * AWS logs the context of an encryption, and has no name of an owner there.
 *
 * @param options - the client, whose credentials may `kms:Encrypt` and `kms:Decrypt` with the key, and the key
 *
 * @example
 * ```ts
 * import { KMSClient } from "@aws-sdk/client-kms"
 * import { folderKeyring } from "@memfold/sealed"
 * import { kmsRoot } from "@memfold/sealed/kms"
 *
 * const root = kmsRoot({ client: new KMSClient({ region: "eu-central-1" }), keyId: "alias/memfold" })
 * const keyring = folderKeyring({ folder: "keys/owners", root })
 * ```
 */
export const kmsRoot = ({ client, keyId }: KmsOptions): Root => {
  const bound = (about: string) => ({
    KeyId: keyId,
    EncryptionContext: { memfold: createHash("sha256").update(about).digest("hex") },
  })
  const given = (bytes: Uint8Array | undefined): Uint8Array => {
    if (bytes === undefined) throw new Error("AWS KMS has answered without a key")
    return bytes
  }
  /** AWS says in the name of an error what has happened, and often nothing in the message. */
  const named = (cause: Error): never => {
    const Refused = cause.name === "InvalidCiphertextException" ? Unreadable : Error
    throw new Refused(`AWS KMS refuses with ${cause.name}: ${cause.message}`, { cause })
  }
  /** A field of the answer to a command. */
  const asked = async (command: object, field: string): Promise<Uint8Array> => {
    const answer = await client.send(command as never).catch(named)
    return given((answer as Readonly<Record<string, Uint8Array | undefined>>)[field])
  }
  return {
    id: `kms:${keyId}`,
    wrap: (key, about) => asked(new EncryptCommand({ ...bound(about), Plaintext: key }), "CiphertextBlob"),
    unwrap: (wrapped, about) =>
      asked(new DecryptCommand({ ...bound(about), CiphertextBlob: wrapped }), "Plaintext"),
  }
}
