/** Tokens: random texts, each bound to a tenant and to rights. A file has their hashes, and never the tokens. */
import type { Right } from "@memfold/client/api"
import { Either, ParseResult, Schema } from "effect"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { tenantNames } from "./TenantMemory.js"

/** The rights of tokens. `write` and `erase` include no other right. */
export const rights = ["read", "write", "erase"] as const satisfies ReadonlyArray<Right>

/** A token as a file has it. */
export const StoredToken = Schema.Struct({
  /** The name of the token, for people. */
  name: Schema.optional(Schema.String),
  tenant: Schema.String.pipe(Schema.pattern(tenantNames)),
  rights: Schema.Array(Schema.Literal(...rights)),
  /** The SHA-256 of the token, in hexadecimal digits. */
  sha256: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
})
export type StoredToken = typeof StoredToken.Type

const TokenFile = Schema.Struct({ tokens: Schema.Array(StoredToken) })

/** A file of tokens is wrong. The message says where, and quotes nothing. */
export class TokenFileError extends Schema.TaggedError<TokenFileError>()("TokenFileError", {
  detail: Schema.String,
}) {
  override get message(): string {
    return `the file of tokens is wrong: ${this.detail}; "memfold token" writes one`
  }
}

/** The tokens of a parsed file: `{ "tokens": [{ "tenant", "rights", "sha256" }] }`. */
export const tokensIn = (file: unknown): Either.Either<ReadonlyArray<StoredToken>, TokenFileError> =>
  Schema.decodeUnknownEither(TokenFile)(file).pipe(
    Either.map(({ tokens }) => tokens),
    Either.mapLeft((error) => {
      const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? []
      return new TokenFileError({ detail: `look at ${["the file", ...path].map(String).join(" → ")}` })
    }),
  )

const digest = (token: string): Buffer => createHash("sha256").update(token).digest()

/** A new token, and what a file keeps of it. */
export const makeToken = (given: Omit<StoredToken, "sha256">) => {
  // The random numbers of Effect are for tests that repeat them; a token must not be guessed.
  const token = `mf_${randomBytes(32).toString("base64url")}`
  return { token, stored: { ...given, sha256: digest(token).toString("hex") } }
}

/**
 * Finds the token that was given. It compares with every token, and each comparison takes as long whatever differs. A token has
 * 256 random bits, so one round of hashing is enough.
 */
export const finder = (tokens: ReadonlyArray<StoredToken>) => {
  const known = tokens.map((token) => ({ token, hash: Buffer.from(token.sha256, "hex") }))
  return (given: string): StoredToken | null => {
    const hash = digest(given)
    let found: StoredToken | null = null
    for (const one of known) if (timingSafeEqual(one.hash, hash)) found = one.token
    return found
  }
}
