/** A decision depends only on its input (L6: the same log gives the same state) and changes nothing (L10). */
import type { Policy } from "@memfold/core"
import { type Law, must, same } from "../../law/Law.js"
import type { Input, Kit } from "../input.js"
import type { DecidedCompaction, Rehearsal } from "../rehearse.js"
import { inSurroundings, worlds } from "../surroundings.js"
import { Changed, deepFreeze, frozenCopy, lending } from "../untouched.js"
import { viewOf } from "../viewOf.js"

/** A plan without the state it was made from. */
const planOf = ({ reason, from, to, tailFrom, parts, prune }: Policy.Plan): Policy.Plan => ({
  reason,
  from,
  to,
  tailFrom,
  parts,
  prune,
})

const brief = ({ decided, moments, thrown }: Rehearsal) => ({
  plans: decided.map((plan) => ({ total: plan.total, ...planOf(plan) })),
  dueTime: moments.map((moment) => String(moment.dueTime)),
  thrown: thrown === null ? null : thrown.total,
})

/** Everything in a state except the buffers it shares with later states. */
const freezeState = (state: DecidedCompaction["before"]): void => {
  for (const value of Object.values(state))
    if (!(value instanceof state.uncovered.constructor)) deepFreeze(value)
  for (const entry of state.uncovered) deepFreeze(entry)
  Object.freeze(state)
}

const wasChange = (error: unknown): boolean =>
  error instanceof Changed ||
  (error instanceof TypeError &&
    /read.?only|extensible|Cannot (assign|add|delete|define|redefine)/i.test(error.message))

export const purityLaws = ({ law, decide }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L6",
    name: "decisions depend on neither the wall clock nor randomness",
    explanation:
      "The only time is `view.now`: with other results of Date, performance.now and Math.random the decisions are\n" +
      "the same. A log that is replayed a year later must give the same decisions.",
    holds: (input, rehearse) => {
      const [first, ...others] = worlds.map((world) => ({
        world,
        ...inSurroundings(world, () => rehearse(input)),
      }))
      for (const other of others) {
        same(brief(other.answer), brief(first!.answer), () => {
          const asked = [...new Set([...first!.asked, ...other.asked])].join(", ")
          return `at another time of day it decides otherwise${asked === "" ? "" : `; it asked for ${asked}`}`
        })
      }
    },
  }),
  law({
    id: "L6",
    name: "the same state gives the same decision",
    explanation:
      "A strategy remembers nothing between decisions: asked again about the same states, in another order, it gives\n" +
      "the same decisions. Every process has its own instance, and all must decide alike.",
    holds: (input, rehearse) => {
      const { decided, moments, strategy, endless } = rehearse(input)
      for (const plan of decided.toReversed()) {
        const again = decide(strategy, plan.before, { now: plan.now, onDemand: plan.onDemand })
        same(
          again._tag === "Due" ? planOf(again.plan) : again.reason,
          planOf(plan),
          () => `asked again about the state with ${plan.total} messages, it says something else`,
        )
      }
      for (const { settled, state, now, dueTime } of endless === null ? moments.toReversed() : []) {
        const again = decide(strategy, state, { now })
        must(
          !settled || again._tag === "Idle",
          () => `nothing was due with ${state.total} messages, and asked again, something is`,
        )
        const time = strategy.when.dueTime?.(viewOf(state, now, strategy.keep)) ?? null
        same(
          String(time),
          String(dueTime),
          () => `asked again about the state with ${state.total} messages, it is due at another time`,
        )
      }
    },
  }),
  law({
    id: "L6",
    name: "the same conversation gives the same compactions",
    explanation: "Two rehearsals of one conversation are equal, event by event.",
    holds: (input, rehearse) => {
      const [one, other] = [rehearse(input), rehearse(input)]
      same(brief(other), brief(one), () => "the second time, it decides otherwise")
      same(other.events, one.events, () => "the second time, other events come of it")
    },
  }),
  law({
    id: "L10",
    name: "a decision does not mutate its input",
    explanation:
      "Views, states and messages are shared. A change would also affect the next part of the strategy, other fibers\n" +
      "and the cache.",
    holds: ({ batches, ...input }, rehearse) => {
      const frozen: Input = {
        ...input,
        strategy: lending(input.strategy),
        batches: frozenCopy(batches),
      }
      const { thrown } = rehearse(frozen, {
        decide: (strategy, state, options) => {
          freezeState(state)
          return decide(strategy, state, options)
        },
      })
      must(
        thrown === null || !wasChange(thrown.error),
        () => `with ${thrown?.total} messages: ${thrown?.error instanceof Error ? thrown.error.message : ""}`,
      )
    },
  }),
  law({
    id: "L8",
    name: "the strategy throws for no conversation",
    explanation:
      "Deciding and rendering end for every conversation. A strategy that throws fails no append, but the session is\n" +
      "never compacted again.",
    holds: (input, rehearse) => {
      const { thrown } = rehearse(input)
      if (thrown === null) return
      const { error, total } = thrown
      const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      must(false, () => `with ${total} messages, it throws ${what}`)
    },
  }),
]
