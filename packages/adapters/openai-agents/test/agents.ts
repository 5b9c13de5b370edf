/** Agents of the real library, whose model is the strict local server behind the official client. */
import type { Answering, ProviderServer } from "@memfold/strict-providers"
import { providerServer } from "@memfold/strict-providers"
import {
  Agent,
  type AgentInputItem,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  setTracingDisabled,
  tool,
} from "@openai/agents"
import OpenAI from "openai"
import { z } from "zod"

setTracingDisabled(true)

/** The APIs that the library's own models speak. */
export const apis = ["responses", "chat"] as const
export type Api = (typeof apis)[number]

type Client = ConstructorParameters<typeof OpenAIResponsesModel>[0]

/** A client of the server. Its types are of another copy of `openai` than the library's. */
export const clientOf = ({ openaiURL }: ProviderServer): Client =>
  new OpenAI({ baseURL: openaiURL, apiKey: "local", maxRetries: 0 }) as unknown as Client

export const modelOf = (server: ProviderServer, api: Api = "responses") =>
  api === "responses"
    ? new OpenAIResponsesModel(clientOf(server), "gpt-6.2-sol")
    : new OpenAIChatCompletionsModel(clientOf(server), "gpt-6.2-sol")

/** A server for the length of a test. */
export const serving = async (answer: Answering): Promise<ProviderServer & AsyncDisposable> => {
  const server = await providerServer({ answer })
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() })
}

/** Settings with which the server keeps nothing, and answers have all that is needed to send them back. */
const stateless = { store: false, providerData: { include: ["reasoning.encrypted_content"] } }

export interface ClerkOptions {
  readonly api?: Api
  readonly execute?: (request: string) => Promise<string> | string
  readonly needsApproval?: boolean
  /** The name of the tool. */
  readonly name?: string
}

/** An agent with a tool. */
export const clerk = (
  server: ProviderServer,
  {
    api = "responses",
    execute = (request) => `found ${request} `.repeat(12),
    needsApproval = false,
    name = "look_up",
  }: ClerkOptions = {},
) =>
  new Agent({
    name: "clerk",
    instructions: "Be brief.",
    model: modelOf(server, api),
    ...(api === "responses" ? { modelSettings: stateless } : {}),
    tools: [
      tool({
        name,
        description: "Looks a request up.",
        parameters: z.object({ request: z.string(), depth: z.number() }),
        needsApproval,
        execute: async ({ request }) => execute(request),
      }),
    ],
  })

/** Calls the tool, and answers after its result. The API for Chat Completions is sent no text beside calls. */
export const callsThenSays =
  (): Answering =>
  ({ tools, afterResult, turn }) =>
    tools.length > 0 && !afterResult
      ? {
          thinking: `Step ${turn}.`,
          calls: [{ name: tools[0]!, arguments: { request: `r${turn}`, depth: 1 } }],
        }
      : { text: `Answer ${turn}. ${"It is on its way. ".repeat(4)}` }

/** The text of an item, for comparisons. */
export const textOf = (item: AgentInputItem): string => {
  if (item.type === "function_call") return `call ${item.callId}`
  if (item.type === "function_call_result") return `result ${item.callId}`
  if (!("content" in item) || item.content === undefined) return item.type ?? ""
  if (typeof item.content === "string") return item.content
  return item.content.map((part) => ("text" in part ? part.text : "")).join("")
}

/** Reads a stream to its end. */
export const readAll = async (
  streamed: AsyncIterable<unknown> & { readonly completed: Promise<void> },
): Promise<void> => {
  const events = streamed[Symbol.asyncIterator]()
  while ((await events.next()).done !== true);
  await streamed.completed
}
