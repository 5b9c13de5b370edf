/**
 * The answers of a strategy's parts, before the engine corrects them. The engine moves message indices to boundaries
 * and out of the tail, and a faulty strategy does no harm; here the fault shows.
 */
import type { Policy, Strategy } from "@memfold/core"

/** What a part was asked, and what it answered. */
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

/** A strategy that tells what its parts answer. */
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

/** The answers that are no positions or reasons at all. */
export const malformed = (ask: Ask): string | null => {
  switch (ask.part) {
    case "when":
      return ask.answer === null || (typeof ask.answer === "string" && ask.answer.trim() !== "")
        ? null
        : `"when" answered ${JSON.stringify(ask.answer)}; a reason in words, or null`
    case "when.dueAt":
      return ask.answer === null || (typeof ask.answer === "number" && Number.isFinite(ask.answer))
        ? null
        : `"when.dueAt" answered ${String(ask.answer)}; a time in milliseconds since the epoch, or null`
    case "keep":
      if (typeof ask.answer !== "number" || Number.isNaN(ask.answer))
        return `"keep" answered ${String(ask.answer)}`
      return ask.answer > ask.total
        ? `"keep" has the tail begin at ${ask.answer}, and there are ${ask.total} messages`
        : null
    case "take":
      return typeof ask.answer !== "number" || Number.isNaN(ask.answer)
        ? `"take" answered ${String(ask.answer)}`
        : null
    case "split":
      return typeof ask.answer !== "number" || Number.isNaN(ask.answer) || ask.answer < 0
        ? `"split" gives the prefix ${String(ask.answer)} tokens`
        : null
  }
}

/** What a plan says that no plan may say. */
export const wrongPlan = (
  { from, to, tailFrom, parts, prune, reason }: Policy.Plan,
  { coveredTo, total }: { readonly coveredTo: number; readonly total: number },
): string | null => {
  const whole = [from, to, tailFrom].every((position) => Number.isInteger(position) && position >= 0)
  if (!whole) return `positions are whole numbers: [${from},${to}), tail from ${tailFrom}`
  if (typeof reason !== "string" || reason.trim() === "") return `its reason is ${JSON.stringify(reason)}`
  if (to > total) return `it ends at ${to}, and there are ${total} messages`
  if (parts.length === 0 && prune.length === 0)
    return "it does nothing: no part to fold, and no output to prune"
  if (parts.length === 0 && to !== coveredTo) return `it folds nothing, and moves to ${to}`
  let end = from
  for (const part of parts) {
    if (part.from !== end || part.to <= part.from) {
      return `its parts are to follow each other from ${from} to ${to}: ${parts.map((one) => `[${one.from},${one.to})`).join(" ")}`
    }
    end = part.to
  }
  return parts.length > 0 && end !== to ? `its parts end at ${end}, and it ends at ${to}` : null
}
