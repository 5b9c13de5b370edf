import { Effect } from "effect"
import { expect, it } from "vitest"
import * as Message from "@memfold/message/Message"
import { make } from "./EchoSummarizer.js"

it("says the range it covers, including the range of the summary so far", () => {
  const request = {
    session: "s1",
    kind: "history" as const,
    from: 0,
    to: 12,
    previous: "[0,8)",
    messages: [Message.user("hello")],
    messagesFrom: 8,
    replacesTokens: 100,
    instructions: undefined,
  }
  expect(make().name).toBe("echo")
  expect(Effect.runSync(make().summarize(request))).toEqual({ text: "[0,12)" })
  expect(Effect.runSync(make().summarize({ ...request, from: 4, to: 9 }))).toEqual({ text: "[4,9)" })
})
