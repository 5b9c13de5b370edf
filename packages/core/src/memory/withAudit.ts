/** A memory whose trails have what is no event: exports, copies, deletions, and reads. */
import { Effect, Stream } from "effect"
import type { LogError, Service as EventLog } from "@memfold/log/EventLog"
import type { AuditNoted } from "../event/Event.js"
import { note } from "../audit/Trail.js"
import type { AuditOptions } from "./MemoryOptions.js"
import type { KnownMemory, Service } from "./MemoryService.js"
import { callOperation, eachOperation, type OperationName, operations } from "./operations/table.js"
import { allOfOwned, ownerOf } from "./ownedSessions.js"

/** What an operation is to the audit; `null` if its events say enough. */
const actOf = (name: OperationName, reads: boolean): AuditNoted["act"] | null => {
  if (name === "eventsOf") return "export"
  if (name === "delete" || name === "deleteOf") return "delete"
  // The copy has the events with who did them there, and nothing of who has copied them.
  if (name === "fork") return "fork"
  return reads && operations[name].reads === true ? "read" : null
}

/**
 * Whose trails have an operation. What is deleted is in no list of its owner any more, so the trail of the owner names it; and each
 * session that goes with its owner has a trail that says so.
 */
const subjectsOf = (log: EventLog, name: string, id: string, kind: "session" | "owner") =>
  Effect.gen(function* () {
    if (kind === "owner") {
      const owned = name === "deleteOf" ? yield* allOfOwned(log, id) : []
      return [{ owner: id }, ...owned.map(({ session }) => ({ session }))]
    }
    const owner = name === "delete" ? yield* ownerOf(log, id) : null
    return [{ session: id }, ...(owner === null ? [] : [{ owner, session: id }])]
  })

/** The operations, each of which is noted before it answers: what cannot be noted is not shown. */
const noting = <Operations extends object>(
  log: EventLog,
  reads: boolean,
  memory: Operations,
): Operations => ({
  ...memory,
  ...eachOperation<Partial<Operations>>((name, { ids, streams = false }) => {
    const act = actOf(name, reads)
    if (act === null || !(name in memory)) return undefined
    const noted = (given: ReadonlyArray<unknown>): Effect.Effect<void, LogError> =>
      Effect.forEach(
        ids,
        (kind, at) => {
          const id = given[at]
          if (typeof id !== "string" || id === "") return Effect.void
          return Effect.flatMap(
            subjectsOf(log, name, id, kind),
            Effect.forEach((subject) => note(log, { act, ...subject, operation: name }), { discard: true }),
          )
        },
        { discard: true },
      )
    return (...given) => {
      const run = Effect.map(noted(given), () => callOperation(memory, name, given))
      return streams
        ? Stream.unwrap(run as Effect.Effect<Stream.Stream<unknown>>)
        : Effect.flatten(run as Effect.Effect<Effect.Effect<unknown>>)
    }
  }),
})

/** A memory with the audit that its options ask for. */
export const withAudit = (
  log: EventLog,
  audit: AuditOptions | undefined,
  memory: Service & { readonly known: KnownMemory },
): Service & { readonly known: KnownMemory } => {
  if (audit === undefined) return memory
  const noted = <Operations extends object>(operations: Operations) =>
    noting(log, audit.reads === true, operations)
  return {
    ...noted(memory),
    known: noted(memory.known),
    // What was read in a transaction was read, whatever becomes of it.
    within: (transaction) => Effect.map(memory.within(transaction), noted),
  }
}
