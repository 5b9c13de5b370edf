/** What a strategy says of itself in rounds. */
import type { Message } from "@memfold/core"
import { type Law, must } from "../../law/Law.js"
import { turnComplete, turnStarts } from "../../oracle/groups.js"
import type { Kit } from "../input.js"

const unpinned = ({ pinned: _pinned, ...message }: Message.Message): Message.Message => message

/** The complete rounds in `[from, messages.length)`, counted by looking at the whole conversation. */
const completeTurns = (messages: ReadonlyArray<Message.Message>, from: number): number => {
  const starts = turnStarts(messages).filter((start) => start >= from).length
  return starts === 0 || turnComplete(messages) ? starts : starts - 1
}

export const turnLaws = ({ law, inputs, claimsRounds }: Kit): ReadonlyArray<Law> =>
  !claimsRounds
    ? []
    : [
        law({
          id: "L2",
          name: "rounds are rounds, and no pairs of messages",
          explanation:
            "A round begins with the user and ends before the user speaks again, however many messages of the user's,\n" +
            "tool calls and results are in it. A strategy that counts rounds keeps as many as it says, takes as many\n" +
            "as it says, and begins and ends where rounds do.",
          // Messages that are pinned by hand may take a compaction further than it was meant to go.
          inputs: inputs.map(({ batches, ...input }) => ({
            ...input,
            batches: batches.map((batch) => batch.map(unpinned)),
          })),
          holds: (input, rehearse) => {
            const { turns: claim } = input
            if (claim === null) return
            const { decided, moments, messages } = rehearse(input)
            for (const { total, from, to, onDemand } of decided) {
              const before = messages.slice(0, total)
              const what = `with ${total} messages, [${from},${to}) is folded`
              const kept = completeTurns(before, to)
              must(
                kept >= claim.keep,
                () => `${what}; ${kept} complete rounds stay, and it keeps ${claim.keep}`,
              )
              must(turnStarts(before).includes(to), () => `${what}, and no round begins with message ${to}`)
              const taken = turnStarts(before).filter((start) => start >= from && start < to).length
              must(
                claim.batchSize === undefined || onDemand || taken === claim.batchSize,
                () => `${what}: ${taken} rounds, and it takes ${claim.batchSize}`,
              )
            }
            const { batchSize } = claim
            if (batchSize === undefined) return
            for (const { settled, state } of moments) {
              const raw = completeTurns(messages.slice(0, state.total), state.coveredTo)
              must(
                !settled || raw < claim.keep + batchSize,
                () => `with ${state.total} messages, ${raw} complete rounds are raw, and nothing is due`,
              )
            }
          },
        }),
      ]
