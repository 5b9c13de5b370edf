/** Statements on the table of jobs that pg-boss has no method for. `TABLE` stands for the table. */

/** How many dead letters are listed. */
const mostDeadLetters = 10_000

/**
 * Makes the job that waits for a session earlier and more urgent. Parameters: the queue, the session, the time or `null` for now, the
 * priority, and the time of the look.
 *
 * The condition is the one of pg-boss's unique index of the policy `short`: without it, PostgreSQL reads the whole queue at each dispatch.
 */
export const hurry = `
  UPDATE TABLE
  SET start_after = LEAST(start_after, COALESCE($3::timestamptz, now())), priority = GREATEST(priority, $4),
    data = data || jsonb_build_object('time', LEAST((data ->> 'time')::numeric, $5::numeric))
  WHERE name = $1 AND COALESCE(singleton_key, '') = $2 AND state = 'created' AND policy = 'short'
    AND (start_after > COALESCE($3::timestamptz, now()) OR priority < $4)`

/** The dead letters of a queue, the newest first. Parameter: the queue of dead letters. */
export const deadRows = `
  SELECT id, data, output, retry_limit + 1 AS attempts, round(date_part('epoch', created_on) * 1000) AS time
  FROM TABLE WHERE name = $1 AND state = 'created' ORDER BY created_on DESC LIMIT ${mostDeadLetters}`
