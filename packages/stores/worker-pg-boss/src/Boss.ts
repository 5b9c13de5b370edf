/** A pg-boss that starts with its first use, and statements on its table that it has no method for. */
import { Dispatcher } from "@memfold/log"
import { Effect, type Scope } from "effect"
import PgBoss from "pg-boss"
import type { Settings } from "./Options.js"

/** What a job carries. */
export interface Data {
  readonly session: string
  /** The earliest time that a look of the session asked for, in milliseconds since the epoch. */
  readonly time: number
  readonly fill: number
}

type Operation = Dispatcher.DispatchError["operation"]

/** Runs an operation; what fails is an error with the session and the operation. */
export type Ask = <A>(
  operation: Operation,
  session: string | null,
  run: (boss: PgBoss) => Promise<A>,
) => Effect.Effect<A, Dispatcher.DispatchError>

/** The queue of the dead letters of a queue. */
export const deadLettersOf = ({ queue }: Pick<Settings, "queue">): string => `${queue}-dead-letters`

/** Prepares the tables of pg-boss and the two queues. Any number of processes may do so at once. */
const started = async (boss: PgBoss, settings: Settings): Promise<PgBoss> => {
  await boss.start()
  await boss.createQueue(deadLettersOf(settings), { name: deadLettersOf(settings), policy: "standard" })
  await boss.createQueue(settings.queue, {
    name: settings.queue,
    // At most one job of a session waits, beside any that are active or tried again.
    policy: "short",
    deadLetter: deadLettersOf(settings),
  })
  return boss
}

/** Makes a pg-boss, which ends with the scope. It connects with its first use, and again after a failure. */
export const makeBoss = (settings: Settings): Effect.Effect<Ask, never, Scope.Scope> =>
  Effect.gen(function* () {
    let running: Promise<PgBoss> | null = null
    const start = (): Promise<PgBoss> => {
      const boss = new PgBoss({
        connectionString: settings.url,
        schema: settings.schema,
        max: settings.connections,
        // Workers look after the tables, see `work`.
        supervise: false,
        schedule: false,
      })
      // Whoever waits for an answer hears of it.
      boss.on("error", () => {})
      const starting = started(boss, settings).catch(async (error: unknown) => {
        running = null
        await boss.stop({ graceful: false }).catch(() => undefined)
        throw error
      })
      running = starting
      return starting
    }
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        const boss = await running?.catch(() => undefined)
        await boss?.stop({ graceful: false }).catch(() => undefined)
      }).pipe(Effect.interruptible, Effect.timeoutOption("5 seconds")),
    )
    const ask = Dispatcher.asking("PostgreSQL")
    return (operation, session, run) => ask(operation, session, async () => run(await (running ?? start())))
  })

/** How many dead letters are listed. */
const mostDeadLetters = 10_000

/**
 * Makes the jobs that wait for sessions earlier and more urgent. Parameters: the queue, and for each session its name, the time or `null`
 * for now, the priority, and the time of the look.
 *
 * The condition is the one of pg-boss's unique index of the policy `short`: without it, PostgreSQL reads the whole queue at each dispatch.
 * The rows are locked in one order by all processes, so that none waits for another that waits for it.
 */
export const hurry: string = `
  WITH looks AS (
    SELECT * FROM unnest($2::text[], $3::timestamptz[], $4::int[], $5::numeric[]) AS look (session, start_after, priority, time)
  ), waiting AS (
    SELECT id, session FROM TABLE JOIN looks ON COALESCE(singleton_key, '') = session
    WHERE name = $1 AND COALESCE(singleton_key, '') = ANY ($2::text[]) AND state = 'created' AND policy = 'short'
      AND (job.start_after > COALESCE(looks.start_after, now()) OR job.priority < looks.priority)
    ORDER BY session FOR UPDATE OF job
  )
  UPDATE TABLE
  SET start_after = LEAST(job.start_after, COALESCE(looks.start_after, now())),
    priority = GREATEST(job.priority, looks.priority),
    data = data || jsonb_build_object('time', LEAST((data ->> 'time')::numeric, looks.time))
  FROM waiting JOIN looks USING (session) WHERE job.name = $1 AND job.id = waiting.id`

/**
 * Makes looks ready whose worker has given no sign of life for as long as it owns them. Parameter: the queue. pg-boss would wait for
 * their back-off, too, as if the look had failed; those that were tried often enough are left to it.
 */
export const handOn: string = `
  UPDATE TABLE SET state = 'retry', start_after = now()
  WHERE name = $1 AND state = 'active' AND started_on + expire_in < now() AND retry_count < retry_limit`

/** The dead letters of a queue, the newest first. Parameter: the queue of dead letters. */
export const deadRows: string = `
  SELECT id, data, output, retry_limit + 1 AS attempts, round(date_part('epoch', created_on) * 1000) AS time
  FROM TABLE WHERE name = $1 AND state = 'created' ORDER BY created_on DESC LIMIT ${mostDeadLetters}`

/** Runs a statement; `TABLE` stands for the table of jobs. */
export const rowsOf = async <Row>(
  boss: PgBoss,
  { schema }: Settings,
  statement: string,
  values: ReadonlyArray<unknown>,
): Promise<ReadonlyArray<Row>> => {
  const { rows } = await boss.getDb().executeSql(statement.replaceAll("TABLE", `${schema}.job`), [...values])
  return rows as ReadonlyArray<Row>
}
