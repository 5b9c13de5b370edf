/** The tools of recall in the formats of providers and of the AI SDK. */
import { Message, Recall } from "@memfold/core"
import type { Formats } from "@memfold/catalog"

/** A tool of the Chat Completions API. */
export interface ChatTool {
  readonly type: "function"
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: ToolParameters
  }
}

/** A tool of the Responses API. */
export interface ResponsesTool {
  readonly type: "function"
  readonly name: string
  readonly description: string
  readonly parameters: ToolParameters
  readonly strict: true
}

/** A tool of the Messages API. */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: ToolParameters
}

/** The JSON schema of a tool's arguments, as the types of the official clients take it. */
export type ToolParameters = Omit<Recall.ToolDefinition["parameters"], "required"> & {
  required: Array<string>
} & Record<string, unknown>

/** A tool of the AI SDK. */
export interface AiSdkTool<ToolSchema> {
  readonly description: string
  readonly inputSchema: ToolSchema
  readonly execute: (input: unknown, call?: { readonly toolCallId?: string }) => Promise<string>
}

/** The tools of recall for one session. */
export interface MemoryTools<Format extends keyof Formats> {
  /** The definitions for the Chat Completions API. */
  readonly openai: Array<ChatTool>
  /** The definitions for the Responses API. */
  readonly responses: Array<ResponsesTool>
  /** The definitions for the Messages API. */
  readonly anthropic: Array<AnthropicTool>
  /**
   * The tools for the AI SDK, which calls them by itself.
   *
   * @param jsonSchema - the function of that name of the package `ai`
   */
  readonly aiSdk: <ToolSchema>(
    jsonSchema: (schema: ToolParameters) => ToolSchema,
  ) => Record<string, AiSdkTool<ToolSchema>>
  /**
   * Runs the calls of these tools in an answer of the model, and resolves with the messages with their results, in the
   * format of the memory: append them. Calls of other tools are left to you.
   */
  readonly answer: (message: Formats[Format]["given"]) => Promise<Array<Formats[Format]["given"]>>
  /** Runs one tool, and resolves with the text of its result; `null` if the tool is not one of these. */
  readonly call: (name: string, input: unknown) => Promise<string | null>
}

const parametersOf = ({ parameters }: Recall.ToolDefinition): ToolParameters => ({
  ...parameters,
  required: [...parameters.required],
})

const definitions = (): Pick<MemoryTools<"openai">, "openai" | "responses" | "anthropic"> => ({
  openai: Recall.toolDefinitions.map((tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: parametersOf(tool) },
  })),
  responses: Recall.toolDefinitions.map((tool) => ({
    type: "function",
    name: tool.name,
    description: tool.description,
    parameters: parametersOf(tool),
    strict: true,
  })),
  anthropic: Recall.toolDefinitions.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: parametersOf(tool),
  })),
})

/** The tools of a session in every format, over a function that answers one call. */
export const toolsOf = <Format extends keyof Formats>(
  answerCall: (call: Message.ToolCall) => Promise<Message.Message | null>,
  codec: {
    readonly decode: (given: Formats[Format]["given"]) => ReadonlyArray<Message.Message>
    readonly encode: (results: ReadonlyArray<Message.Message>) => Array<Formats[Format]["given"]>
  },
): MemoryTools<Format> => {
  const call = async (name: string, input: unknown): Promise<string | null> => {
    const written = typeof input === "string" ? input : (JSON.stringify(input) ?? "null")
    const answered = await answerCall({ type: "tool-call", id: "call", name, arguments: written })
    return answered === null ? null : Message.text(answered)
  }
  return {
    ...definitions(),
    aiSdk: (jsonSchema) =>
      Object.fromEntries(
        Recall.toolDefinitions.map((tool) => [
          tool.name,
          {
            description: tool.description,
            inputSchema: jsonSchema(parametersOf(tool)),
            execute: async (input: unknown) => (await call(tool.name, input)) ?? "",
          },
        ]),
      ),
    call,
    answer: async (message) => {
      const results: Array<Message.Message> = []
      for (const one of codec.decode(message).flatMap(Message.calls)) {
        const answered = await answerCall(one)
        if (answered !== null) results.push(answered)
      }
      return results.length === 0 ? [] : codec.encode(results)
    },
  }
}
