/** The options of the queue. */

/** Options of `make` and `layer`. */
export interface Options {
  /** The URL of the database, `postgres://HOST/DATABASE`. */
  readonly url: string
  /** The name of the queue; `memfold` by default. Letters, digits, hyphens and underscores. */
  readonly queue?: string
  /** The schema of pg-boss's tables, which is made if it is missing; `pgboss` by default. At most 50 letters, digits and underscores. */
  readonly schema?: string
  /** The most connections of this process to the database; 4 by default. */
  readonly connections?: number
  /**
   * How often a look is tried before it becomes a dead letter, 1 or more; 13 by default: with the default `backOff`, a store may be
   * gone for an hour.
   */
  readonly attempts?: number
  /** The pause before a failed look is tried again, in milliseconds, rounded up to seconds; 1,000 by default. It doubles. */
  readonly backOff?: number
  /**
   * How long a worker owns a look without a sign of life, in milliseconds, 1,000 or more; 30,000 by default. The look of a
   * process that was killed is taken up by another one after this time, twice this time at the most.
   */
  readonly lease?: number
  /** How often an idle worker asks for looks, in milliseconds; 500 by default. */
  readonly pollInterval?: number
}

/** What each option must be, see `Dispatcher.checkOptions`. */
export const kinds = {
  url: [
    { test: (url: string) => /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url) },
    "the URL of a database, such as postgres://HOST/DATABASE",
  ],
  queue: [/^[\w-]+$/, "a text of letters, digits, hyphens and underscores"],
  // What pg-boss takes for a schema.
  schema: [/^(?!\d)\w{1,50}$/, "at most 50 letters, digits and underscores, of which the first is no digit"],
  connections: 1,
  attempts: 1,
  backOff: 0,
  lease: 1_000,
  pollInterval: 1,
} as const satisfies Record<keyof Options, unknown>

/** The options, with defaults for missing ones. */
export const withDefaults = (given: Options) => ({
  url: given.url,
  queue: given.queue ?? "memfold",
  schema: given.schema ?? "pgboss",
  connections: given.connections ?? 4,
  attempts: given.attempts ?? 13,
  backOff: given.backOff ?? 1_000,
  lease: given.lease ?? 30_000,
  pollInterval: given.pollInterval ?? 500,
})

/** The options, complete. */
export type Settings = ReturnType<typeof withDefaults>
