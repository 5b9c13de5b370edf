/** Whose turn it is: what providers refuse in the order of the messages of a request. */
import type { Server } from "./servers.js"
import { opening } from "./toSend.js"

/** What the assistant says between results and the user, for servers that want it to have spoken. */
const goingOn = "(I go on with what you say.)"

/** Who speaks in a message; `undefined` for what is neither the user's, nor the assistant's, nor a tool's. */
export type Speaker = "user" | "assistant" | "tool" | "system" | undefined

/**
 * The messages of a request in an order that its server takes: the conversation begins with the user, and where the server wants
 * that, the assistant speaks between the results of tools and the user. It looks at what is written, because a message of which
 * nothing can be written has no turn.
 *
 * @param messages - the messages, as the library or the API has them
 * @param server - the row of the server
 * @param speakerOf - who speaks in a message
 * @param say - a message with a text
 *
 * @example
 * ```ts
 * import { inTurns, serverOf } from "@memfold/codec"
 *
 * type Said = { readonly role: "user" | "assistant" | "tool"; readonly content: string }
 * const say = (role: "user" | "assistant", content: string): Said => ({ role, content })
 * const given: ReadonlyArray<Said> = [{ role: "assistant", content: "Yes." }]
 * console.log(inTurns(given, serverOf(undefined), ({ role }) => role, say).length) // 2
 * ```
 */
export const inTurns = <A>(
  messages: ReadonlyArray<A>,
  { begins, answersTools }: Server,
  speakerOf: (message: A) => Speaker,
  say: (role: "user" | "assistant", text: string) => A,
): ReadonlyArray<A> => {
  const first = messages.findIndex((message) => speakerOf(message) !== "system")
  const speaker = first === -1 ? undefined : speakerOf(messages[first]!)
  const isOpened = begins === "anyone" || (speaker !== "assistant" && speaker !== "tool")
  const opened = isOpened ? messages : messages.toSpliced(first, 0, say("user", opening))
  if (answersTools !== true) return opened
  return opened.flatMap((message, at) =>
    at > 0 && speakerOf(message) === "user" && speakerOf(opened[at - 1]!) === "tool"
      ? [say("assistant", goingOn), message]
      : [message],
  )
}
