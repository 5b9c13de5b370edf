/** Appending behind an earlier response, as `previous_response_id` does it. */
import { pagesBack } from "@memfold/codec"
import { Memory, Message } from "@memfold/core"
import { Either, Schema } from "effect"
import { decodeItems } from "./decode.js"
import { formOf } from "./form.js"

/** The session has no response with this id. Nothing was appended. */
export class UnknownResponse extends Schema.TaggedError<UnknownResponse>()("UnknownResponse", {
  session: Schema.String,
  response: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" has no response "${this.response}"; append each response as the API gave it`
  }
}

/** Options of {@link append}. */
export interface AppendOptions {
  /** The `id` of the response that the input follows; without it, the input follows the newest message. */
  readonly previousResponseId?: string | null | undefined
  /** With this key, a retry is applied once. */
  readonly idempotencyKey?: string
}

/** Where the input was put. */
export interface Appended {
  /** The message indexes `[from, to)` of the input. */
  readonly from: number
  readonly to: number
  readonly version: number
  /** The id of the branch that was left for it, to which `checkout` of the memory returns; `null` if nothing was left. */
  readonly left: number | null
  /** Whether the idempotency key had been used before for the same input; nothing was written then. */
  readonly duplicate: boolean
}

/** How many messages are read at a time. */
const pageSize = 100

/** A response in a session: its branch, and the index of its last message. */
export interface Place {
  readonly branch: Memory.BranchInfo
  readonly index: number
}

const responseIdOf = (message: Message.Message): unknown => formOf(message).response?.["id"]

/**
 * Finds a response: on the branch in force, and then on the branches that were left, newest first. The conversation is read from its
 * end, so an old response takes as long as it is old.
 *
 * @param memory what to read with
 * @param session the id of the session
 * @param response the `id` that the response had when it was appended
 * @returns its place; `undefined` if the session has no such response
 *
 * @example
 * ```ts
 * import { Responses } from "@memfold/openai"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * console.log((await Responses.find(memory.neutral, "chat-1", "resp_1"))?.index)
 * ```
 */
export const find = async (
  memory: Pick<Memory.Neutral, "messages" | "branches">,
  session: string,
  response: string,
): Promise<Place | undefined> => {
  const branches = await memory.branches(session)
  for (const [position, branch] of branches.entries()) {
    // What stands before is on the branch that this one has left.
    const first = position === 0 ? 0 : branch.from
    for await (const page of pagesBack(memory, session, { limit: pageSize, branch: branch.id })) {
      const at = page.messages.findLastIndex((message) => responseIdOf(message) === response)
      if (at !== -1) return { branch, index: page.from + at }
      if (page.from <= first) break
    }
  }
  return undefined
}

/**
 * Appends the input of a request, behind the response that it continues. If that is an older one, the conversation goes on
 * from there, and what was said behind it stays in the log as a branch. If the response is on a branch that was left, the session
 * returns to that branch. The ids come from the responses that were appended as the API gave them.
 *
 * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
 * @param session the id of the session
 * @param input what `input` of the API takes: a text, or a list of items
 * @param options which response it continues, and a key for retries
 * @throws UnknownResponse: the session has no such response; nothing was appended
 * @throws OpenAIDecodeError: an item is wrong; nothing was appended
 * @throws InvalidInput, IdempotencyKeyReused, LogError, DamagedEvent, Closed: as `append` and `edit` of the memory
 *
 * @example
 * ```ts
 * import { Responses } from "@memfold/openai"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db", format: "openai-responses" })
 * await Responses.append(memory, "chat-1", "And in Linz?", { previousResponseId: "resp_1" }).catch(console.error)
 * await memory.close()
 * ```
 */
export const append = async (
  memory: Memory.AnyMemory,
  session: string,
  input: unknown,
  { previousResponseId, ...options }: AppendOptions = {},
): Promise<Appended> => {
  const neutral = Memory.neutralOf(memory)
  const messages =
    typeof input === "string"
      ? [Message.user(input)]
      : Either.getOrThrowWith(decodeItems(input), (error) => error)
  if (previousResponseId === undefined || previousResponseId === null) {
    return { ...(await neutral.append(session, messages, options)), left: null }
  }
  const place = await find(neutral, session, previousResponseId)
  if (place === undefined) throw new UnknownResponse({ session, response: previousResponseId })
  const { index, branch } = place
  const returned = branch.leftAt === null ? null : await neutral.checkout(session, branch.id)
  if (index === branch.total - 1) {
    return { ...(await neutral.append(session, messages, options)), left: returned?.left ?? null }
  }
  const { from, to, version, left, duplicate } = await neutral.edit(session, index + 1, messages, options)
  return { from, to, version, left: returned?.left ?? left, duplicate }
}
