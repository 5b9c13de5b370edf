/** The extractor that needs no model: rules for English and Chinese. */
import type { Message } from "@memfold/core"
import { Effect } from "effect"
import type { Extractor, NewFact } from "../Extractor.js"
import { about } from "./about.js"
import { digest } from "./digest.js"
import { documents } from "./documents.js"
import { plan } from "./plans.js"
import { rounds } from "./rounds.js"

/** So many facts are taken from one message: who says more of themselves has pasted something. */
const mostOfMessage = 20

const ofUser = (message: Message.Message, index: number): ReadonlyArray<NewFact> =>
  message.role !== "user"
    ? []
    : message.parts
        .flatMap((part) => (part.type === "text" ? about(part.text) : []))
        .slice(0, mostOfMessage)
        .map((found) => ({ layer: "user", ...found, from: index, to: index + 1 }))

/**
 * Finds facts by rules, in English and Chinese, without a model and without a network:
 *
 * - user: what users say of themselves (`profile`), what they like and dislike (`preference`), and what they ask
 *   for once and for all (`instruction`), from statements in their own words only
 * - scope: a line for each round (`digest`), what is still to be done (`plan`), files attached or read (`document`)
 *
 * It would rather miss a fact than make one up. The same rounds always give the same facts, in time linear in
 * their length.
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
  extract: ({ state, from, messages, known }) =>
    Effect.sync(() => {
      const user = messages.flatMap((message, position) => ofUser(message, from + position))
      const keys = new Set(known.flatMap(({ key }) => (key === undefined ? [] : [key])))
      const scope = rounds(messages, from).flatMap((round) => {
        const read = documents(round, keys)
        for (const { key } of read) if (key !== undefined) keys.add(key)
        return [...[digest(round), plan(state.session, round)].filter((fact) => fact !== null), ...read]
      })
      return [...user, ...scope]
    }),
}
