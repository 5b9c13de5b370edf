/** Messages of LangChain as plain objects, and as objects of its classes. */
import {
  asJson,
  type Fields,
  freeze,
  isFields,
  kindOf,
  type Problem,
  type Special,
  thaw,
} from "@memfold/codec"
import {
  AIMessage,
  type BaseMessage,
  type BaseMessageLike,
  ChatMessage,
  coerceMessageLikeToMessage,
  HumanMessage,
  isBaseMessage,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages"
import { Either } from "effect"

/** The kinds of messages that a session can have; `generic` is a `ChatMessage`. */
export type WireType = "human" | "ai" | "system" | "tool" | "generic"

/** What a message says, without what its class says. Empty objects and lists are left out. */
export interface WireMessage {
  readonly type: WireType
  readonly content: unknown
  readonly [field: string]: unknown
}

const types: ReadonlySet<string> = new Set<WireType>(["human", "ai", "system", "tool", "generic"])

const common = ["id", "name", "additional_kwargs", "response_metadata"]

const fieldsOf: Readonly<Record<WireType, ReadonlyArray<string>>> = {
  human: common,
  system: common,
  ai: [...common, "tool_calls", "invalid_tool_calls", "usage_metadata"],
  tool: [...common, "tool_call_id", "status", "artifact", "metadata"],
  generic: [...common, "role"],
}

/** Fields that each message has, and that say nothing if they are empty. */
const defaulted = new Set(["additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls"])

const isNothing = (name: string, value: unknown): boolean => {
  if (value === undefined || (value === null && name !== "artifact")) return true
  return defaulted.has(name) && typeof value === "object" && Object.keys(value as object).length === 0
}

const allowed =
  "HumanMessage, AIMessage, SystemMessage, ToolMessage and ChatMessage, or what LangChain makes of them"

const isStored = (input: unknown): input is StoredMessage =>
  isFields(input) && typeof input["type"] === "string" && isFields(input["data"])

const messageOf = (input: unknown): BaseMessage => {
  if (isBaseMessage(input as BaseMessage)) return input as BaseMessage
  if (isStored(input)) return mapStoredMessagesToChatMessages([input])[0]!
  return coerceMessageLikeToMessage(input as BaseMessageLike)
}

/** A message as a plain object, with the values that are no JSON apart. */
export const readMessage = (
  input: unknown,
): Either.Either<{ readonly wire: WireMessage; readonly special: ReadonlyArray<Special> }, Problem> => {
  let message: BaseMessage
  try {
    message = messageOf(input)
  } catch {
    // The error of LangChain quotes the message.
    return Either.left({
      path: "",
      problem: `is ${kindOf(input)} that LangChain makes no message of`,
      allowed,
    })
  }
  const type = message.getType()
  if (!types.has(type)) {
    return Either.left({ path: "", problem: "is a message of another type", allowed })
  }
  const own = message as unknown as Fields
  const given = Object.fromEntries(
    fieldsOf[type as WireType]
      .filter((name) => !isNothing(name, own[name]))
      .map((name) => [name, own[name]] as const),
  )
  return Either.map(
    asJson(() => freeze({ type, content: message.content, ...given })),
    ({ json, special }) => ({ wire: json as WireMessage, special }),
  )
}

/** Sets fields after the constructor, which would derive calls and content from them. */
const assigned = <M extends BaseMessage>(message: M, fields: Fields): M => {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    Object.assign(message, { [name]: value })
    Object.assign(message.lc_kwargs, { [name]: value })
  }
  return message
}

type Content = AIMessage["content"]

/** The message of its class that a plain object says. */
export const makeMessage = (given: WireMessage, special: ReadonlyArray<Special> = []): BaseMessage => {
  const {
    type,
    content: written,
    ...rest
  } = (special.length === 0 ? given : thaw(given, special)) as WireMessage
  const content = written as Content
  const { additional_kwargs, response_metadata, ...own } = rest
  const derived = { additional_kwargs, response_metadata }
  switch (type) {
    case "human":
      return assigned(new HumanMessage({ content, ...own }), derived)
    case "system":
      return assigned(new SystemMessage({ content, ...own }), derived)
    case "ai":
      return assigned(new AIMessage({ content, tool_calls: [], ...own }), derived)
    case "tool":
      return assigned(new ToolMessage({ content, tool_call_id: "", ...own }), derived)
    case "generic":
      return assigned(new ChatMessage({ content, role: "", ...own } as never), derived)
  }
}
