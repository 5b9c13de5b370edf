/** What was spent today of the caps that hold for a session: by itself, by all sessions of its owner, and by all of the store. */
import type { Problem, schemas } from "@memfold/client/api"
import { Memory, type Session } from "@memfold/core"
import { Clock, Effect } from "effect"
import { existing } from "./handlers/operation.js"
import { given } from "./requests.js"
import type { TenantMemory } from "./TenantMemory.js"

type Amount = typeof schemas.SpentOfCap.Type
type Known = Memory.SpendOptions | undefined

/** What a log counts on a day, of the cap that this service has, or of the one that another process has reached. */
const amountOf = (
  scope: Memory.SpendScope,
  counted: Session.Spent | null,
  day: string,
  caps: Known,
): ReadonlyArray<Amount> => {
  const today = counted?.day === day ? counted : null
  const reached = today?.reached ?? null
  const cap = caps?.[scope] ?? reached
  // Nobody counts: no process has such a cap.
  if (counted === null && cap === null) return []
  return [
    {
      scope,
      cap: cap === null ? null : given({ tokens: cap.tokens, dollars: cap.dollars }),
      tokens: today?.tokens ?? 0,
      dollars: today?.dollars ?? 0,
      heldTokens: today?.heldTokens ?? 0,
      heldDollars: today?.heldDollars ?? 0,
      reached: reached?.time ?? null,
    },
  ]
}

export const spentToday = (
  memory: TenantMemory,
  session: string,
  caps: Known,
): Effect.Effect<typeof schemas.SpentToday.Type, Memory.MemoryError | Problem> =>
  Effect.gen(function* () {
    const { owner } = (yield* existing(memory, session)).description
    const day = Memory.dayOf(yield* Clock.currentTimeMillis)
    const logs: ReadonlyArray<readonly [Memory.SpendScope, string | null]> = [
      ["session", session],
      ["owner", owner],
      ["total", ""],
    ]
    const amounts = yield* Effect.forEach(logs, ([scope, name]) =>
      name === null
        ? Effect.succeed([])
        : Effect.map(memory.spent(scope, name), (counted) =>
            counted === "hidden" ? [] : amountOf(scope, counted, day, caps),
          ),
    )
    return { day, caps: amounts.flat() }
  })
