/**
 * The log as one process has it: behind a network that delays, fails and forgets to answer. What the log takes is told
 * to the history at the moment it takes it.
 */
import { Effect, Exit } from "effect"
import { EventLog } from "../../src/index.js"
import type { History } from "./history.js"
import type { LogFaults } from "./plan.js"
import type { Process, World } from "./world.js"

/** What happens to one call. */
interface Fate {
  /** How long it takes until the log does it, and then until the answer is back. */
  readonly there: number
  readonly back: number
  readonly lost: "request" | "answer" | null
}

/** The log in memory, as a process reaches it. */
export const faultyLog = (
  inner: EventLog.Service,
  {
    world,
    history,
    process,
    faults,
  }: {
    readonly world: World
    readonly history: History
    readonly process: Process
    readonly faults: LogFaults
  },
): EventLog.Service => {
  const { draw } = world

  const fate = (): Fate => {
    if (world.calm) return { there: draw.below(3), back: draw.chance(0.2) ? 1 : 0, lost: null }
    const slow = draw.chance(faults.slow) ? draw.between(1_000, 20_000) : 0
    process.slowUntil = Math.max(process.slowUntil, slow === 0 ? 0 : world.now + slow + 50)
    const lost = draw.chance(faults.errors) ? draw.weighted({ request: 1, answer: 1 }) : null
    const there = draw.chance(0.5) ? 0 : draw.between(1, 20)
    const back = draw.chance(0.7) ? 0 : draw.between(1, 20)
    return draw.chance(0.5) ? { there: there + slow, back, lost } : { there, back: back + slow, lost }
  }

  /** One call: it takes effect at a moment of its own, and is answered at another. */
  const call = <A, E>(
    what: string,
    perform: () => Exit.Exit<A, E>,
    { writes = false } = {},
  ): Effect.Effect<A, E | EventLog.LogError> =>
    Effect.async<A, E | EventLog.LogError>((resume) => {
      const { there, back, lost } = fate()
      let waiting = true
      const fail = () => {
        process.faults++
        history.count(lost === "answer" ? "lost answers" : "lost requests")
        resume(new EventLog.LogError({ operation: what, reason: "the simulated store does not answer" }))
      }
      const sent = world.later(
        process,
        there,
        `${what}${lost === null ? "" : `, and the ${lost} is lost`}`,
        () => {
          const down = world.now < process.outageUntil
          const answer = down || lost === "request" ? null : perform()
          const returned = () => {
            if (!waiting) return
            if (answer === null || lost === "answer") fail()
            else resume(answer)
          }
          if (back === 0) returned()
          else world.later(process, back, `the answer to ${what}`, returned)
        },
        { sent: writes },
      )
      return Effect.sync(() => {
        waiting = false
        // A request that was sent may arrive although its caller has given up.
        if (!writes || draw.chance(0.5)) world.cancel(sent)
      })
    })

  const write =
    (what: string) =>
    (
      session: string,
      rewritten: ReadonlyArray<EventLog.RewrittenRecord> | null,
      records: Parameters<EventLog.Service["append"]>[1],
      options: EventLog.AppendOptions,
    ) =>
      call(
        `${what} ${session} at ${options.expectedVersion}: ${records.map(({ type }) => type).join(", ")}`,
        () => {
          const exit = Effect.runSyncExit(
            rewritten === null
              ? inner.append(session, records, options)
              : inner.rewrite(session, rewritten, records, options),
          )
          if (Exit.isFailure(exit)) history.count("conflicts")
          else if (exit.value.duplicate) history.count("repeated commits")
          else
            history.taken({
              process,
              session,
              records,
              batchId: options.batchId,
              rewritten,
              appended: exit.value,
            })
          return exit
        },
        { writes: true },
      )

  /**
   * A page of records, from what the history saw the log take: that costs less than asking the log, and at the end the two
   * are compared.
   */
  const page = (session: string, { fromVersion, toVersion, reverse, limit }: EventLog.PageOptions) =>
    call(`read ${session} from ${fromVersion}`, () => {
      const found = history.of(session).records.slice(fromVersion - 1, toVersion)
      return Exit.succeed((reverse ? found.toReversed() : found).slice(0, limit))
    })

  /** The snapshot as it is stored; or with a fault: missing, older, or damaged on the disk. */
  const snapshotRows = (session: string) => {
    const stored = Effect.runSyncExit(inner.projections.get(session, "snapshot"))
    if (world.calm || !draw.chance(faults.snapshots)) return stored
    const older = draw.any(history.of(session).snapshots)
    const fault = draw.weighted({ gone: 1, old: 1, damaged: 1 })
    if (fault === "gone" || older === undefined) return Exit.succeed([])
    if (fault === "old") return Exit.succeed([older])
    const at = draw.below(older.data.length)
    return Exit.succeed([{ ...older, data: `${older.data.slice(0, at)}?${older.data.slice(at + 1)}` }])
  }

  return {
    append: (session, records, options) => write("append to")(session, null, records, options),
    rewrite: (session, rewritten, records, options) => write("rewrite")(session, rewritten, records, options),
    read: page,
    head: (session) => call(`head of ${session}`, () => Effect.runSyncExit(inner.head(session))),
    list: (options) => call("list sessions", () => Effect.runSyncExit(inner.list(options))),
    projections: {
      get: (session, kind, filter) =>
        call(`${kind} rows of ${session}`, () =>
          kind === "snapshot"
            ? snapshotRows(session)
            : Effect.runSyncExit(inner.projections.get(session, kind, filter)),
        ),
      put: (session, at, changes) => {
        const kinds = changes.map(({ kind }) => kind)
        return call(
          `put ${kinds.join(", ")} rows of ${session} at ${at.version}`,
          () => {
            const isSnapshot = kinds.includes("snapshot")
            if (isSnapshot && !world.calm && draw.chance(faults.snapshots)) return Exit.void
            const exit = Effect.runSyncExit(inner.projections.put(session, at, changes))
            if (isSnapshot) history.snapshotSaved(session)
            return exit
          },
          { writes: true },
        )
      },
      drop: (kind, session) =>
        call(`drop ${kind} rows`, () => Effect.runSyncExit(inner.projections.drop(kind, session)), {
          writes: true,
        }),
    },
    delete: (session) =>
      call(
        `delete ${session}`,
        () => {
          const exit = Effect.runSyncExit(inner.delete(session))
          if (Exit.isSuccess(exit) && exit.value) history.deleted(process, session)
          return exit
        },
        { writes: true },
      ),
  }
}
