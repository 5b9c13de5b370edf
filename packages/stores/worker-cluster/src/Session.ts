/** The entity of a session, and the message that asks it for a look. */
import { ClusterSchema, DeliverAt, Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Dispatcher } from "@memfold/log"
import { DateTime, PrimaryKey, Schema } from "effect"

/** A look, as the cluster stores it. */
export class LookMessage extends Schema.Class<LookMessage>("memfold/Look")({
  session: Schema.String,
  /** Not before this time, in milliseconds since the epoch. */
  time: Schema.Number,
  fill: Schema.Number,
  /** How often it was begun. */
  attempt: Schema.Number,
}) {
  /** A session has one look that waits, and one that is tried again. */
  [PrimaryKey.symbol](): string {
    return this.attempt === 0 ? "waits" : "again"
  }

  [DeliverAt.symbol](): DateTime.DateTime {
    return DateTime.unsafeMake(this.time)
  }
}

/** Every session is an entity, which carries out the looks at it one after the other. The storage keeps them until they are done. */
export const Session = Entity.make("memfold/Session", [
  Rpc.make("look", { payload: LookMessage, error: Dispatcher.LookFailed }),
]).annotateRpcs(ClusterSchema.Persisted, true)

/** The columns of identifiers have this length; a session whose id is longer is an entity of a digest. */
const longestId = 255

/** The id of a session's entity. */
export const entityIdOf = async (session: string): Promise<string> => {
  if (session.length <= longestId) return session
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(session))
  return `sha256:${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}
