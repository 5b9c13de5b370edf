/** Generated loops of tools, as models say them: blank texts, names that a model makes up, calls beside each other, empty results. */
import type { Answering } from "@memfold/strict-providers"
import * as fc from "fast-check"
import { Keep, Strategy, SummaryMode, Trigger } from "memfold"

const steps = fc.array(
  fc.record({
    thinks: fc.boolean(),
    text: fc.constantFrom("", " ", "\n\n", "Let me see."),
    calls: fc.array(fc.constantFrom("lookUp", "files.open", "look up!", "x".repeat(90)), {
      minLength: 1,
      maxLength: 3,
    }),
    output: fc.constantFrom("", " ", "found it", "line of a file. ".repeat(100)),
  }),
  { minLength: 4, maxLength: 8 },
)

/** Compacts at every step, whatever there is. */
export const always = Strategy.make({
  name: "always",
  when: Trigger.backlog({ messages: 1 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

/** A memory that compacts at every step. */
export const compacting = {
  store: "memory:",
  strategy: always,
  summarizer: "echo",
  compaction: { mode: "inline" },
} as const

/** A loop: what the model says in each step, and what the tool `lookUp` returns there. */
export const toolLoop = (seed: number): { readonly answer: Answering; readonly output: () => string } => {
  const loop = fc.sample(steps, { seed, numRuns: 1 })[0]!
  let said = 0
  return {
    answer: () => {
      const step = loop[said++ % (loop.length + 1)]
      if (step === undefined) return { text: "Done." }
      const { thinks, text, calls } = step
      return {
        ...(thinks ? { thinking: "Hm." } : {}),
        ...(text === "" ? {} : { text }),
        calls: calls.map((name, depth) => ({ name, arguments: { request: `${said}`, depth } })),
      }
    },
    output: () => loop[said % loop.length]!.output,
  }
}
