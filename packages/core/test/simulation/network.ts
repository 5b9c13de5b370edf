/** The network between a process and the log: it delays calls, fails, and forgets to answer. */
import { Effect, type Exit } from "effect"
import { EventLog } from "../../src/index.js"
import type { History } from "./history.js"
import type { LogFaults } from "./plan.js"
import type { Process, World } from "./world.js"

/** One call: it takes effect at a moment of its own, and is answered at another. */
export type Call = <A, E>(
  what: string,
  perform: () => Exit.Exit<A, E>,
  options?: { readonly writes?: boolean },
) => Effect.Effect<A, E | EventLog.LogError>

/** What a process's way to the log depends on. */
export interface NetworkParts {
  readonly world: World
  readonly history: History
  readonly process: Process
  readonly faults: LogFaults
}

/** What happens to one call. */
interface Fate {
  /** How long it takes until the log does it, and then until the answer is back. */
  readonly there: number
  readonly back: number
  readonly lost: "request" | "answer" | null
}

/** The calls of a process. */
export const callsOf = ({ world, history, process, faults }: NetworkParts): Call => {
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

  return <A, E>(what: string, perform: () => Exit.Exit<A, E>, { writes = false } = {}) =>
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
}
