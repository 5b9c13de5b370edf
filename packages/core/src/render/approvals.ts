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
 * What the model is told of a call without a result: that a person denied it, and why, or that it was interrupted.
 *
 * @param id - the id of the call
 * @param group - the messages of the group of the call
 */
export const withoutResult = (id: string, group: ReadonlyArray<Message>): string => {
  const request = dataOf(group, "tool-approval-request").findLast(({ toolCallId }) => toolCallId === id)
  const answer =
    request === undefined
      ? undefined
      : dataOf(group, "tool-approval-response").findLast(
          ({ approvalId }) => approvalId === request["approvalId"],
        )
  if (answer?.["approved"] !== false) return interrupted
  const { reason } = answer
  return typeof reason === "string" && reason.trim() !== ""
    ? `(No result: the user denied the call. Reason: ${reason.trim()})`
    : "(No result: the user denied the call.)"
}
