/**
 * Puts looks into the queue. An append waits until its look is there, so the looks of appends that run at once go together: what a
 * statement and the confirmation of the disk cost hardly depends on how many they are.
 */
import type { Dispatcher } from "@memfold/log"
import type PgBoss from "pg-boss"
import { type Data, hurry, rowsOf } from "./Boss.js"
import type { Settings } from "./Options.js"

/** A look, and when it is to start; `null` for now. */
export interface Asked extends Dispatcher.Look {
  readonly startAfter: Date | null
}

/** Priorities of pg-boss: the largest comes first. Contexts beyond their limit are equally urgent. */
const priorityOf = (fill: number): number => Math.round(1_000 * Math.min(Math.max(fill, 0), 1))

/** One look for each session, in an order that is the same in all processes: the earliest time, and the fullest context. */
const merged = (looks: ReadonlyArray<Asked>): ReadonlyArray<Asked> => {
  const bySession = new Map<string, Asked>()
  for (const look of looks) {
    const before = bySession.get(look.session) ?? look
    const earlier = look.time < before.time ? look : before
    bySession.set(look.session, { ...earlier, fill: Math.max(look.fill, before.fill) })
  }
  return [...bySession.values()].toSorted((one, other) => (one.session < other.session ? -1 : 1))
}

/** Puts looks into the queue, with a statement for those that are new, and one for those of sessions that have a look there. */
export const putLooks = async (
  boss: PgBoss,
  settings: Settings,
  given: ReadonlyArray<Asked>,
): Promise<void> => {
  const { queue, attempts, backOff, lease } = settings
  const looks = merged(given)
  let added: number | null = null
  const db: PgBoss.Db = {
    // pg-boss does not tell how many were new.
    executeSql: async (text, values) => {
      const result: { readonly rows: Array<unknown>; readonly rowCount?: number | null } = await boss
        .getDb()
        .executeSql(text, values)
      added = result.rowCount ?? null
      return result
    },
  }
  const jobs = looks.map(({ session, time, fill, startAfter }): PgBoss.JobInsert<Data> => ({
    name: queue,
    data: { session, time, fill },
    singletonKey: session,
    priority: priorityOf(fill),
    retryLimit: attempts - 1,
    retryDelay: Math.ceil(backOff / 1_000),
    retryBackoff: true,
    expireInSeconds: Math.ceil(lease / 1_000),
    ...(startAfter === null ? {} : { startAfter }),
  }))
  await boss.insert(jobs, { db })
  if (added === looks.length) return
  // A session has one that waits already; if it has been taken since, its worker sees everything.
  await rowsOf(boss, settings, hurry, [
    queue,
    looks.map(({ session }) => session),
    looks.map(({ startAfter }) => startAfter?.toISOString() ?? null),
    looks.map(({ fill }) => priorityOf(fill)),
    looks.map(({ time }) => time),
  ])
}

/** Makes a function that hands an item over with those of others: while a group is on its way, the next one gathers. */
export const gathered = <To, Item>(
  put: (to: To, items: ReadonlyArray<Item>) => Promise<void>,
): ((to: To, item: Item) => Promise<void>) => {
  let waiting: Array<Item> = []
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<void> | null = null
  return (to, item) => {
    waiting.push(item)
    next ??= last.then(() => {
      const group = waiting
      waiting = []
      next = null
      const done = put(to, group)
      // Whoever waits for the group hears of its failure.
      last = done.catch(() => undefined)
      return done
    })
    return next
  }
}
