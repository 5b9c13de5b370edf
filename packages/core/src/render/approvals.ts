/**
 * Approvals of calls, as the AI SDK and Mastra have them: a part of the assistant asks whether a call may run, and a part of a
 * later message says yes or no. A call that was denied is never answered by its tool.
 */
import { interrupted } from "@memfold/message/Item"
import type { Message } from "@memfold/message/Message"

type Fields = Readonly<Record<string, unknown>>

const dataOf = (messages: ReadonlyArray<Message>, type: string): ReadonlyArray<Fields> =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const data =
        part.type === "opaque" && typeof part.data === "object" ? (part.data as Fields | null) : null
      return data?.["type"] === type ? [data] : []
    }),
  )

/**
 * What the model is told of calls without a result: that a person denied one, and why, or that it was interrupted.
 *
 * @param group - the messages of the group of the calls
 * @returns what is told of the call with an id
 */
export const withoutResults = (group: ReadonlyArray<Message>): ((id: string) => string) => {
  // Of two that say something of one call, the later one counts.
  const requests = new Map(dataOf(group, "tool-approval-request").map((data) => [data["toolCallId"], data]))
  const answers = new Map(dataOf(group, "tool-approval-response").map((data) => [data["approvalId"], data]))
  return (id) => {
    const request = requests.get(id)
    const { approved, reason } = (request && answers.get(request["approvalId"])) ?? {}
    if (approved !== false) return interrupted
    return typeof reason === "string" && reason.trim() !== ""
      ? `(No result: the user denied the call. Reason: ${reason.trim()})`
      : "(No result: the user denied the call.)"
  }
}
