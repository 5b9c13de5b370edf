/** The options of the queue. */
import type { ConnectionOptions } from "bullmq"

/** Options of `make` and `layer`. */
export interface Options {
  /** The URL of the Redis server, `redis://HOST` or `rediss://HOST` (TLS). */
  readonly url?: string
  /** Instead of a URL: the options of a connection, or a client of `ioredis` (a `Cluster`, too), as BullMQ takes them. */
  readonly connection?: ConnectionOptions
  /** The name of the queue; `memfold` by default. */
  readonly queue?: string
  /** What the keys in Redis begin with; `{memfold}` by default. In a cluster it needs a tag in braces. */
  readonly prefix?: string
  /**
   * How often a look is tried before it becomes a dead letter, 1 or more; 13 by default: with the default `backOff`, a store may be
   * gone for an hour.
   */
  readonly attempts?: number
  /** The pause before a failed look is tried again, in milliseconds; 1,000 by default. It doubles with each failure. */
  readonly backOff?: number
  /**
   * How long a worker owns a look without a sign of life, in milliseconds, 1,000 or more; 30,000 by default. The look of a
   * process that was killed is taken up by another one after this time, twice this time at the most.
   */
  readonly lease?: number
}

/** What each option must be, see `Dispatcher.checkOptions`. */
export const kinds = {
  url: [
    { test: (url: string) => /^rediss?:\/\/\S/.test(url) && URL.canParse(url) },
    "the URL of a server, such as redis://HOST",
  ],
  connection: null,
  queue: [/^[^:]*[^:\s][^:]*$/, "a text that is not empty and has no colon"],
  prefix: [/\S/, "a text that is not empty"],
  attempts: 1,
  backOff: 0,
  lease: 1_000,
} as const satisfies Record<keyof Options, unknown>

/** The options, with defaults for missing ones. */
export const withDefaults = (given: Options) => ({
  queue: given.queue ?? "memfold",
  prefix: given.prefix ?? "{memfold}",
  attempts: given.attempts ?? 13,
  backOff: given.backOff ?? 1_000,
  lease: given.lease ?? 30_000,
})
