/** The port of archives: where sessions are kept that nobody speaks in any more. A folder and an S3 bucket implement it. */
import { type Effect, Schema } from "effect"

/** An archive failed. `reason` says why, and never quotes a conversation or a secret. */
export class ArchiveError extends Schema.TaggedError<ArchiveError>()("ArchiveError", {
  operation: Schema.Literal("open", "put", "get", "remove", "list", "restore"),
  /** The session or the object that the operation is about; `null` if it is about the archive. */
  about: Schema.NullOr(Schema.String),
  reason: Schema.String,
  /** There is no such object: somebody may have brought back what was in it. */
  isGone: Schema.optionalWith(Schema.Boolean, { exact: true }),
}) {
  override get message(): string {
    const about = this.about === null ? "" : ` of "${this.about}"`
    return `The archive failed at ${this.operation}${about}: ${this.reason}`
  }
}

/** What keeps objects by their keys. A key is text of letters, digits, `/`, `.` and `-`. */
export interface Archive {
  /** Its place, for people. */
  readonly name: string
  /** Stores an object, and replaces the object of that key. It returns once the object survives a crash. */
  readonly put: (key: string, bytes: Uint8Array) => Effect.Effect<void, ArchiveError>
  /** The object of a key; `null` if there is none. */
  readonly get: (key: string) => Effect.Effect<Uint8Array | null, ArchiveError>
  /** Removes the object of a key, if there is one. */
  readonly remove: (key: string) => Effect.Effect<void, ArchiveError>
  readonly list: Effect.Effect<ReadonlyArray<string>, ArchiveError>
}
