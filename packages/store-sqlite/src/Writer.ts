/**
 * The writes of one connection: transactions that take the write lock at their start, shared by the writes that wait at
 * the same time (group commit), and turns that are shared with other processes.
 *
 * A write waits until the other fibers and sockets of the process have had their turn, so that theirs can share its transaction.
 * Only the writes to one session, one after the other, are done at once while nobody else waits, as long as the event loop is
 * not kept.
 *
 * SQLite has no queue for its lock, and its own waiting blocks the thread. So the lock is tried without waiting and tried
 * again by a timer. While other processes write, a process that writes without a break leaves the lock free now and then,
 * long enough for each of their timers to find it free.
 */
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Effect, Exit } from "effect"
import { sqlError } from "./driver.js"
import type { Run, RunNow } from "./Row.js"

/** What to write. */
export interface Work {
  /** Its session, if it is of one. */
  readonly session: string | undefined
  readonly body: (run: Run, now: RunNow) => Effect.Effect<unknown, unknown>
  /** Does the work of `body` in the usual case; `null` if it changed nothing, and `body` has to run. */
  readonly atOnce: ((run: RunNow) => unknown) | undefined
  /** Whether the body pauses now and then, so that its transaction stays open while the event loop goes on. */
  readonly pauses: boolean
}

/** A write that waits for a transaction. */
export interface Write extends Work {
  readonly answer: (exit: Exit.Exit<unknown, unknown>) => void
}

interface Waiting extends Write {
  /** When it came, and when it gives up waiting for the lock. */
  readonly since: number
  /** Whether the lock was not free when it was tried for this write. */
  delayed: boolean
}

/** After this many milliseconds of writes in a row, timers and sockets get a turn. */
const longestRun = 2

/**
 * While other processes write as well: how long this one writes without a break, and how long it leaves the lock free
 * then, in milliseconds. Each change between processes costs as much as several writes.
 */
const longestTurn = 20
const breakLength = 3

/** Another process counts as writing for this long after its last sign, in milliseconds. */
const companyLasts = 250

/**
 * How long to wait until the lock is tried again, in milliseconds. The more processes wait, the longer each of them does,
 * and the less often each has to try for the lock to be found free at once: so many times within its usual wait. All
 * have to try equally often, so it is not the present wait that counts.
 */
const tryEvery = { atLeast: 1, atMost: 8, triesInWait: 16 }

/**
 * Writes of many sessions at once touch many pages, the same ones again and again. From this many in a transaction on, the
 * write-ahead log grows to 16 MB (SQLite's default is 4 MB) before its pages are copied to the file, or that would happen
 * every few transactions. A log that is larger than needed is slower: to append to a file that still grows takes longer
 * than to write over it.
 */
const manyAtOnce = { writes: 8, pages: 4_000 }

/**
 * After this many milliseconds, a transaction takes no more of the writes that wait. They have the next one, after timers and
 * sockets.
 */
const longestGroup = 10

/**
 * So many writers are answered at a time. Each goes on at once, renders a context and starts the next turn perhaps: then timers
 * and sockets have theirs.
 */
const answeredAtOnce = 2

/** How long a transaction stays open for a write that found a newer version, so that its next try finds no newer one. */
const longestHold = 10

/** Whether an error says that another connection has a lock. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SqlError &&
  /^SQLITE_(BUSY|LOCKED)/.test(String((error.cause as { readonly code?: unknown } | null)?.code))

const isBusyExit = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.isFailType(exit.cause) && isBusy(exit.cause.error)

/** Whether the transaction can go on: the body succeeded, or failed with an error of its own and wrote nothing. */
const canGoOn = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit) || (Cause.isFailType(exit.cause) && !(exit.cause.error instanceof SqlError))

/**
 * Makes the writer of a connection whose `busy_timeout` is 0.
 *
 * @param run - runs a statement of the connection; and the same at once
 * @param patience - how long a write waits for the lock, in milliseconds
 */
export const make = ({ run, now: runNow }: { readonly run: Run; readonly now: RunNow }, patience: number) => {
  /** Runs a statement that begins or ends a transaction; the error if SQLite fails. */
  const tried = (sql: string): SqlError | null => {
    try {
      runNow(sql)
      return null
    } catch (error) {
      return sqlError(error)
    }
  }

  /** Does the work of a write in the transaction that has begun. */
  const settled = ({ body, atOnce }: Work): Exit.Exit<unknown, unknown> => {
    try {
      const done = atOnce?.(runNow) ?? null
      if (done !== null) return Exit.succeed(done)
    } catch (error) {
      return Exit.fail(sqlError(error))
    }
    return Effect.runSyncExit(body(run, runNow))
  }

  /** Ends the transaction of one write, which has done its work or failed. */
  const ended = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
    const failed = Exit.isSuccess(exit) ? tried("COMMIT") : null
    if (Exit.isFailure(exit) || failed !== null) tried("ROLLBACK")
    return failed === null ? exit : Exit.fail(failed)
  }

  /** Runs a write in a transaction of its own. */
  const alone = (write: Work): Exit.Exit<unknown, unknown> => {
    const busy = tried("BEGIN IMMEDIATE")
    return busy === null ? ended(settled(write)) : Exit.fail(busy)
  }

  /** Until when other processes count as writing. */
  let companyUntil = 0

  /** Whether the transaction is open between two groups, see {@link longestHold}; and the timer that ends it. */
  let held: ReturnType<typeof setTimeout> | null = null

  const release = () => {
    if (held === null) return
    clearTimeout(held)
    held = null
    tried("ROLLBACK")
  }

  /**
   * Runs a group in one transaction, or as many of its writes as there is time for. If SQLite fails at any of them, each is run
   * again alone.
   *
   * The transaction is kept open if none of its writes has changed anything, because another process was first each time.
   * It would be first again, if it could write before they have read what is new.
   */
  const together = (group: ReadonlyArray<Write>): ReadonlyArray<Exit.Exit<unknown, unknown>> => {
    if (held === null) {
      const busy = tried("BEGIN IMMEDIATE")
      // Nothing was written.
      if (busy !== null) return group.map(() => Exit.fail(busy))
    } else {
      clearTimeout(held)
      held = null
    }
    const exits: Array<Exit.Exit<unknown, unknown>> = []
    const until = performance.now() + longestGroup
    for (const write of group) {
      const exit = settled(write)
      exits.push(exit)
      if (!canGoOn(exit)) {
        tried("ROLLBACK")
        return group.slice(0, exits.length).map(alone)
      }
      if (performance.now() > until) break
    }
    const holds = exits.every(Exit.isFailure) && performance.now() < companyUntil
    if (holds) held = setTimeout(release, longestHold)
    else if (tried("COMMIT") !== null) {
      tried("ROLLBACK")
      return group.slice(0, exits.length).map(alone)
    }
    return exits
  }

  /** Whether the write-ahead log may grow to the size for many writes at once. */
  let grown = false

  /** Whether a write that pauses is under way. */
  let pausing = false

  let waiting: Array<Waiting> = []
  let scheduled = false
  /** When the current run of writes began, without a turn for timers and sockets; 0 between runs. */
  let busySince = 0
  /** When the process began to write without a break for others, and when it last wrote. */
  let turnSince = 0
  let lastWrite = 0
  let seenChanges: unknown
  /** How long a write that was delayed has had to wait for the lock, as a moving average in milliseconds. */
  let usualWait = 0
  let lastSession: string | undefined
  /** When writes at once began since the last turn of the event loop; 0 if none has. */
  let atOnceSince = 0

  /** Looks whether another connection has written since the last look. */
  const lookForCompany = (now: number) => {
    let changes = seenChanges
    try {
      changes = runNow("PRAGMA data_version")[0]?.["data_version"]
    } catch {
      // The next look tells.
    }
    if (seenChanges !== undefined && changes !== seenChanges) companyUntil = now + companyLasts
    seenChanges = changes
  }

  /** Takes note that this process writes now. */
  const begin = (now: number, wasDelayed: boolean) => {
    if (busySince === 0) {
      busySince = now
      // The tick comes after all microtasks, so after every append that follows directly.
      queueMicrotask(() =>
        process.nextTick(() => {
          busySince = 0
        }),
      )
    }
    if (wasDelayed) turnSince = now
    else if (now - lastWrite >= breakLength / 2 || now - turnSince >= longestTurn) {
      turnSince = now
      lookForCompany(now)
    }
  }

  /**
   * Waits for other writes before the next flush, so that they share its transaction: until sockets have had their turn,
   * or, within a run of writes, until the other fibers have.
   */
  const schedule = () => {
    scheduled = true
    const now = performance.now()
    if (held === null && now < companyUntil && now - turnSince >= longestTurn) {
      const rest = breakLength - (now - lastWrite)
      if (rest > 0) return void setTimeout(flush, rest)
    }
    if (busySince > 0 && now - busySince < longestRun) queueMicrotask(flush)
    else setImmediate(flush)
  }

  /** Tries again later the writes that found the lock taken. */
  const tryAgain = (again: ReadonlyArray<Waiting>) => {
    companyUntil = lastWrite + companyLasts
    waiting = [...again, ...waiting]
    scheduled = true
    setTimeout(flush, Math.min(Math.max(usualWait / tryEvery.triesInWait, tryEvery.atLeast), tryEvery.atMost))
  }

  /** Runs a write that pauses, in a transaction of its own. The others wait: they would become a part of it. */
  const paused = (write: Waiting) => {
    release()
    const busy = tried("BEGIN IMMEDIATE")
    lastWrite = performance.now()
    if (busy !== null && isBusy(busy) && lastWrite - write.since < patience) return tryAgain([write])
    if (busy !== null) {
      write.answer(Exit.fail(busy))
      return flush()
    }
    pausing = true
    scheduled = true
    Effect.runCallback(write.body(run, runNow), {
      onExit: (exit) => {
        const answer = ended(exit)
        pausing = false
        lastWrite = performance.now()
        write.answer(answer)
        schedule()
      },
    })
  }

  /** The answers that the writers of the last transaction still wait for. */
  let answers: Array<() => void> = []

  /** Answers writers in their order, some at a time. */
  const answer = (): void => {
    for (const one of answers.splice(0, answeredAtOnce)) one()
    if (answers.length > 0) setImmediate(answer)
  }

  /** Takes the writes that can share the next transaction: none after one that pauses, which has one of its own. */
  const nextGroup = (): ReadonlyArray<Waiting> => {
    const at = waiting.findIndex(({ pauses }) => pauses)
    const end = at === -1 ? waiting.length : Math.max(at, 1)
    const group = waiting.slice(0, end)
    waiting = waiting.slice(end)
    return group
  }

  /** Writes everything that waits, and answers each writer. Whoever finds the lock taken waits on. */
  const flush = (): void => {
    // Those who are not answered yet may write next, and share the transaction.
    if (answers.length > 0) return void setImmediate(flush)
    scheduled = false
    const group = nextGroup()
    if (group.length === 0) return
    if (group[0]?.pauses === true) return paused(group[0])
    const now = performance.now()
    const [longest] = group
    const wasDelayed = longest?.delayed === true
    begin(now, wasDelayed)
    // Synchronous, because no other fiber may run in between: a transaction that waits for fibers would keep the lock from
    // other processes for as long as they take.
    const exits =
      longest !== undefined && group.length === 1 && held === null && now >= companyUntil
        ? [alone(longest)]
        : together(group)
    lastWrite = performance.now()
    if (!grown && group.length >= manyAtOnce.writes) {
      grown = true
      tried(`PRAGMA wal_autocheckpoint = ${manyAtOnce.pages}`)
    }
    const again: Array<Waiting> = []
    for (const [position, exit] of exits.entries()) {
      const write = group[position]!
      if (isBusyExit(exit) && lastWrite - write.since < patience) {
        write.delayed = true
        again.push(write)
      } else answers.push(() => write.answer(exit))
    }
    waiting = [...group.slice(exits.length), ...waiting]
    answer()
    if (again.length > 0) return tryAgain(again)
    if (longest !== undefined && wasDelayed) usualWait += (now - longest.since - usualWait) / 4
    if (waiting.length > 0 && !scheduled) schedule()
  }

  /** Whether nobody waits, here or in another process. */
  const isQuiet = (now: number): boolean =>
    !scheduled && waiting.length === 0 && answers.length === 0 && held === null && now >= companyUntil

  return {
    /**
     * Writes at once, if the last write was to the same session, nobody else writes, and timers and sockets have had their turn
     * not long ago. Otherwise the result is `null`, nothing was written, and the write has to wait.
     */
    writeAtOnce: (work: Work): Exit.Exit<unknown, unknown> | null => {
      const now = performance.now()
      if (work.session === undefined || work.session !== lastSession || work.pauses) return null
      if (!isQuiet(now) || (atOnceSince > 0 && now - atOnceSince >= longestRun)) return null
      begin(now, false)
      // It has just looked for others.
      if (now < companyUntil) return null
      if (atOnceSince === 0) {
        atOnceSince = now
        // Not a tick or a microtask: programs that go on by those would keep timers and sockets from their turn.
        setImmediate(() => {
          atOnceSince = 0
        })
      }
      const exit = alone(work)
      lastWrite = performance.now()
      return isBusyExit(exit) ? null : exit
    },
    write: (write: Write): void => {
      const { session, body, atOnce, answer, pauses } = write
      lastSession = session
      waiting.push({ session, body, atOnce, answer, pauses, since: performance.now(), delayed: false })
      if (!scheduled) schedule()
    },
    /** Whether a transaction is open, and what needs that none is has to wait. */
    holds: (): boolean => held !== null || pausing,
    /** Ends a transaction that is still open. */
    release,
  }
}
