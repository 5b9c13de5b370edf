/** The three majors of the AI SDK, each with a mock model of its own that does what a script says. */
import * as ai7 from "ai"
import * as test7 from "ai/test"
import * as ai5 from "ai5"
import * as test5 from "ai5/test"
import * as ai6 from "ai6"
import * as test6 from "ai6/test"
import { z } from "zod"

/** What a model answers: a text, calls of a tool (`search` by default), or reasoning that Anthropic signed. */
export interface Answer {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly id: string; readonly input: object; readonly name?: string }>
}

/** A message that a model got. */
export interface Prompted {
  readonly role: string
  readonly content: unknown
}

type Script = (prompt: ReadonlyArray<Prompted>, request: number) => Answer | Promise<Answer>

const finish = (answer: Answer) => (answer.calls === undefined ? "stop" : "tool-calls")

const contentOf = ({ reasoning, text, calls = [] }: Answer) => [
  ...(reasoning === undefined
    ? []
    : [
        {
          type: "reasoning" as const,
          text: reasoning,
          providerMetadata: { anthropic: { signature: `signed ${reasoning}` } },
        },
      ]),
  ...(text === undefined ? [] : [{ type: "text" as const, text }]),
  ...calls.map(({ id, input, name = "search" }) => ({
    type: "tool-call" as const,
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(input),
  })),
]

type Part = ReturnType<typeof contentOf>[number]
type Call = Extract<Part, { type: "tool-call" }>
type Metadata = Extract<Part, { type: "reasoning" }>["providerMetadata"]

/** The chunks of a stream that all versions have. */
type Chunk =
  | { type: "stream-start"; warnings: Array<never> }
  | { type: "text-start" | "text-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "reasoning-start" | "reasoning-end"; id: string; providerMetadata: Metadata }
  | Call

const chunksOf = (answer: Answer): ReadonlyArray<Chunk> => [
  { type: "stream-start" as const, warnings: [] },
  ...contentOf(answer).flatMap((part, index): ReadonlyArray<Chunk> => {
    const id = String(index)
    if (part.type === "text") {
      return [
        { type: "text-start" as const, id },
        { type: "text-delta" as const, id, delta: part.text },
        { type: "text-end" as const, id },
      ]
    }
    if (part.type === "reasoning") {
      const { providerMetadata } = part
      return [
        { type: "reasoning-start" as const, id, providerMetadata },
        { type: "reasoning-delta" as const, id, delta: part.text },
        { type: "reasoning-end" as const, id, providerMetadata },
      ]
    }
    return [part]
  }),
]

const usage5 = { inputTokens: 40, outputTokens: 7, totalTokens: 47 }
const usage = {
  inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 7, text: 7, reasoning: 0 },
}

const streamOf = <A>(chunks: ReadonlyArray<A>): ReadableStream<A> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

/** What tests use of each major. */
export interface Version {
  readonly name: string
  readonly major: 5 | 6 | 7
  /** The functions of version 7, as far as all versions have them; their types are tested apart. */
  readonly sdk: Pick<
    typeof ai7,
    "generateText" | "streamText" | "tool" | "convertToModelMessages" | "wrapLanguageModel"
  >
  readonly model: (script: Script) => {
    readonly model: ai7.LanguageModel
    readonly prompts: Array<ReadonlyArray<Prompted>>
  }
  /** A condition to stop after `count` steps. */
  readonly steps: (count: number) => ReturnType<typeof ai7.stepCountIs>
}

const ask = (script: Script) => {
  const prompts: Array<ReadonlyArray<Prompted>> = []
  return {
    prompts,
    answer: async (prompt: ReadonlyArray<Prompted>) => {
      prompts.push(prompt)
      return script(prompt, prompts.length - 1)
    },
  }
}

const five: Version = {
  name: "ai 5",
  major: 5,
  sdk: ai5 as unknown as Version["sdk"],
  model: (script) => {
    const { prompts, answer } = ask(script)
    const model = new test5.MockLanguageModelV2({
      doGenerate: async ({ prompt }) => {
        const said = await answer(prompt)
        return { content: contentOf(said), finishReason: finish(said), usage: usage5, warnings: [] }
      },
      doStream: async ({ prompt }) => {
        const said = await answer(prompt)
        return {
          stream: streamOf([
            ...chunksOf(said),
            { type: "finish" as const, finishReason: finish(said), usage: usage5 },
          ]),
        }
      },
    })
    return { model: model as unknown as ai7.LanguageModel, prompts }
  },
  steps: (count) => ai5.stepCountIs(count) as unknown as ReturnType<typeof ai7.stepCountIs>,
}

const six: Version = {
  name: "ai 6",
  major: 6,
  sdk: ai6 as unknown as Version["sdk"],
  model: (script) => {
    const { prompts, answer } = ask(script)
    const model = new test6.MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const said = await answer(prompt)
        return {
          content: contentOf(said),
          finishReason: { unified: finish(said), raw: undefined },
          usage,
          warnings: [],
        }
      },
      doStream: async ({ prompt }) => {
        const said = await answer(prompt)
        const finishReason = { unified: finish(said), raw: undefined } as const
        return { stream: streamOf([...chunksOf(said), { type: "finish" as const, finishReason, usage }]) }
      },
    })
    return { model: model as unknown as ai7.LanguageModel, prompts }
  },
  steps: (count) => ai6.stepCountIs(count) as unknown as ReturnType<typeof ai7.stepCountIs>,
}

const seven: Version = {
  name: "ai 7",
  major: 7,
  sdk: ai7,
  model: (script) => {
    const { prompts, answer } = ask(script)
    const model = new test7.MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        const said = await answer(prompt)
        return {
          content: contentOf(said),
          finishReason: { unified: finish(said), raw: undefined },
          usage,
          warnings: [],
        }
      },
      doStream: async ({ prompt }) => {
        const said = await answer(prompt)
        const finishReason = { unified: finish(said), raw: undefined } as const
        return { stream: streamOf([...chunksOf(said), { type: "finish" as const, finishReason, usage }]) }
      },
    })
    return { model, prompts }
  },
  steps: (count) => ai7.stepCountIs(count) as unknown as ReturnType<typeof ai7.stepCountIs>,
}

export const versions: ReadonlyArray<Version> = [five, six, seven]

/** A tool that finds something for every query. */
export const search = {
  description: "Searches.",
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }: { readonly query: string }) => ({ found: `about ${query}` }),
}
