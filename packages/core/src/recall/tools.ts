/**
 * The tools of recall: a model searches the conversation by itself, and reads on where it found something. What a tool
 * returns is a normal tool result.
 */
import { Effect, Either, Schema } from "effect"
import { type Message, type ToolCall, result } from "@memfold/message/Message"
import { recalledHeading, toolNames } from "./heading.js"

/** A tool as every provider describes one: its name, what it is for, and the JSON schema of its arguments. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: {
    readonly type: "object"
    readonly properties: Readonly<
      Record<string, { readonly type: "string" | "integer"; readonly description: string }>
    >
    readonly required: ReadonlyArray<string>
    readonly additionalProperties: false
  }
}

/** The most messages that one call of `read_messages` reads. */
const mostRead = 100

/** The definitions of the tools: `search_memory` and `read_messages`. */
export const toolDefinitions: ReadonlyArray<ToolDefinition> = [
  {
    name: toolNames.search,
    description:
      'Searches the whole conversation, also the part that is not shown any more or only as a summary, and returns the messages that fit, word for word. Use it before saying that something is unknown or was not mentioned. It looks for words, names, identifiers, paths and error messages: use the words that were probably said. A time in the query counts, too: "last week", "in March".',
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "The words to search for, or a question" } },
      required: ["query"],
      additionalProperties: false,
    },
  },
  {
    name: toolNames.read,
    description:
      "Reads messages of the conversation by their numbers, which search_memory shows in brackets: to see what was said before and after a message that was found.",
    parameters: {
      type: "object",
      properties: {
        from: { type: "integer", description: "The number of the first message, 0 or more" },
        to: {
          type: "integer",
          description: `The number after the last message; at most ${mostRead} more than from`,
        },
      },
      required: ["from", "to"],
      additionalProperties: false,
    },
  },
]

const Search = Schema.parseJson(Schema.Struct({ query: Schema.String }))
const Read = Schema.parseJson(Schema.Struct({ from: Schema.NonNegativeInt, to: Schema.NonNegativeInt }))

/** How the tools reach the session. Both return recalled messages as one text; an empty one if there are none. */
export interface ToolAccess<E> {
  readonly search: (query: string) => Effect.Effect<string, E>
  readonly read: (from: number, to: number) => Effect.Effect<string, E>
}

const wrong = (call: ToolCall, needed: string): Message =>
  result({
    id: call.id,
    name: call.name,
    output: `Error: the arguments must be an object with ${needed}`,
    isError: true,
  })

const found = (call: ToolCall, text: string, nothing: string): Message =>
  result({ id: call.id, name: call.name, output: `${recalledHeading}\n${text === "" ? nothing : text}` })

/**
 * Answers a call of one of the tools by a message with its result; `null` for a call of another tool. Wrong arguments are
 * answered with a text that says what is wrong: the model can call again.
 */
export const answerCall = <E>(
  { search, read }: ToolAccess<E>,
  call: ToolCall,
): Effect.Effect<Message | null, E> => {
  if (call.name === toolNames.search) {
    return Either.match(Schema.decodeUnknownEither(Search)(call.arguments), {
      onLeft: () => Effect.succeed(wrong(call, '"query", a text')),
      onRight: ({ query }) =>
        Effect.map(search(query), (text) => found(call, text, "Nothing was found. Try other words.")),
    })
  }
  if (call.name === toolNames.read) {
    return Either.match(Schema.decodeUnknownEither(Read)(call.arguments), {
      onLeft: () => Effect.succeed(wrong(call, '"from" and "to", message numbers of 0 or more')),
      onRight: ({ from, to }) =>
        Effect.map(read(from, Math.min(to, from + mostRead)), (text) =>
          found(call, text, "There are no messages with these numbers."),
        ),
    })
  }
  return Effect.succeed(null)
}
