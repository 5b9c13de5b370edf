/** The public functions with the types of Effect AI, without a cast. */
import { type AiError, Chat, LanguageModel, Prompt, type Response, type Tool } from "@effect/ai"
import type { Memory, Summarizer } from "@memfold/core"
import { Effect, type Layer, Ref, Schema, Stream } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import {
  decodePrompt,
  decodeResponse,
  encodeContext,
  encodePrompt,
  encodeResponse,
  MemfoldChat,
  summarizer,
  summarizerLayer,
} from "../src/index.js"
import { toolkit } from "./models.js"

type Handler = Tool.HandlersFor<typeof toolkit.tools>

/** Compiled, never run. */
export const uses = Effect.gen(function* () {
  const chat = yield* MemfoldChat.open("chat", { instructions: "Be brief." })
  const { text, toolCalls } = yield* chat.generateText({ prompt: "Hello?", toolkit })
  for (const { params } of toolCalls) expectTypeOf(params.depth).toEqualTypeOf<number>()
  const { value } = yield* chat.generateObject({ prompt: [], schema: Schema.Struct({ city: Schema.String }) })
  expectTypeOf(value.city).toEqualTypeOf<string>()
  yield* Stream.runDrain(chat.streamText({ prompt: Prompt.empty, toolkit }))
  yield* Ref.update(chat.history, Prompt.setSystem("Be kind."))
  const response = yield* LanguageModel.generateText({ prompt: (yield* chat.context).prompt })
  encodeResponse(decodeResponse(response.content))
  return text
}).pipe(Effect.provideService(MemfoldChat.RequestId, "request-1"))

describe("the public functions", () => {
  it("give and take the types of Effect AI", () => {
    expectTypeOf<MemfoldChat.Service>().toExtend<Chat.Service>()
    expectTypeOf(MemfoldChat.open("chat")).toEqualTypeOf<
      Effect.Effect<MemfoldChat.Service, never, Memory.Memory>
    >()
    expectTypeOf<Effect.Effect.Error<typeof uses>>().toEqualTypeOf<AiError.AiError>()
    expectTypeOf<Effect.Effect.Context<typeof uses>>().toEqualTypeOf<
      Memory.Memory | LanguageModel.LanguageModel | Handler
    >()
    expectTypeOf(decodePrompt).parameter(0).toEqualTypeOf<Prompt.RawInput>()
    expectTypeOf(decodeResponse).parameter(0).toEqualTypeOf<ReadonlyArray<Response.AnyPart>>()
    expectTypeOf(encodePrompt).returns.toEqualTypeOf<Prompt.Prompt>()
    expectTypeOf(encodeContext([]).prompt).toEqualTypeOf<Prompt.Prompt>()
    expectTypeOf(summarizer()).toEqualTypeOf<
      Effect.Effect<Summarizer.Service, never, LanguageModel.LanguageModel>
    >()
    expectTypeOf(summarizerLayer()).toEqualTypeOf<
      Layer.Layer<Summarizer.Summarizer, never, LanguageModel.LanguageModel>
    >()
    expectTypeOf(Chat.Chat.of).parameter(0).toExtend<Chat.Service>()
  })
})
