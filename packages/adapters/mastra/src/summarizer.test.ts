import { Agent } from "@mastra/core/agent"
import { Message, type Summarizer } from "@memfold/core"
import { providerServer } from "@memfold/strict-providers"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { summarizer } from "./index.js"
import { quiet } from "../test/quiet.js"

quiet()

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

const agentAt = (url: string) =>
  new Agent({
    id: "summarizer",
    name: "Summarizer",
    instructions: "Never sent.",
    model: { id: "local/gpt-6.2-mini", url, apiKey: "local" },
    maxRetries: 0,
  })

const summarize = (agent: Agent) => Effect.runPromise(Effect.either(summarizer({ agent }).summarize(request)))

describe("a summarizer from an agent", () => {
  it("asks the model, with the words of memfold alone", async () => {
    const server = await providerServer({ answer: () => ({ text: " KX-4471 is in Graz. " }) })
    const agent = agentAt(server.openaiURL)
    expect(await summarize(agent)).toEqual(Either.right({ text: "KX-4471 is in Graz.", finish: "stop" }))
    await server.close()
    expect(server.refused).toEqual([])
    const sent = JSON.stringify(server.received.at(-1)?.body)
    expect(sent).toContain("In the depot in Graz.")
    expect(sent).not.toContain("Never sent.")
    expect(summarizer({ agent }).name).toBe("summarizer")
  })

  it("fails without the words of the error, which may quote the conversation", async () => {
    const server = await providerServer({ answer: () => ({ text: "" }) })
    await server.close()
    const failed = await summarize(agentAt(server.openaiURL))
    expect(failed).toMatchObject({ left: { reason: "unavailable", session: "s1" } })
    expect(String(Either.getLeft(failed))).not.toContain("KX-4471")
  })
})
