/** The parts that queries of `events` share. */

/** The largest version that the number of a row has room for. */
export const mostVersions = 0xffff_ffff

/** The version of a row of `events`. */
export const versionOf = (events: string): string => `${events}.id & ${mostVersions}`

/** The condition that a row of `events` belongs to a row of `sessions`: one range of its key. */
export const ofSession = (events: string): string =>
  `${events}.id > sessions.id << 32 AND ${events}.id < sessions.id + 1 << 32`

/** The batch id of a row of `events`, which its batch has once: on its first event. */
export const batchIdOf = (events: string): string =>
  `coalesce(${events}.batch_id, (SELECT batch_id FROM events AS first WHERE first.id = ${events}.id - ${events}.batch_position))`

/** The number of the type that an expression names: null where the database does not have it, and `events` takes no row without one. */
export const typeNumber = (name: string): string => `(SELECT types.id FROM types WHERE types.name = ${name})`

/** The sessions, each with the event at its last version. */
export const sessionsWithLast =
  "sessions LEFT JOIN events AS last ON last.id = sessions.id << 32 | sessions.last_version"
