/** Looks in the storage of the cluster: through its interface, and with statements on its tables where it has no method. */
import {
  EntityAddress,
  EntityId,
  Envelope,
  Message,
  MessageStorage,
  Sharding,
  Snowflake,
} from "@effect/cluster"
import { Headers } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import type { Dispatcher } from "@memfold/log"
import { Context, Effect, Option } from "effect"
import type { Settings } from "./Options.js"
import type { LookMessage } from "./Session.js"
import { entityIdOf, Session } from "./Session.js"

/** What the cluster gives. */
export type Cluster = Sharding.Sharding | MessageStorage.MessageStorage | SqlClient.SqlClient

/** How many dead letters are listed. */
const mostDeadLetters = 10_000

/** The reply of a look that is done begins so. */
const success = `{"_tag":"Success"%`

interface DeadRow {
  readonly id: string | number | bigint
  readonly reply: string | number | bigint
  readonly payload: string
  readonly exit: string
}

/** A dead letter, and the message that it is. */
export interface Dead extends Dispatcher.DeadLetter {
  readonly id: string
  readonly fill: number
}

/** What a failed exit says, as the cluster stores it. */
const reasonOf = (exit: string): string => {
  const { cause } = JSON.parse(exit) as {
    readonly cause?: { readonly error?: { readonly reason?: string } }
  }
  return cause?.error?.reason ?? "the cluster could not deliver the look"
}

const deadOf = ({ id, reply, payload, exit }: DeadRow): Dead => {
  const { session, attempt, fill } = JSON.parse(payload) as LookMessage
  const time = Snowflake.timestamp(Snowflake.Snowflake(String(reply)))
  return { id: String(id), session, fill, time, attempts: Math.max(attempt, 1), reason: reasonOf(exit) }
}

/** Looks in the storage. */
export const looksIn = ({ prefix }: Pick<Settings, "prefix">) => {
  const tables = Effect.map(SqlClient.SqlClient, (client) => {
    const sql = client.withoutTransforms()
    return { sql, messages: sql(`${prefix}_messages`), replies: sql(`${prefix}_replies`) }
  })
  const literal = (sql: SqlClient.SqlClient, id: string | bigint) => sql.literal(String(id))

  /** Makes the message that waits for a session at least as urgent as a look. It may have been taken: then that look sees everything. */
  const hurry = (id: bigint, look: LookMessage) =>
    Effect.flatMap(tables, ({ sql, messages }) => {
      const [least, fill] = sql.onDialectOrElse({
        pg: () => [sql.literal("LEAST"), sql`(payload::json->>'fill')::float8`] as const,
        orElse: () => [sql.literal("MIN"), sql`json_extract(payload, '$.fill')`] as const,
      })
      return sql`
        UPDATE ${messages}
        SET deliver_at = ${least}(deliver_at, ${look.time}),
          payload = CASE WHEN ${fill} < ${look.fill} THEN ${JSON.stringify(look)} ELSE payload END
        WHERE id = ${literal(sql, id)} AND message_id IS NOT NULL AND NOT processed`
    })

  return {
    /** Stores a look, unless the session has one that waits: that becomes at least as urgent. */
    save: (look: LookMessage) =>
      Effect.gen(function* () {
        const storage = yield* MessageStorage.MessageStorage
        const sharding = yield* Sharding.Sharding
        const entityId = EntityId.make(yield* Effect.promise(() => entityIdOf(look.session)))
        const shardId = sharding.getShardId(entityId, Session.getShardGroup(entityId))
        const rpc = Session.protocol.requests.get("look")
        if (rpc === undefined) return
        const saved = yield* storage.saveRequest(
          new Message.OutgoingRequest({
            envelope: Envelope.makeRequest<typeof rpc>({
              requestId: yield* sharding.getSnowflake,
              address: EntityAddress.make({ shardId, entityId, entityType: Session.type }),
              tag: "look",
              payload: look,
              headers: Headers.empty,
            }),
            context: Context.empty(),
            lastReceivedReply: Option.none(),
            rpc,
            respond: () => Effect.void,
          }),
        )
        if (saved._tag === "Duplicate") yield* hurry(saved.originalId, look)
      }),
    /** Notes that a look begins. It does not wait any more: what comes from then on is a message of its own. */
    begin: (id: bigint, look: LookMessage) =>
      Effect.flatMap(
        tables,
        ({ sql, messages }) =>
          sql`UPDATE ${messages} SET message_id = NULL, payload = ${JSON.stringify(look)} WHERE id = ${literal(sql, id)}`,
      ),
    /** Removes the messages of looks that are done, with their replies. */
    tidy: Effect.flatMap(tables, ({ sql, messages, replies }) => {
      const done = sql`
        SELECT m.id FROM ${messages} m JOIN ${replies} r ON r.request_id = m.id
        WHERE m.entity_type = ${Session.type} AND m.processed AND r.payload LIKE ${success}`
      const bare = sql`
        DELETE FROM ${messages} WHERE entity_type = ${Session.type} AND processed
        AND NOT EXISTS (SELECT 1 FROM ${replies} r WHERE r.request_id = ${messages}.id)`
      return Effect.zipRight(sql`DELETE FROM ${replies} WHERE request_id IN (${done})`, bare)
    }),
    /** The messages of looks that were given up, newest first. */
    dead: Effect.flatMap(
      tables,
      ({ sql, messages, replies }) => sql<DeadRow>`
        SELECT m.id, r.id AS reply, m.payload, r.payload AS exit
        FROM ${messages} m JOIN ${replies} r ON r.request_id = m.id
        WHERE m.entity_type = ${Session.type} AND m.processed AND r.kind = 0 AND r.payload NOT LIKE ${success}
        ORDER BY r.id DESC LIMIT ${sql.literal(String(mostDeadLetters))}`,
    ).pipe(
      // An id has 64 bits.
      Effect.provideService(SqlClient.SafeIntegers, true),
      Effect.map((rows) => rows.map(deadOf)),
    ),
    /** Removes messages, with their replies. */
    remove: (ids: ReadonlyArray<string>) =>
      Effect.flatMap(tables, ({ sql, messages, replies }) => {
        const list = sql.literal(ids.join(","))
        return Effect.zipRight(
          sql`DELETE FROM ${replies} WHERE request_id IN (${list})`,
          sql`DELETE FROM ${messages} WHERE id IN (${list})`,
        )
      }),
  }
}
