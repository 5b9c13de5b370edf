/** Contexts send no reasoning back whose prefix has changed, and all of it whose prefix has not (L17). */
import { Message, Structure } from "@memfold/core"
import { failOn, type Law, must } from "../../law/Law.js"
import { unpairedItems } from "../../oracle/context.js"
import { makeSigner } from "../../oracle/signing.js"
import type { Kit } from "../input.js"
import type { Arriving, Moment } from "../rehearse.js"

/** The moment whose context a client had sent for the batch that arrives: one from before the compactions, or after. */
const sentMoment = (moments: ReadonlyArray<Moment>, late: boolean): Moment | undefined =>
  moments.findLast(({ settled }) => settled !== late)

const nothing = { messages: [] }

/** What a client sent, if an input came between the request and its answer: the context without that input. */
const beforeLastInput = (moments: ReadonlyArray<Moment>): Moment | undefined => {
  const newest = moments.at(-1)
  if (newest === undefined) return undefined
  const { batchFrom, inputFrom } = newest.state.prefix
  return inputFrom === null || inputFrom >= batchFrom
    ? undefined
    : moments.findLast(({ state }) => state.total === batchFrom)
}

const boundIn = (messages: ReadonlyArray<Message.Message>): number =>
  messages.flatMap(({ parts }) => parts).filter(Message.isBound).length

/** Clients that append answers with the prefix of the context that they sent, or without. */
const clients = [
  { name: "", says: false },
  { name: ", if clients say what they sent", says: true },
] as const

export const reasoningLaws = ({ law, rehearse: rehearsal, render }: Kit): ReadonlyArray<Law> => [
  ...clients.map(({ name, says }) =>
    law({
      id: "L17",
      name: `no reasoning follows a changed prefix${name}`,
      explanation:
        "A provider accepts signed reasoning only behind the messages that were before it when it was produced. A client\n" +
        "signs reasoning with everything before it. No context has a signature behind anything else, whether its request\n" +
        "was sent before a compaction or after it, and whether a message came in between or not.",
      holds: (input) => {
        const signer = makeSigner()
        let batches = 0
        const client = (batch: ReadonlyArray<Message.Message>, moments: ReadonlyArray<Moment>): Arriving => {
          batches++
          const interrupted = batches % 4 === 0 ? beforeLastInput(moments) : undefined
          const sent = interrupted ?? sentMoment(moments, batches % 3 === 0)
          return {
            batch: signer.sign(sent?.context ?? nothing, batch),
            prefix: says ? sent?.context.prefix : undefined,
          }
        }
        const { moments } = rehearsal(input, { client })
        for (const { state, context } of moments) {
          failOn(signer.finding(context), () => `with ${state.total} messages`)
        }
      },
    }),
  ),
  law({
    id: "L17",
    name: "reasoning is kept while its prefix is unchanged",
    explanation:
      "Between two changes of the prefix, a context has all reasoning that answers to it have brought, and what is\n" +
      "left out is named in the layout.",
    holds: (input) => {
      const signer = makeSigner()
      const client = (batch: ReadonlyArray<Message.Message>, moments: ReadonlyArray<Moment>): Arriving => {
        const sent = moments.at(-1)?.context
        return { batch: signer.sign(sent ?? nothing, batch), prefix: sent?.prefix }
      }
      const { moments, strategy } = rehearsal(input, { client })
      for (const { state, context } of moments) {
        const all = boundIn(render(state, { ...strategy.context, boundReasoning: "keep" }).messages)
        const shown = boundIn(context.messages)
        const named = context.layout.some(
          ({ section, parts = [] }) =>
            section === "left-out" && parts.some((name) => name === "reasoning" || name === "opaque"),
        )
        must(shown < all === named, () => `${all - shown} parts are left out, and the layout says otherwise`)
        // What was produced behind an item that is left out goes with it.
        const unpaired = unpairedItems(state.uncovered.slice(), state.structure.open?.from)
        const incomplete = new Set(
          state.uncovered
            .slice()
            .flatMap(({ group, message }) =>
              message.parts.some((part) => unpaired.has(part)) ? [group] : [],
            ),
        )
        const valid = state.uncovered.slice().filter(({ index, bound, group }) => {
          const { validFrom } = state.prefix
          const shows = index < openFrom(state) && !incomplete.has(group)
          return index >= validFrom && bound?.head === context.prefix.head && shows
        })
        must(
          shown >= valid.flatMap(({ message }) => message.parts).filter(Message.isBound).length,
          () => `reasoning is missing with ${state.total} messages, although its prefix is unchanged`,
        )
      }
    },
  }),
]

const openFrom = ({ structure, total }: Moment["state"]): number => Structure.waitsFrom(structure) ?? total
