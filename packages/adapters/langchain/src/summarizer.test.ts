import { ChatAnthropic } from "@langchain/anthropic"
import { ChatOpenAI } from "@langchain/openai"
import { Message, type Summarizer } from "@memfold/core"
import { providerServer } from "@memfold/strict-providers"
import { Effect, Either } from "effect"
import { AIMessage, fakeModel } from "langchain"
import { describe, expect, it } from "vitest"
import { summarizer } from "./index.js"

const request: Summarizer.Request = {
  session: "s1",
  kind: "history",
  from: 0,
  to: 2,
  previous: undefined,
  messages: [Message.user("Where is order KX-4471?"), Message.assistant("In the depot in Graz.")],
  messagesFrom: 0,
  replacesTokens: 400,
  instructions: undefined,
}

const summarize = (model: Parameters<typeof summarizer>[0]["model"]) =>
  Effect.runPromise(Effect.either(summarizer({ model }).summarize(request)))

describe("a summarizer from a chat model", () => {
  it("asks the model, with the words of memfold", async () => {
    const model = fakeModel().respond(
      new AIMessage({ content: " KX-4471 is in Graz. ", response_metadata: { finish_reason: "stop" } }),
    )
    expect(await summarize(model)).toEqual(Either.right({ text: "KX-4471 is in Graz.", finish: "stop" }))
    const [system, user] = model.calls[0]!.messages
    expect(model.calls[0]!.messages).toHaveLength(2)
    expect([system!.type, user!.type]).toEqual(["system", "human"])
    expect(user!.text).toContain("In the depot in Graz.")
  })

  it.each([
    [{ finish_reason: "length" }, "length"],
    [{ stop_reason: "max_tokens" }, "length"],
    [{ finishReason: "SAFETY" }, "refused"],
    [{ stop_reason: "refusal" }, "refused"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ stop_reason: "tool_use" }, "refused"],
    [{}, undefined],
  ])("says how the answer ended: %o", async (response_metadata, finish) => {
    const summary = await summarize(
      fakeModel().respond(new AIMessage({ content: "Half of", response_metadata })),
    )
    expect(Either.getOrThrow(summary).finish).toBe(finish)
  })

  it("fails without the words of the error, which may quote the conversation", async () => {
    const error = Object.assign(new Error("KX-4471 is not allowed"), { status: 429 })
    const failed = await summarize(fakeModel().respond(error))
    expect(failed).toMatchObject({ left: { reason: "unavailable", session: "s1" } })
    expect(String(Either.getLeft(failed))).not.toContain("KX-4471")
    expect(Either.isLeft(failed) && failed.left.detail).toContain("HTTP 429")
  })

  it("knows the names and the ends of the models of Anthropic and OpenAI", async () => {
    const server = await providerServer({ answer: () => ({ thinking: "Hm.", text: "KX-4471 is in Graz." }) })
    const anthropic = new ChatAnthropic({
      model: "claude-sonnet-5-5",
      apiKey: "local",
      anthropicApiUrl: server.anthropicURL,
      maxTokens: 500,
    })
    const openai = (useResponsesApi: boolean) =>
      new ChatOpenAI({
        model: "gpt-6.2-mini",
        apiKey: "local",
        configuration: { baseURL: server.openaiURL },
        useResponsesApi,
      })
    for (const model of [anthropic, openai(false), openai(true)]) {
      expect(await summarize(model)).toEqual(Either.right({ text: "KX-4471 is in Graz.", finish: "stop" }))
    }
    expect([anthropic, openai(true)].map((model) => summarizer({ model }).name)).toEqual([
      "claude-sonnet-5-5",
      "gpt-6.2-mini",
    ])
    await server.close()
    expect(server.refused).toEqual([])
  })
})
