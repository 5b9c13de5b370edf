/**
 * Law L17 over generated conversations: every context at every version, of every shipped strategy and format, passes the
 * rules of its provider, signatures of reasoning included.
 */
import { InMemoryEventLog, type Message } from "@memfold/core"
import * as Arbitrary from "@memfold/testing/arbitrary"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { strategies } from "@memfold/catalog"
import { byRule, type Change, play } from "./acting.js"
import { targets } from "./targets.js"

/** Settings small enough for conversations of a few messages. */
const settings: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "sliding-window": { tailKeepSize: 2, contextSize: 8, compressionWindowSize: 3 },
  rounds: { fullContextTurns: 1, cachedContextTurns: 1 },
  "split-turn": { contextLimit: 200 },
  "rolling-buffer": { bufferSize: 2 },
  window: { windowSize: 4 },
  "token-buffer": { maxTokens: 100 },
  "summary-buffer": { maxTokens: 100 },
  "break-even": { contextLimit: 200 },
}

/** A strategy that compacts at every step, so that a context begins with every message once. */
const everyStep = {
  name: "sliding-window",
  request: { tailKeepSize: 1, contextSize: 2, compressionWindowSize: 1 },
}

/** What models call tools that they make up, by what the generated conversations call them. */
const madeUp: Readonly<Record<string, string>> = {
  weather: "files.open",
  search: "",
  edit_file: "編集 file/".repeat(20),
}

/** The conversation, whose models make up names of tools. */
const withNames = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      (part.type === "tool-call" || part.type === "tool-result") && part.name !== undefined
        ? { ...part, name: madeUp[part.name] ?? part.name }
        : part,
    ),
  }))

/** The conversation with so many images in the first message of the user: more than some servers take in a request. */
const withImages = (
  messages: ReadonlyArray<Message.Message>,
  images: number,
): ReadonlyArray<Message.Message> => {
  const at = messages.findIndex(({ role }) => role === "user")
  const image: Message.Part = { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" }
  const added = Array.from({ length: images }, () => image)
  return messages.map((one, position) =>
    position === at ? { ...one, parts: [...one.parts, ...added] } : one,
  )
}

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ after: fc.nat({ max: 40 }), change: fc.constant("revert" as const) }),
  fc.record({
    after: fc.nat({ max: 40 }),
    change: fc.constant("redact" as const),
    message: fc.nat({ max: 20 }),
  }),
)

/** The formats that a conversation is checked in: in a quick run, a third of them in turn, and always the one whose reasoning is signed. */
const formatsOf = (conversation: number) =>
  targets.filter(({ format }, at) => deep || format === "anthropic" || at % 3 === conversation % 3)

describe("what providers accept, over generated conversations", () => {
  let conversations = 0
  const played = [...strategies.keys()].map((name) => ({ title: name, name, request: settings[name] ?? {} }))
  for (const { title, name, request } of [...played, { title: "compaction at every step", ...everyStep }]) {
    it(`${title}: every context of every version, in every format`, async () => {
      const strategy = Either.getOrThrow(strategies.get(name)!.resolve({ request }))
      const total = { contexts: 0, compactions: 0, signed: 0, sentBack: 0 }
      await fc.assert(
        fc.asyncProperty(
          Arbitrary.conversation,
          fc.array(change, { maxLength: 2 }),
          fc.constantFrom(0, 1, 9, 21, 101),
          async (messages, changes, images) => {
            const played = await Effect.runPromise(
              play(
                { messages: withImages(withNames(messages), images), strategy, changes },
                "s",
                formatsOf(conversations++),
              ).pipe(Effect.provide(InMemoryEventLog.layer)),
            )
            for (const key of ["contexts", "compactions", "signed", "sentBack"] as const)
              total[key] += played[key]
            expect(byRule(played.refused)).toEqual([])
          },
        ),
        { numRuns: often(5, 300), interruptAfterTimeLimit: often(60_000, 600_000) },
      )
      console.log(
        `${name}: ${total.contexts} contexts, ${total.compactions} compactions, ${total.signed} answers with reasoning, sent back ${total.sentBack} times`,
      )
      expect(total.compactions).toBeGreaterThan(0)
      expect(total.sentBack).toBeGreaterThan(0)
    })
  }
})
