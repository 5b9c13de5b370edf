/**
 * The log as one process has it: behind a network that delays, fails and forgets to answer. What the log takes is told
 * to the history at the moment it takes it.
 */
import { Effect, Exit } from "effect"
import type { EventLog } from "../../src/index.js"
import { callsOf, type NetworkParts } from "./network.js"

/** The log in memory, as a process reaches it. */
export const faultyLog = (inner: EventLog.Service, parts: NetworkParts): EventLog.Service => {
  const { world, history, process, faults } = parts
  const { draw } = world
  const call = callsOf(parts)

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
