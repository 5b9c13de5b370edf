/**
 * Generated conversations with a loop of tools, as models, pages and other adapters make them: blank texts, names that a model makes up,
 * arguments that are no JSON, ids of calls that come again, empty results and answers, system messages in the middle, more images than
 * a request has room for.
 */
import { Message } from "@memfold/core"
import {
  type AnsweredCall,
  type Answering,
  type ProviderServer,
  providerServer,
} from "@memfold/strict-providers"
import * as Arbitrary from "@memfold/testing/arbitrary"
import * as fc from "fast-check"
import { createMemory, Keep, type PromiseMemory, Strategy, SummaryMode, Trigger } from "memfold"
import { expect } from "vitest"
import { often } from "./depth.js"

/** What a call has for arguments: those that the tool takes, others, and texts of models that break off or think of another tool. */
const brokenArguments = ["", "{", '{"request": "a", "depth"', "[1]", '"x"', "null", "not json", "{}"]

const call = fc.record({
  name: fc.constantFrom("lookUp", "lookUp", "files.open", "look up!", "編集", "x".repeat(90)),
  broken: fc.option(fc.constantFrom(...brokenArguments), { freq: 3 }),
})

const steps = fc.array(
  fc.record({
    thinks: fc.boolean(),
    text: fc.constantFrom(undefined, "", " ", "\n\n", "Let me see."),
    /** Servers that count the calls of an answer use the ids of an answer again in the next one. */
    counts: fc.boolean(),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    output: fc.constantFrom("", " ", "found it", "line of a file. ".repeat(100)),
  }),
  { minLength: 4, maxLength: 8 },
)

/** Compacts at every step, whatever there is. */
const always = Strategy.make({
  name: "always",
  when: Trigger.backlog({ messages: 1 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

/** An image of the user's; its bytes are those of a PNG of one pixel. */
const image: Message.Part = {
  type: "file",
  mediaType: "image/png",
  uri: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
}

/** What others have said in the session before a question, in the memory's own form; it ends with words of the user. */
const saidBefore = fc
  .tuple(Arbitrary.conversation, fc.constantFrom(0, 0, 1, 101))
  .map(([messages, images]): ReadonlyArray<Message.Message> => [
    ...messages,
    Message.system("Answer in English from now on."),
    ...(images === 0 ? [] : [{ role: "user" as const, parts: Array.from({ length: images }, () => image) }]),
  ])

/** A conversation: what is stored before each question, what the model says in each step, and what the tool `lookUp` returns there. */
export const toolLoop = (seed: number) => {
  const sample = <A>(arbitrary: fc.Arbitrary<A>, numRuns: number) => fc.sample(arbitrary, { seed, numRuns })
  const [loop] = sample(steps, 1)
  const stored = sample(saidBefore, 2)
  let said = 0
  const answer: Answering = () => {
    const step = loop![said++ % (loop!.length + 1)]
    if (step === undefined) return { text: seed % 2 === 0 ? "Done." : "" }
    const { thinks, text, calls, counts } = step
    return {
      ...(thinks ? { thinking: "Hm." } : {}),
      ...(text === undefined ? {} : { text }),
      calls: calls.map(({ name, broken }, depth): AnsweredCall => ({
        name,
        ...(counts ? { id: `call_${depth}` } : {}),
        arguments: broken ?? { request: `${said}`, depth },
      })),
    }
  }
  return { answer, stored, output: () => loop![said % loop!.length]!.output }
}

/** A question to an agent of a library, and what it needs. */
export interface Asked {
  readonly server: ProviderServer
  readonly memory: PromiseMemory<"openai">
  readonly text: string
  /** What the tool `lookUp` returns now. */
  readonly output: () => string
}

/**
 * What of a library is looked at.
 *
 * - `checked`: which requests have the context of the memory: all (default), or the first one of each question, where the library
 *   makes the later ones of what it was answered itself
 * - `takesItems`: whether a session with items of providers can go on there; `true` by default
 */
export interface Checked {
  readonly checked?: "all" | "first"
  readonly takesItems?: boolean
}

const withoutItems = (message: Message.Message): Message.Message => ({
  ...message,
  parts: message.parts.filter(({ type }) => type !== "opaque"),
})

/**
 * Plays generated conversations in a memory that compacts at every step, and expects that the provider refuses no request of the library.
 *
 * @param ask - asks the agent of a library in the session `chat`, which calls tools until it has an answer
 */
export const expectNothingRefused = async (
  ask: (asked: Asked) => Promise<unknown>,
  { checked = "all", takesItems = true }: Checked = {},
): Promise<void> => {
  for (let seed = 1; seed <= often(3, 12); seed++) {
    const { answer, stored, output } = toolLoop(seed)
    const server = await providerServer({ answer })
    await using memory = createMemory({
      store: "memory:",
      strategy: always,
      summarizer: "echo",
      compaction: { mode: "inline" },
    })
    const refused: Array<unknown> = []
    for (const [at, messages] of stored.entries()) {
      for (const message of messages)
        await memory.neutral.append("chat", takesItems ? message : withoutItems(message))
      const from = server.received.length
      await ask({ server, memory, text: `Question ${at}?`, output })
      const asked = server.received.slice(from, checked === "first" ? from + 1 : undefined)
      refused.push(...asked.filter(({ status }) => status >= 400).map(({ violations }) => violations))
    }
    await server.close()
    expect([seed, refused]).toEqual([seed, []])
    expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
  }
}
