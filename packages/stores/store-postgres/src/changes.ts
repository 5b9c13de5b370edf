/**
 * Tells subscribers that a session has changed: by notifications where the server passes them on, and otherwise by looking.
 *
 * A writer notifies after its commit and without waiting for it: PostgreSQL lets only one transaction with a notification
 * commit at a time. What a process leaves untold when it is killed is seen by looking, a second later.
 */
import type { EventLog } from "@memfold/log"
import { batchHash, type Changes, changesOf, type Database, pause } from "@memfold/store-sql"
import { Chunk, Effect, type Fiber, Queue, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { Client, type ClientConfig } from "pg"
import { quoted } from "./dialect.js"

/** The most sessions in one notification, whose text has less than 8,000 bytes. */
const mostSessions = 500

/** How long to wait before a lost connection is made again, in milliseconds. */
const again = 500

/** Tells the process that a connection is to from where the server itself is: a pooler invents its own number. */
const isDirect = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid")
  return (rows[0] as { pid: number }).pid === (client as unknown as { processID: number }).processID
}

/** Listens on a connection of its own until it is lost. Answers whether another try can do better. */
const hear = (config: ClientConfig, channel: string, heard: (payload: string | null) => void) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Client(config)),
    (client) =>
      Effect.promise(async () => {
        const lost = new Promise<void>((resolve) => {
          client.on("error", () => resolve())
          client.on("end", () => resolve())
        })
        try {
          await client.connect()
          // Whoever waits for a change keeps the process alive, by looking now and then.
          ;(client as unknown as { unref: () => void }).unref()
          if (!(await isDirect(client))) return false
          client.on("notification", ({ payload }) => heard(payload ?? ""))
          await client.query(`LISTEN ${quoted(channel)}`)
          heard(null)
          await lost
        } catch {
          // The next try may do better; the reads of those who listen say what is wrong.
        }
        return true
      }),
    (client) => Effect.sync(() => void client.end().catch(() => undefined)),
  )

/** Tells what changes in the log of a schema; stops with the scope. Without a way to connect, nobody listens. */
export const make = (
  database: Database,
  config: ClientConfig | null,
  { schema, notifications }: { readonly schema: string; readonly notifications: boolean },
): Effect.Effect<Pick<Changes, "of" | "tell">, never, Scope.Scope> =>
  Effect.gen(function* () {
    let isHearing = false
    const changes = yield* changesOf(database, { every: () => (isHearing ? "1 second" : "100 millis") })
    if (!notifications || config === null) return changes

    const channel = `memfold_${batchHash(schema)}`
    const self = randomUUID()
    const scope = yield* Effect.scope

    const untold = yield* Queue.unbounded<number>()
    const notify = (hashes: Chunk.Chunk<number>) =>
      Effect.ignore(
        // What is lost with a crash of the server is found by looking: its commit waits for no disk.
        database.statement("SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)", [
          channel,
          [self, ...new Set(hashes)].join(" "),
        ]),
      )
    yield* Effect.forkScoped(
      Effect.forever(Effect.flatMap(Queue.takeBetween(untold, 1, mostSessions), notify)),
    )
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(Queue.takeUpTo(untold, mostSessions), (rest) =>
        Chunk.isEmpty(rest) ? Effect.void : notify(rest),
      ),
    )

    const heard = (payload: string | null) => {
      isHearing = true
      const [sender, ...hashes] = (payload ?? "").split(" ")
      if (sender === self) return
      const changed = new Set(hashes.map(Number))
      for (const session of changes.sessions())
        // What was written while nobody listened is not known.
        if (payload === null || changed.has(batchHash(session))) changes.tell(session)
    }
    const listen = hear(config, channel, heard).pipe(
      Effect.tap(() => Effect.sync(() => (isHearing = false))),
      Effect.tap((goesOn) => (goesOn ? pause(again) : Effect.void)),
      Effect.repeat({ while: (goesOn) => goesOn }),
      Effect.interruptible,
    )
    let listening: Fiber.RuntimeFiber<unknown> | undefined
    const begin = Effect.suspend(() =>
      listening === undefined
        ? Effect.map(Effect.forkIn(listen, scope), (fiber) => void (listening = fiber))
        : Effect.void,
    )
    const of = (session: string): Stream.Stream<void, EventLog.LogError> =>
      Stream.unwrap(Effect.as(begin, changes.of(session)))
    return {
      of,
      tell: (session) => {
        changes.tell(session)
        Queue.unsafeOffer(untold, batchHash(session))
      },
    }
  })
