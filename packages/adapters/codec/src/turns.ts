/** Whose turn it is: what providers refuse in the order of the messages of a request. */
import type { Message } from "@memfold/message"
import type { Server } from "./servers.js"
import { opening, unsaid } from "./toSend.js"

/** What the assistant says between results and the user, for servers that want it to have spoken. */
const goingOn = "(I go on with what you say.)"

/** Who speaks in a message; `undefined` for what is neither the user's, nor the assistant's, nor a tool's. */
export type Speaker = "user" | "assistant" | "tool" | "system" | undefined

/**
 * What is written of the messages of a request, in their order. Of some nothing can be written: they are blank, or have only parts that
 * the API has no place for. Where the user said such a message between two answers, or last behind one, a text stands for it: the request
 * would end with the assistant. It stays there later, because reasoning is bound to what stands before it.
 *
 * @param given - the messages
 * @param written - what is written of each
 * @param speakerOf - who speaks in what is written
 * @param say - a message with a text
 *
 * @example
 * ```ts
 * import { everyTurn } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * const said = [Message.assistant("Yes."), Message.user(" ")]
 * const written = said.map((one) => (Message.text(one).trim() === "" ? [] : [one]))
 * console.log(everyTurn(said, written, ({ role }) => role, (role, text) => Message[role](text)).length) // 2
 * ```
 */
export const everyTurn = <A>(
  given: ReadonlyArray<Message.Message>,
  written: ReadonlyArray<ReadonlyArray<A>>,
  speakerOf: (message: A) => Speaker,
  say: (role: "user", text: string) => A,
): ReadonlyArray<A> => {
  // Nearly always, each message of the user is written. A loop takes a twentieth of the time of `flat`.
  if (written.every((own, at) => own.length > 0 || given[at]?.role !== "user")) {
    const all: Array<A> = []
    for (const own of written) all.push(...own)
    return all
  }
  const turns = written.map((own) => own.map(speakerOf).filter((speaker) => speaker !== "system"))
  const last = given.findLastIndex(({ role }) => role !== "system")
  /** Who speaks behind each message; `null` if nobody does. */
  const behind: Array<Speaker | null> = []
  for (let at = written.length - 1, next: Speaker | null = null; at >= 0; at--) {
    behind[at] = next
    if (turns[at]!.length > 0) next = turns[at]![0]
  }
  const isAnswer = (speaker: Speaker | null) => speaker !== "user" && speaker !== "tool"
  let before: Speaker | null = null
  return written.flatMap((own, at) => {
    const [earlier, later] = [before, behind[at] ?? null]
    if (turns[at]!.length > 0) before = turns[at]!.at(-1)
    if (given[at]?.role !== "user" || own.length > 0) return own
    if (earlier === null) return later === null && at === last ? [say("user", opening)] : []
    return isAnswer(earlier) && isAnswer(later) ? [say("user", unsaid)] : []
  })
}

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
