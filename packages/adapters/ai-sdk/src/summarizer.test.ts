import { Message, type Summarizer } from "@memfold/core"
import { APICallError } from "ai"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { versions } from "@memfold/harness/aiSdkVersions"
import { aiSdk, summarizer } from "./index.js"

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

describe("a summarizer from a model", () => {
  for (const { name, model: make } of versions.slice(1)) {
    it(`asks the model: ${name}`, async () => {
      const { model, prompts } = make(() => ({ text: " KX-4471 is in Graz. " }))
      expect(await summarize(model)).toEqual(Either.right({ text: "KX-4471 is in Graz.", finish: "stop" }))
      expect(prompts[0]?.map(({ role }) => role)).toEqual(["system", "user"])
      expect(JSON.stringify(prompts[0])).toContain("In the depot in Graz.")
    })
  }

  it("fails without the words of the error, which may quote the conversation", async () => {
    const [, , seven] = versions
    const { model } = seven!.model(() => {
      throw new APICallError({
        message: "KX-4471 is not allowed",
        url: "https://example.org",
        requestBodyValues: {},
        statusCode: 429,
      })
    })
    const failed = await summarize(model)
    expect(failed).toMatchObject({ left: { reason: "unavailable", session: "s1" } })
    expect(String(Either.getLeft(failed))).not.toContain("KX-4471")
    expect(Either.isLeft(failed) && failed.left.detail).toContain("HTTP 429")
  })

  it("writes the summaries of a memory", async () => {
    const [, , seven] = versions
    const { model } = seven!.model(() => ({ text: "They count." }))
    await using memory = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      compaction: { mode: "manual" },
      summarizer: summarizer({ model }),
    })
    const chat = aiSdk(memory).session("chat")
    await chat.append(
      Array.from({ length: 60 }, (_, index) => {
        const content = `The number after the one before is ${index}, and then it goes on with the next of them.`
        return index % 2 === 0 ? { role: "user" as const, content } : { role: "assistant" as const, content }
      }),
    )
    expect((await memory.compact("chat", { which: "due" })).map(({ _tag }) => _tag)).toContain("Committed")
    expect((await chat.context()).system).toContain("They count.")
  })
})
