/** Streams that break at every event, for the tests of adapters: which answers break where, and what a session has then. */
import { Message } from "@memfold/core"
import type { Answering } from "@memfold/strict-providers"
import { often } from "./depth.js"

/** One broken stream: of the answer that calls a tool, or of the answer after its result. */
export interface Break {
  readonly of: "call" | "text"
  /** After how many events the connection closes. */
  readonly cut: number
}

/** More events than any of the answers below has: the last ones break when everything has been said. */
const mostEvents = 24

/** Places at which an answer of {@link breaking} can break: all of them in a deep run, every third in a quick one. */
export const breaks: ReadonlyArray<Break> = (["call", "text"] as const).flatMap((of) =>
  Array.from({ length: mostEvents }, (_, cut) => ({ of, cut })).filter(({ cut }) => cut % often(3, 1) === 0),
)

/** Thinks and calls `tool`, and then says something. The first answer of the kind breaks, if any does; later ones are whole. */
export const breaking = (at: Break | null, tool: string): Answering => {
  let left = at
  return ({ turn, afterResult }) => {
    const broken = left !== null && afterResult === (left.of === "text") ? { cut: left.cut } : {}
    if ("cut" in broken) left = null
    if (afterResult) return { text: "The answer is seven.", ...broken }
    return {
      thinking: "Hm.",
      calls: [{ name: tool, arguments: { request: `${turn}`, depth: 1 } }],
      ...broken,
    }
  }
}

/** What is wrong with a conversation in which these texts were said, and the last one was answered; empty if nothing is. */
export const faults = (
  messages: ReadonlyArray<Message.Message>,
  said: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const users = messages.filter(({ role }) => role === "user").map(Message.text)
  const ids = (type: "tool-call" | "tool-result") =>
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === type ? [part.id] : [])))
  const [calls, results] = [ids("tool-call"), ids("tool-result")]
  const last = messages.at(-1)
  return [
    ...(JSON.stringify(users) === JSON.stringify(said) ? [] : [`the user said ${JSON.stringify(users)}`]),
    ...(new Set(results).size === results.length ? [] : ["a result is stored twice"]),
    ...results.filter((id) => !calls.includes(id)).map((id) => `result ${id} has no call`),
    ...(last?.role === "assistant" && Message.text(last) !== "" ? [] : ["there is no answer at the end"]),
  ]
}
