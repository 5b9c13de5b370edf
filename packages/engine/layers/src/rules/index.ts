/** The extractor that needs no model: rules for English and Chinese. */
import type { Message } from "@memfold/core"
import { Effect } from "effect"
import type { Extractor, NewFact } from "../Extractor.js"
import { about } from "./about.js"
import { digest } from "./digest.js"
import { documents } from "./documents.js"
import type { MatchedFact } from "./MatchedFact.js"
import { plan } from "./plans.js"
import { turns } from "./rounds.js"

/** At most this many facts from one message; a text with more of them was pasted. */
const mostOfMessage = 20

const ofUser = (message: Message.Message, index: number): ReadonlyArray<NewFact> =>
  message.role !== "user"
    ? []
    : message.parts
        .flatMap((part) => (part.type === "text" ? about(part.text) : []))
        .slice(0, mostOfMessage)
        .map((found) => ({ layer: "user", ...found, ...saidIn(found), from: index, to: index + 1 }))

/** The predicate and the value of a fact. Where a key names a thing ("taste:tea"), the whole text is what is said of it. */
const saidIn = ({ kind, key, text }: MatchedFact): Pick<NewFact, "predicate" | "value"> => {
  const [predicate = key, thing] = key.split(":", 2)
  const label = kind === "instruction" || thing !== undefined ? null : /^[^:：]*[:：]\s*/u
  return { predicate, value: label === null ? text : text.replace(label, "") }
}

/**
 * Finds facts by rules, in English and Chinese, without a model and without a network:
 *
 * - user: what users say about themselves (`profile`), likes and dislikes (`preference`), and standing instructions
 *   (`instruction`), only from statements in their own words
 * - scope: a line for each turn (`digest`), what is still to be done (`plan`), files attached or read (`document`)
 *
 * What it cannot quote, it leaves out.
 *
 * It prefers missing a fact to inventing one. The same turns always give the same facts, in time linear in their
 * length.
 *
 * @example
 * ```ts
 * import { layer, rules } from "@memfold/layers"
 *
 * const layers = layer({ extractor: rules })
 * ```
 */
export const rules: Extractor = {
  name: "rules",
  isFree: true,
  extract: ({ state, from, messages, known }) =>
    Effect.sync(() => {
      const user = messages.flatMap((message, position) => ofUser(message, from + position))
      const keys = new Set(known.flatMap(({ key }) => (key === undefined ? [] : [key])))
      const scope = turns(messages, from).flatMap((turn) => {
        const read = documents(turn, keys)
        for (const { key } of read) if (key !== undefined) keys.add(key)
        return [...[digest(turn), plan(state.session, turn)].filter((fact) => fact !== null), ...read]
      })
      return [...user, ...scope]
    }),
}
