/** The shards of a store, and which of them a key belongs to. */
import { EventLog } from "@memfold/log"
import { createHash } from "node:crypto"

/** One of the stores. Its name stands in the places of sessions: it stays as it is as long as the shard is there. */
export interface Shard {
  readonly name: string
  readonly log: EventLog.Service
  /** Where the shard is; only owners of this region have sessions there (see `regionOf`). */
  readonly region?: string | undefined
  /** Whether the shard is to be taken out: no session begins there, and `rebalance` moves all away. */
  readonly leaving?: boolean | undefined
}

/**
 * An error of a store below, said of what was asked for: a session of the application, or all of them, and not of a log that the shards keep
 * for themselves.
 *
 * @param where - what failed: a shard, or the directory
 */
export const saidOf =
  (session: string | undefined, where: string) =>
  ({ operation, reason, refused, cause }: EventLog.LogError): EventLog.LogError =>
    new EventLog.LogError({ operation, session, reason: `${where}: ${reason}`, refused, cause })

const scoreOf = (name: string, key: string): number =>
  createHash("sha256").update(`${name}\0${key}`).digest().readUIntBE(0, 6)

/**
 * The shard that a key belongs to, by rendezvous hashing: the one with the highest score of its name and the key. With one shard more, only
 * the keys that belong to the new one change.
 */
export const rendezvous = <One extends Pick<Shard, "name">>(
  shards: ReadonlyArray<One>,
  key: string,
): One | undefined => {
  let [best, highest]: [One | undefined, number] = [undefined, -1]
  for (const shard of shards) {
    const score = scoreOf(shard.name, key)
    if (score > highest) [best, highest] = [shard, score]
  }
  return best
}
