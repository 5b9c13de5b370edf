/**
 * Two coding agents as the proxy sees them: they send the whole conversation with each request, in the shape of Claude Code and of
 * Codex. What they say is made up, with sizes as such sessions have them.
 */
import Anthropic from "@anthropic-ai/sdk"
import type { Answering } from "@memfold/strict-providers"
import OpenAI from "openai"
import { automaticCache, markedCache, type Charged } from "./promptCache.js"

type Fields = Readonly<Record<string, unknown>>

/** An agent. */
export interface Agent {
  readonly name: string
  readonly prices: "claude-sonnet-5.5" | "gpt-6.2-sol"
  /** The cache of its provider. */
  readonly cache: () => (body: Fields) => Charged
  /** Makes a client at an address. `turn` sends one request, and takes the answer into the conversation. */
  readonly start: (url: string) => { readonly turn: (index: number) => Promise<void> }
}

/** Numbers in [0, 1) by position (a hash of the position), the same in every run. */
const drawn = (position: number): number => {
  let mixed = Math.imul(position + 0x9e3779b9, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296
}

const words =
  "const value return import from the file list of that each until state error test where more".split(" ")

/** A text of about so many characters. */
export const prose = (seed: number, characters: number): string => {
  const parts: Array<string> = []
  for (let at = 0, length = 0; length < characters; at++) {
    const word = `${words[Math.floor(drawn(seed * 7_919 + at) * words.length)]}${at % 9 === 0 ? `_${seed}` : ""}`
    parts.push(word)
    length += word.length + 1
  }
  return parts.join(" ")
}

/** What a tool returns: mostly short, sometimes a file. */
const output = (index: number): string => {
  const size = drawn(index * 3 + 1) < 0.25 ? 6_000 + drawn(index) * 10_000 : 300 + drawn(index) * 1_500
  return prose(index, size)
}

/** Every so many turns, the agent is done, and the user asks for something else. */
const perQuestion = 12
const isQuestion = (index: number): boolean => index % perQuestion === 0
const question = (index: number): string => `Task ${index / perQuestion}: ${prose(index, 400)}`

/** Whether a request asks for a summary, and how long it may be. */
export const summaryRoom = ({ messages, input }: Fields): number | null => {
  const list = (messages ?? input) as ReadonlyArray<unknown>
  const last = JSON.stringify(list.at(-1))
  const [, room] = /Stay under (\d+) tokens/.exec(last) ?? []
  return room === undefined ? null : Number(room)
}

/** The model: it calls a tool, or ends the task; and writes summaries of four fifths of the room that it is given. */
export const model = (): Answering => {
  let index = 0
  return ({ body, tools }) => {
    const room = summaryRoom(body)
    if (room !== null) return { text: prose(1_000_000, room * 4 * 0.8) }
    const at = index++
    const thinking = drawn(at * 5 + 2) < 0.3 ? { thinking: prose(at + 500_000, 300) } : {}
    if (isQuestion(at + 1)) return { ...thinking, text: prose(at + 600_000, 700) }
    const [name = "shell"] = tools
    return {
      ...thinking,
      text: prose(at + 700_000, 120),
      calls: [{ name, arguments: { command: prose(at + 800_000, 100) } }],
    }
  }
}

const toolNames = [
  "Bash",
  "Read",
  "Edit",
  "Write",
  "Glob",
  "Grep",
  "Task",
  "TodoWrite",
  "WebFetch",
  "WebSearch",
]
const session = "0f9c2a54-6b1e-4d7a-9c3f-2f1f0f3f8f11"

const claudeCode: Agent = {
  name: "Claude Code's shape (Messages, marks of the cache)",
  prices: "claude-sonnet-5.5",
  cache: markedCache,
  start: (url) => {
    const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 })
    const history: Array<Anthropic.MessageParam> = []
    const mark = { cache_control: { type: "ephemeral" as const } }
    const system = [
      { type: "text" as const, text: "You are a coding agent.", ...mark },
      { type: "text" as const, text: prose(1, 14_000), ...mark },
    ]
    const tools: Array<Anthropic.Tool> = toolNames.map((name, at) => ({
      name,
      description: prose(at + 10, 3_000),
      input_schema: { type: "object", properties: { command: { type: "string" } } },
    }))
    /** The last block of each of the two newest messages of the user is marked. */
    const marked = (): Array<Anthropic.MessageParam> => {
      const newest = new Set(history.flatMap(({ role }, at) => (role === "user" ? [at] : [])).slice(-2))
      return history.map((message, at) => {
        if (!newest.has(at)) return message
        const content = (message.content as ReadonlyArray<object>).map((block, place, { length }) =>
          place === length - 1 ? { ...block, ...mark } : block,
        )
        return { ...message, content } as Anthropic.MessageParam
      })
    }
    let calls: ReadonlyArray<string> = []
    return {
      turn: async (index) => {
        const content: Array<Anthropic.ContentBlockParam> =
          calls.length > 0
            ? calls.map((id) => ({ type: "tool_result", tool_use_id: id, content: output(index) }))
            : [{ type: "text", text: question(index) }]
        history.push({ role: "user", content })
        const stream = client.messages.stream({
          model: "claude-sonnet-5-5",
          max_tokens: 32_000,
          thinking: { type: "adaptive" },
          system,
          tools,
          messages: marked(),
          metadata: { user_id: `user_1_account__session_${session}` },
        })
        const { content: answer } = await stream.finalMessage()
        calls = answer.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))
        const kept = answer.map((block) => {
          const { citations: _citations, caller: _caller, ...rest } = block as unknown as Fields
          return rest
        })
        history.push({ role: "assistant", content: kept as unknown as Array<Anthropic.ContentBlockParam> })
      },
    }
  },
}

const codex: Agent = {
  name: "Codex's shape (Responses, store: false)",
  prices: "gpt-6.2-sol",
  cache: automaticCache,
  start: (url) => {
    const client = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: "none",
      maxRetries: 0,
      defaultHeaders: { originator: "codex_cli_rs", session_id: session },
    })
    const input: Array<OpenAI.Responses.ResponseInputItem> = [
      { type: "message", role: "developer", content: [{ type: "input_text", text: prose(2, 2_000) }] },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: `<environment_context>${prose(3, 500)}` }],
      },
    ]
    const tools = toolNames.map((name, at) => ({
      type: "function" as const,
      name: name.toLowerCase(),
      description: prose(at + 30, 1_200),
      strict: false,
      parameters: { type: "object", properties: { command: { type: "string" } } },
    }))
    let calls: ReadonlyArray<string> = []
    return {
      turn: async (index) => {
        if (calls.length === 0)
          input.push({
            type: "message",
            role: "user",
            content: [{ type: "input_text", text: question(index) }],
          })
        for (const id of calls)
          input.push({ type: "function_call_output", call_id: id, output: output(index) })
        const events = await client.responses.create(
          {
            model: "gpt-6.2-sol",
            instructions: prose(4, 12_000),
            input: [...input],
            tools,
            tool_choice: "auto",
            parallel_tool_calls: false,
            store: false,
            stream: true,
            include: ["reasoning.encrypted_content"],
            prompt_cache_key: session,
          },
          { headers: { session_id: session } },
        )
        let answer: ReadonlyArray<OpenAI.Responses.ResponseOutputItem> = []
        for await (const event of events)
          if (event.type === "response.completed") answer = event.response.output
        calls = answer.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []))
        input.push(...(answer as ReadonlyArray<OpenAI.Responses.ResponseInputItem>))
      },
    }
  },
}

/** The agents. */
export const agents: ReadonlyArray<Agent> = [claudeCode, codex]
