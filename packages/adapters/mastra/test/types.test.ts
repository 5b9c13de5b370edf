/** The public functions with the types of Mastra, without a cast. */
import { Agent, type MastraDBMessage } from "@mastra/core/agent"
import type {
  InputProcessor,
  OutputProcessor,
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
} from "@mastra/core/processors"
import type { RequestContext } from "@mastra/core/request-context"
import type { Memory, Message, Summarizer } from "@memfold/core"
import type { Either } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import {
  contextOf,
  decodeMessages,
  encodeMessages,
  type MastraDecodeError,
  memfold,
  messagesOf,
  summarizer,
} from "../src/index.js"

declare const memory: Memory.AnyMemory

/** Compiled, never called. */
export const uses = async (own: InputProcessor, model: ProcessLLMRequestArgs["model"]) => {
  const base = {
    id: "support",
    name: "Support",
    instructions: "Be brief.",
    model: "openai/gpt-6.2-sol",
  } as const
  const agent = new Agent({ ...base, ...memfold({ memory }) })
  const { inputProcessors, outputProcessors } = memfold({
    memory,
    session: ({ threadId, resourceId, requestContext }) => {
      expectTypeOf(requestContext).toEqualTypeOf<RequestContext | undefined>()
      return threadId ?? resourceId
    },
  })
  const other = new Agent({ ...base, inputProcessors: [own, ...inputProcessors], outputProcessors })
  await agent.generate("Hello?", {
    memory: { thread: "chat", resource: "ann" },
    inputProcessors,
    outputProcessors,
  })
  summarizer({ agent: other })
  await other.generate(encodeMessages([]))
  await other.generate(await messagesOf(memory, "chat"))
  const { prompt } = await contextOf(memory, "chat", model)
  return { prompt } satisfies ProcessLLMRequestResult
}

describe("the public functions", () => {
  it("give and take the types of Mastra", () => {
    expectTypeOf(memfold).returns.toHaveProperty("inputProcessors").toEqualTypeOf<Array<InputProcessor>>()
    expectTypeOf(memfold).returns.toHaveProperty("outputProcessors").toEqualTypeOf<Array<OutputProcessor>>()
    expectTypeOf(encodeMessages).returns.toEqualTypeOf<Array<MastraDBMessage>>()
    expectTypeOf(messagesOf).returns.resolves.toEqualTypeOf<Array<MastraDBMessage>>()
    expectTypeOf(decodeMessages).returns.toEqualTypeOf<
      Either.Either<ReadonlyArray<Message.Message>, MastraDecodeError>
    >()
    expectTypeOf<Agent>().toExtend<Parameters<typeof summarizer>[0]["agent"]>()
    expectTypeOf(summarizer).returns.toEqualTypeOf<Summarizer.Service>()
  })
})
