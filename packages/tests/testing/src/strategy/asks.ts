/**
 * The results of a strategy's parts before the engine corrects them. The engine moves message indexes to boundaries and
 * out of the tail, which hides the faults of a strategy; these laws see them.
 */
import type { Policy, Strategy } from "@memfold/core"

/** A call of a part of a strategy, and its result. */
export type Ask =
  | { readonly part: "when"; readonly answer: string | null }
  | { readonly part: "when.dueAt"; readonly answer: number | null }
  | { readonly part: "keep"; readonly answer: number; readonly total: number }
  | {
      readonly part: "take"
      readonly answer: number
      readonly coveredTo: number
      readonly tailFrom: number
      readonly total: number
    }
  | { readonly part: "split"; readonly answer: number; readonly tokens: number }

/** The strategy, with every result of its parts reported to `hear`. */
export const overheard = (strategy: Strategy.Strategy, hear: (ask: Ask) => void): Strategy.Strategy => {
  const { when, keep, batchSize, split } = strategy
  const { dueTime } = when
  return {
    ...strategy,
    when: {
      due: (view) => {
        const answer = when.due(view)
        hear({ part: "when", answer })
        return answer
      },
      ...(dueTime === undefined
        ? {}
        : {
            dueTime: (view) => {
              const answer = dueTime(view)
              hear({ part: "when.dueAt", answer })
              return answer
            },
          }),
    },
    keep: {
      ...keep,
      from: (view) => {
        const answer = keep.from(view)
        hear({ part: "keep", answer, total: view.total })
        return answer
      },
    },
    batchSize: {
      to: (view, tailFrom) => {
        const answer = batchSize.to(view, tailFrom)
        hear({ part: "take", answer, tailFrom, coveredTo: view.coveredTo, total: view.total })
        return answer
      },
    },
    ...(split === undefined
      ? {}
      : {
          split: {
            ...split,
            prefix: (tail) => {
              const answer = split.prefix(tail)
              hear({ part: "split", answer, tokens: tail.tokens })
              return answer
            },
          },
        }),
  }
}

/** Describes a result that is no message index, reason, time or number of tokens; `null` for a valid one. */
export const malformed = (ask: Ask): string | null => {
  switch (ask.part) {
    case "when":
      return ask.answer === null || (typeof ask.answer === "string" && ask.answer.trim() !== "")
        ? null
        : `"when.due" returned ${JSON.stringify(ask.answer)}; allowed: a reason in words, or null`
    case "when.dueAt":
      return ask.answer === null || (typeof ask.answer === "number" && Number.isFinite(ask.answer))
        ? null
        : `"when.dueTime" returned ${String(ask.answer)}; allowed: a time in milliseconds since the epoch, or null`
    case "keep":
      if (typeof ask.answer !== "number" || Number.isNaN(ask.answer))
        return `"keep" returned ${String(ask.answer)}`
      return ask.answer > ask.total
        ? `"keep" starts the tail at ${ask.answer}, but there are ${ask.total} messages`
        : null
    case "take":
      return typeof ask.answer !== "number" || Number.isNaN(ask.answer)
        ? `"batchSize" returned ${String(ask.answer)}`
        : null
    case "split":
      return typeof ask.answer !== "number" || Number.isNaN(ask.answer) || ask.answer < 0
        ? `"split" gives the prefix ${String(ask.answer)} tokens`
        : null
  }
}

/** Describes the first contradiction in a plan; `null` if there is none. */
export const wrongPlan = (
  { from, to, tailFrom, parts, prune, reason }: Policy.Plan,
  { coveredTo, total }: { readonly coveredTo: number; readonly total: number },
): string | null => {
  const whole = [from, to, tailFrom].every((position) => Number.isInteger(position) && position >= 0)
  if (!whole) return `positions are whole numbers: [${from},${to}), tail from ${tailFrom}`
  if (typeof reason !== "string" || reason.trim() === "") return `its reason is ${JSON.stringify(reason)}`
  if (to > total) return `it ends at ${to}, and there are ${total} messages`
  if (parts.length === 0 && prune.length === 0)
    return "it does nothing: no part to compact, and no output to prune"
  if (parts.length === 0 && to !== coveredTo) return `it compacts nothing, but moves to ${to}`
  let end = from
  for (const part of parts) {
    if (part.from !== end || part.to <= part.from) {
      return `its parts are to follow each other from ${from} to ${to}: ${parts.map((one) => `[${one.from},${one.to})`).join(" ")}`
    }
    end = part.to
  }
  return parts.length > 0 && end !== to ? `its parts end at ${end}, and it ends at ${to}` : null
}
