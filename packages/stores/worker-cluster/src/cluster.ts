/** A cluster of its own: a database keeps the messages and says which process has which shards. Processes do not call each other. */
import type { Message } from "@effect/cluster"
import {
  MessageStorage,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SqlMessageStorage,
  SqlRunnerStorage,
} from "@effect/cluster"
import type { Rpc } from "@effect/rpc"
import type { SqlClient } from "@effect/sql"
import { Cause, Effect, Layer, Option, Redacted, Schedule } from "effect"
import type { OwnSettings } from "./Options.js"
import type { Cluster } from "./storage.js"

/** How long handlers have to store the reply of a look that has ended, in milliseconds. */
const replies = 1_000

/** The client of a database; each kind is loaded when a URL needs it. */
const client = ({ url, connections }: OwnSettings): Layer.Layer<SqlClient.SqlClient, unknown> =>
  Layer.unwrapEffect(
    Effect.tryPromise({
      try: async (): Promise<Layer.Layer<SqlClient.SqlClient, unknown>> => {
        if (url.startsWith("sqlite:")) {
          const { layer } = await import("@effect/sql-sqlite-node/SqliteClient")
          return layer({ filename: url.slice("sqlite:".length) })
        }
        const { layer } = await import("@effect/sql-pg/PgClient")
        return layer({ url: Redacted.make(url), maxConnections: connections, applicationName: "memfold" })
      },
      catch: (error) => error,
    }),
  )

const fillOf = (message: Message.Incoming<Rpc.Any>): number =>
  message._tag === "IncomingRequest" ? (message.envelope.payload as { readonly fill: number }).fill : 0

/** The storage reads what is due at once; the fullest contexts come first. */
const fullestFirst = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.map(MessageStorage.MessageStorage, (storage) =>
    MessageStorage.MessageStorage.of({
      ...storage,
      unprocessedMessages: (shards) =>
        Effect.map(storage.unprocessedMessages(shards), (messages) =>
          messages.toSorted((one, other) => fillOf(other) - fillOf(one)),
        ),
    }),
  ),
)

/**
 * Connects to the database of a cluster, and prepares its tables.
 *
 * @param runner - The name of this process as a runner, which is unique; `null` for a process that only sends.
 */
export const connected = (settings: OwnSettings, runner: string | null): Layer.Layer<Cluster, unknown> => {
  const { prefix, lease, pollInterval } = settings
  const config = ShardingConfig.layer({
    runnerAddress: Option.map(Option.fromNullable(runner), (host) => RunnerAddress.make(host, 1)),
    shardLockExpiration: lease,
    shardLockRefreshInterval: lease / 3,
    refreshAssignmentsInterval: lease / 3,
    // Locks of sessions of PostgreSQL have no prefix: two queues would take each other's.
    shardLockDisableAdvisory: true,
    entityMessagePollInterval: pollInterval,
    entityTerminationTimeout: replies,
    simulateRemoteSerialization: false,
  })
  const runners = runner === null ? RunnerStorage.layerMemory : SqlRunnerStorage.layerWith({ prefix })
  return Sharding.layer.pipe(
    Layer.provide(Runners.layerNoop),
    Layer.provide(RunnerHealth.layerNoop),
    Layer.provide(runners),
    Layer.provideMerge(fullestFirst.pipe(Layer.provide(SqlMessageStorage.layerWith({ prefix })))),
    Layer.provide(config),
    Layer.provideMerge(client(settings)),
    // A storage that cannot prepare its tables dies. It cannot while another process does so.
    Layer.catchAllCause((cause) => Layer.fail(Cause.squash(cause))),
    Layer.retry(Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(3))),
  )
}
