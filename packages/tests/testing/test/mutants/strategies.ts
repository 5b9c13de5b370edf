/** Strategies, and ways to decide, that are wrong. */
import { SummaryMode, Keep, Policy, Strategy, BatchSize, Trigger } from "@memfold/core"
import { strategyProperties, type StrategyPropertiesOptions } from "../../src/index.js"
import type { Mutant } from "./Mutant.js"

const right = Strategy.make({
  name: "right",
  when: Trigger.uncovered({ messages: 6 }),
  keep: Keep.lastMessages(2),
  batchSize: BatchSize.messages(4),
  summaryMode: SummaryMode.rolling,
})

const strategy = (
  name: string,
  law: string,
  fault: Partial<Strategy.Strategy>,
  options?: StrategyPropertiesOptions,
): Mutant => ({ name, law, laws: () => strategyProperties({ ...right, ...fault }, options) })

/** Changes the plan of a right decision. */
const planning = (
  name: string,
  law: string,
  change: (plan: Policy.Plan, ...given: Parameters<typeof Policy.decide>) => Partial<Policy.Plan>,
): Mutant => ({
  name,
  law,
  laws: () =>
    strategyProperties(right, {
      decide: (...given) => {
        const decision = Policy.decide(...given)
        if (decision._tag === "Idle") return decision
        const { plan } = decision
        return { _tag: "Due", plan: { ...plan, ...change(plan, ...given) } }
      },
    }),
})

/** A plan for one part from here to there. */
const range = (from: number, to: number): Partial<Policy.Plan> => ({
  from,
  to,
  parts: [{ kind: "history", from, to }],
})

let calls = 0

const minute = 60_000

export const strategyMutants: ReadonlyArray<Mutant> = [
  strategy("asks for the tail", "L2", { batchSize: { to: ({ total }) => total } }),
  strategy(
    "counts rounds as pairs of messages",
    "L2",
    { when: Trigger.uncovered({ messages: 10 }), keep: Keep.lastMessages(4) },
    { turns: 2 },
  ),
  strategy("answers with no number", "L3", { keep: { from: () => Number.NaN, describe: "nothing" } }),
  strategy("decides by the clock on the wall", "L6", {
    when: { due: (view) => (view.total > 6 && Date.now() % 2 === 0 ? "even" : null) },
  }),
  strategy("throws dice", "L6", {
    when: { due: (view) => (view.total > 6 && Math.random() < 0.5 ? "heads" : null) },
  }),
  strategy("counts how often it was asked", "L6: the same state", {
    when: { due: (view) => (view.total > 6 && calls++ % 3 === 0 ? "third" : null) },
  }),
  strategy("throws where two calls are open", "L8", {
    when: {
      due: (view) => {
        if (view.openCalls > 1) throw new Error("one call at a time")
        return view.total - view.coveredTo >= 6 ? "uncovered" : null
      },
    },
  }),
  strategy("says a time that moves", "L11", {
    when: {
      due: ({ now, lastMessageTime }) => (now - lastMessageTime >= minute ? "idle" : null),
      dueTime: ({ now }) => now + minute,
    },
  }),
  strategy("promises a time and is not due then", "L11", {
    when: {
      due: right.when.due,
      dueTime: ({ lastMessageTime }) => lastMessageTime + minute,
    },
  }),
  strategy("is due before the time it says", "L11", {
    when: {
      due: ({ now, lastMessageTime }) => (now - lastMessageTime >= minute ? "idle" : null),
      dueTime: ({ lastMessageTime }) => lastMessageTime + 2 * minute,
    },
  }),
  strategy("says a time that is none", "L11", {
    when: { due: right.when.due, dueTime: () => Number.NaN },
  }),
  strategy("throws dice for its time", "L6", {
    when: { due: right.when.due, dueTime: ({ now }) => now + Math.random() * minute },
  }),
  strategy("throws when it is asked for a time", "L8", {
    when: {
      due: right.when.due,
      dueTime: () => {
        throw new Error("it has none")
      },
    },
  }),
  planning("compacts the tail", "L2", (_plan, _strategy, state) => range(state.coveredTo, state.total)),
  planning("leaves a hole", "L3", ({ from, to }) => (to - from > 1 ? range(from + 1, to) : {})),
  planning("goes back", "L3", ({ from, to }) => (from > 1 ? range(from - 2, to) : {})),
  planning("cuts parallel calls", "L5", ({ from, to }) => (to - from > 1 ? range(from, to - 1) : {})),
  planning("forgets a part of what it covers", "L3", ({ from, to }) =>
    to - from > 2
      ? {
          parts: [
            { kind: "history", from, to: from + 1 },
            { kind: "history", from: from + 2, to },
          ],
        }
      : {},
  ),
  {
    name: "loops for ever",
    law: "L9",
    laws: () =>
      strategyProperties(right, {
        decide: (asked, state, options) => {
          const decision = Policy.decide(asked, state, options)
          const { coveredTo } = state
          const plan = {
            reason: "again",
            tailFrom: coveredTo,
            prune: [],
            ...range(coveredTo, coveredTo),
          } as Policy.Plan
          return decision._tag === "Idle" && coveredTo > 0 ? { _tag: "Due", plan } : decision
        },
      }),
  },
  {
    name: "changes its input in place",
    law: "L10: a decision does not mutate",
    laws: () =>
      strategyProperties(right, {
        decide: (asked, state, options) => {
          ;(state.pinned as Array<unknown>).reverse()
          Object.assign(state, { lastPromptIndex: state.lastPromptIndex + 1 })
          return Policy.decide(asked, state, options)
        },
      }),
  },
]
