/** The options of the queue. */

/** Options of `within`. */
export interface WithinOptions {
  /** The prefix of the cluster's tables, as its storage has it; `cluster` by default. */
  readonly prefix?: string
  /** How often a look is tried before it becomes a dead letter, 1 or more; 13 by default. */
  readonly attempts?: number
  /** The pause before a failed look is tried again, in milliseconds; 1,000 by default. It doubles. */
  readonly backOff?: number
  /** How often a worker removes the messages of looks that are done, in milliseconds; 30,000 by default. */
  readonly tidyInterval?: number
}

/** Options of `make` and `layer`. */
export interface Options extends Pick<WithinOptions, "attempts" | "backOff"> {
  /** The database: `cluster:postgres://HOST/DATABASE` or `cluster:sqlite:FILE`; `cluster:` may be left out. */
  readonly url: string
  /** The name of the queue; `memfold` by default. Its tables are `NAME_cluster_messages` and so on. */
  readonly queue?: string
  /** The most connections of this process to PostgreSQL; 4 by default. A worker keeps one for its locks. */
  readonly connections?: number
  /**
   * How long a worker owns its shards without a sign of life, in milliseconds, 3,000 or more (less counts as 3,000, since the
   * cluster counts seconds); 30,000 by default. The looks of a process that was killed are taken up by another one after this time.
   */
  readonly lease?: number
  /** How often a worker reads the looks that are due, in milliseconds; 500 by default. */
  readonly pollInterval?: number
}

const name = [/\S/, "a text that is not empty"] as const
const patience = { attempts: 1, backOff: 0 } as const

/** What each option of `within` must be, see `Dispatcher.checkOptions`. */
export const withinKinds = {
  prefix: name,
  ...patience,
  tidyInterval: 1,
} as const satisfies Record<keyof WithinOptions, unknown>

/** What each option of `make` must be. */
export const kinds = {
  url: [
    {
      test: (given: string) => {
        const url = given.replace(/^cluster:/, "")
        return /^sqlite:\S/.test(url) || (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url))
      },
    },
    "the URL of a database, such as cluster:postgres://HOST/DATABASE or cluster:sqlite:FILE",
  ],
  queue: name,
  connections: 1,
  ...patience,
  lease: 1,
  pollInterval: 1,
} as const satisfies Record<keyof Options, unknown>

/** The options of `within`, with defaults for missing ones. */
export const withinDefaults = (given: WithinOptions) => ({
  prefix: given.prefix ?? "cluster",
  attempts: given.attempts ?? 13,
  backOff: given.backOff ?? 1_000,
  tidyInterval: given.tidyInterval ?? 30_000,
})

/** How looks are kept and tried. */
export type Settings = ReturnType<typeof withinDefaults>

/** The options of a cluster of its own, with defaults for missing ones. */
export const withDefaults = (given: Options) => {
  const lease = Math.max(given.lease ?? 30_000, 3_000)
  return {
    url: given.url.replace(/^cluster:/, ""),
    connections: given.connections ?? 4,
    lease,
    pollInterval: given.pollInterval ?? 500,
    ...withinDefaults({ ...given, prefix: `${given.queue ?? "memfold"}_cluster`, tidyInterval: lease }),
  }
}

/** A cluster of its own, and how looks are kept and tried. */
export type OwnSettings = ReturnType<typeof withDefaults>
