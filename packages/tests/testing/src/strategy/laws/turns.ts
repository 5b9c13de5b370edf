/** The law of strategies that count turns: they keep and take as many turns as they claim. */
import { Message } from "@memfold/core"
import { type Law, must } from "../../law/Law.js"
import { turnComplete, turnStarts } from "../../oracle/groups.js"
import type { Kit } from "../input.js"

const unpinned = ({ pinned: _pinned, ...message }: Message.Message): Message.Message => message

/** The number of complete turns in `[from, messages.length)`, counted over the whole conversation. */
const completeTurns = (messages: ReadonlyArray<Message.Message>, from: number): number => {
  const starts = turnStarts(messages).filter((start) => start >= from).length
  return starts === 0 || turnComplete(messages) ? starts : starts - 1
}

/** Whether the newest turn still runs and has signed reasoning: then a compaction waits for its end (law L17). */
const waitsForTurn = (messages: ReadonlyArray<Message.Message>): boolean =>
  !turnComplete(messages) &&
  messages.slice(turnStarts(messages).at(-1)).some(({ parts }) => parts.some(Message.isBound))

export const turnLaws = ({ law, inputs, claimsRounds }: Kit): ReadonlyArray<Law> =>
  !claimsRounds
    ? []
    : [
        law({
          id: "L2",
          name: "turns are whole turns, not pairs of messages",
          explanation:
            "A turn (round) starts with a user message and ends before the next one, with any number of user messages,\n" +
            "tool calls and results in it. A strategy that counts turns keeps and takes as many turns as it claims, and its\n" +
            "compactions start and end at turns. They wait for the end of a turn that still needs its signed reasoning.",
          // Messages pinned by the caller can move the end of a compaction.
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
              const what = `with ${total} messages, [${from},${to}) is compacted`
              const kept = completeTurns(before, to)
              must(
                kept >= claim.keep,
                () => `${what}; ${kept} complete turns stay, and it keeps ${claim.keep}`,
              )
              must(turnStarts(before).includes(to), () => `${what}, and no turn starts at message ${to}`)
              const taken = turnStarts(before).filter((start) => start >= from && start < to).length
              must(
                claim.batchSize === undefined || onDemand || taken === claim.batchSize,
                () => `${what}: ${taken} turns, and it takes ${claim.batchSize}`,
              )
            }
            const { batchSize } = claim
            if (batchSize === undefined) return
            for (const { settled, state } of moments) {
              const before = messages.slice(0, state.total)
              const uncovered = completeTurns(before, state.coveredTo)
              must(
                !settled || uncovered < claim.keep + batchSize || waitsForTurn(before),
                () =>
                  `with ${state.total} messages, ${uncovered} complete turns are uncovered, and nothing is due`,
              )
            }
          },
        }),
      ]
