/** The types of the official clients: what a context gives fits their functions, and what they return can be appended. */
import type Anthropic from "@anthropic-ai/sdk"
import type Anthropic0 from "anthropic0"
import type OpenAI from "openai"
import type OpenAI6 from "openai6"
import { describe, expectTypeOf, it } from "vitest"
import { createMemory } from "../index.js"
import type { FormattedContext, PromiseMemory } from "./PromiseMemory.js"

/** What `append` takes in a format. */
type Given<Format extends "openai" | "openai-responses" | "anthropic"> = Parameters<
  PromiseMemory<Format>["append"]
>[1]

type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming
type ResponseParams = OpenAI.Responses.ResponseCreateParamsNonStreaming
type MessageParams = Anthropic.MessageCreateParamsNonStreaming

describe("the openai client", () => {
  it("takes the messages of a context", () => {
    type Messages = FormattedContext<"openai">["messages"]
    expectTypeOf<Messages>().toExtend<ChatParams["messages"]>()
    type Apart = FormattedContext<"openai", "apart">["messages"]
    expectTypeOf<Apart["messages"]>().toExtend<ChatParams["messages"]>()
    expectTypeOf<Apart>().toHaveProperty("system").toEqualTypeOf<string | undefined>()
    expectTypeOf<{ model: string; messages: Messages }>().toExtend<ChatParams>()
  })

  it("gives what can be appended", () => {
    expectTypeOf<OpenAI.Chat.ChatCompletion>().toExtend<Given<"openai">>()
    expectTypeOf<OpenAI.Chat.ChatCompletionMessage>().toExtend<Given<"openai">>()
    expectTypeOf<OpenAI.Chat.ChatCompletionMessageParam>().toExtend<Given<"openai">>()
    expectTypeOf<Array<OpenAI.Chat.ChatCompletionMessageParam>>().toExtend<Given<"openai">>()
  })

  it("takes the items of a context", () => {
    type Items = FormattedContext<"openai-responses">["messages"]
    expectTypeOf<{ model: string; input: Items }>().toExtend<ResponseParams>()
    type Apart = FormattedContext<"openai-responses", "apart">["messages"]
    expectTypeOf<Apart & { model: string }>().toExtend<ResponseParams>()
  })

  it("gives items that can be appended", () => {
    expectTypeOf<OpenAI.Responses.Response>().toExtend<Given<"openai-responses">>()
    expectTypeOf<OpenAI.Responses.Response["output"]>().toExtend<Given<"openai-responses">>()
    expectTypeOf<OpenAI.Responses.ResponseInputItem>().toExtend<Given<"openai-responses">>()
    expectTypeOf<OpenAI.Responses.ResponseInput>().toExtend<Given<"openai-responses">>()
  })
})

describe("the openai client of the major before, which npm takes on Node 20", () => {
  type Chat = OpenAI6.Chat.ChatCompletionCreateParamsNonStreaming
  type Responses = OpenAI6.Responses.ResponseCreateParamsNonStreaming

  it("takes what a context gives", () => {
    type Messages = FormattedContext<"openai">["messages"]
    expectTypeOf<Messages>().toExtend<Chat["messages"]>()
    expectTypeOf<{ model: string; messages: Messages }>().toExtend<Chat>()
    expectTypeOf<Messages>().toExtend<Array<OpenAI6.Chat.ChatCompletionMessageParam>>()
    type Items = FormattedContext<"openai-responses">["messages"]
    expectTypeOf<{ model: string; input: Items }>().toExtend<Responses>()
    type Apart = FormattedContext<"openai-responses", "apart">["messages"]
    expectTypeOf<Apart & { model: string }>().toExtend<Responses>()
  })

  it("gives what can be appended", () => {
    expectTypeOf<OpenAI6.Chat.ChatCompletion>().toExtend<Given<"openai">>()
    expectTypeOf<OpenAI6.Chat.ChatCompletionMessage>().toExtend<Given<"openai">>()
    expectTypeOf<Array<OpenAI6.Chat.ChatCompletionMessageParam>>().toExtend<Given<"openai">>()
    expectTypeOf<OpenAI6.Responses.Response>().toExtend<Given<"openai-responses">>()
    expectTypeOf<OpenAI6.Responses.ResponseInput>().toExtend<Given<"openai-responses">>()
  })
})

describe("the Anthropic client of the major before", () => {
  type Params = Anthropic0.MessageCreateParamsNonStreaming

  it("takes what a context gives, and gives what can be appended", () => {
    type Conversation = FormattedContext<"anthropic">["messages"]
    expectTypeOf<Conversation & { model: string; max_tokens: number }>().toExtend<Params>()
    expectTypeOf<Anthropic0.Message>().toExtend<Given<"anthropic">>()
    expectTypeOf<Array<Anthropic0.MessageParam>>().toExtend<Given<"anthropic">>()
  })
})

describe("the Anthropic client", () => {
  it("takes the system text and the messages of a context", () => {
    type Conversation = FormattedContext<"anthropic">["messages"]
    expectTypeOf<Conversation["messages"]>().toExtend<MessageParams["messages"]>()
    expectTypeOf<Conversation & { model: string; max_tokens: number }>().toExtend<MessageParams>()
    expectTypeOf<FormattedContext<"anthropic", "apart">["messages"]>().toEqualTypeOf<Conversation>()
  })

  it("gives what can be appended", () => {
    expectTypeOf<Anthropic.Message>().toExtend<Given<"anthropic">>()
    expectTypeOf<Anthropic.MessageParam>().toExtend<Given<"anthropic">>()
    expectTypeOf<Array<Anthropic.MessageParam>>().toExtend<Given<"anthropic">>()
  })
})

describe("a memory", () => {
  it("has the format of its options", () => {
    const make = () => createMemory({ store: "memory:" })
    expectTypeOf<ReturnType<typeof make>>().toEqualTypeOf<PromiseMemory<"openai">>()
    const apart = () =>
      createMemory({ store: "memory:", format: "openai-responses", systemMessages: "apart" })
    expectTypeOf<ReturnType<typeof apart>>().toEqualTypeOf<PromiseMemory<"openai-responses", "apart">>()
  })
})
