/** L2: the tail is never compacted; where a policy splits it, only its beginning is. */
import type { Message } from "@memfold/core"
import { type Law, must } from "../../law/Law.js"
import { boundaries, boundaryBefore } from "../../oracle/groups.js"
import { pinnedBefore } from "../../oracle/shown.js"
import { type Ask, overheard } from "../asks.js"
import type { Kit } from "../input.js"
import type { Decided, Rehearsal } from "../rehearse.js"
import { viewOf } from "../viewOf.js"

const range = ({ from, to }: { readonly from: number; readonly to: number }) => `[${from},${to})`

/** Where the tail begins by the words of the design, found without the engine. */
const tailStart = (
  messages: ReadonlyArray<Message.Message>,
  { total, through }: Decided["before"],
  asked: number,
): number => {
  const within = Math.min(Math.max(Math.floor(Number.isNaN(asked) ? through : asked), through), total)
  return Math.max(boundaryBefore(messages.slice(0, total), within), through)
}

const checkTail = ({ strategy, messages }: Rehearsal, plan: Decided): void => {
  const { before, now, to, parts } = plan
  const { total } = before
  const view = viewOf(before, now)
  const tailFrom = tailStart(messages, before, strategy.keep.from(view))
  must(
    plan.tailFrom === tailFrom,
    () =>
      `with ${total} messages, the tail is said to begin at ${plan.tailFrom}; what is kept begins at ${tailFrom}`,
  )
  if (to <= tailFrom) return
  const tail = { messages: total - tailFrom, tokens: view.tokens(tailFrom, total) }
  const { split } = strategy
  must(
    split !== undefined && tail.tokens + pinnedBefore(before, tailFrom) > split.above,
    () => `with ${total} messages, ${range(plan)} is folded, and the tail begins at ${tailFrom}`,
  )
  const said = messages.slice(0, total)
  must(
    parts.at(-1)?.kind === "turn-prefix",
    () => `the tail is split, and what is split off is no turn prefix`,
  )
  const firstGroup = boundaries(said).find((boundary) => boundary > tailFrom)
  const most = split.prefix(tail)
  must(
    to === firstGroup || view.tokens(tailFrom, to) <= most,
    () =>
      `of the tail, [${tailFrom},${to}) goes: ${view.tokens(tailFrom, to)} tokens, and ${most} is the most`,
  )
  must(
    to <= boundaryBefore(said, total - 1),
    () => `with ${total} messages, ${range(plan)} is folded, and the newest group is in it`,
  )
}

export const tailLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L2",
    name: "the tail is never compacted",
    explanation:
      "What the policy keeps stays as it was said. Only a policy that splits tails may fold the beginning of one\n" +
      "that is too large, as a turn prefix, and never the newest group.",
    holds: (input, rehearse) => {
      const rehearsal = rehearse(input)
      for (const plan of rehearsal.decided) checkTail(rehearsal, plan)
    },
  }),
  law({
    id: "L2",
    name: "it asks for nothing of the tail",
    explanation:
      "`take.to` answers up to where a compaction reaches, at most to where the tail begins. The engine would stop\n" +
      "it there; a policy that relies on that does something else than it says.",
    holds: (input, rehearse) => {
      const asks: Array<Ask> = []
      rehearse({ ...input, strategy: overheard(input.strategy, (ask) => asks.push(ask)) })
      for (const ask of asks) {
        must(ask.part !== "take" || !(ask.answer > ask.tailFrom), () =>
          ask.part === "take"
            ? `with ${ask.total} messages, "take" goes to ${ask.answer}, and the tail begins at ${ask.tailFrom}`
            : "",
        )
      }
    },
  }),
]
