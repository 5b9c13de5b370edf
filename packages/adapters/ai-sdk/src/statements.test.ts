/** What a turn of an agent asks the store for. */
import { type Version, versions } from "@memfold/harness/aiSdkVersions"
import { leastStatements, statementsOfTurns } from "@memfold/harness/statements"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk, type AiSdkSession } from "./index.js"

type Ask = (session: AiSdkSession, version: Version, question: string, answer: string) => Promise<unknown>

const page = (id: string, text: string) => ({
  id,
  role: "user" as const,
  parts: [{ type: "text" as const, text }],
})

/** The ways to ask a model on a session. */
const ways: Readonly<Record<string, Ask>> = {
  "generateText with the callbacks": async (session, { sdk, model }, question, answer) => {
    const context = await session.messages(question)
    const asked = { model: model(() => ({ text: answer })).model, ...context }
    await session.onFinish(await sdk.generateText({ ...asked, prepareStep: session.prepareStep as never }))
  },
  "streamText for a page": async (session, { sdk, model }, question, answer) => {
    const context = await session.messages(page(question, question), { shows: "end" })
    const asked = { model: model(() => ({ text: answer })).model, ...context }
    await sdk.streamText({ ...asked, ...(session.callbacks as object) }).consumeStream()
  },
  "the middleware": (session, { sdk, model }, question, answer) =>
    sdk.generateText({
      model: sdk.wrapLanguageModel({
        model: model(() => ({ text: answer })).model as never,
        middleware: session.middleware(),
      }),
      prompt: question,
    }),
}

/** A model that calls a tool, then a tool three times at once, and then answers. */
const inSteps = (turn: number) => (_prompt: unknown, request: number) =>
  request === 2
    ? { text: `Answer ${turn}.` }
    : {
        calls: Array.from({ length: 1 + 2 * request }, (_, at) => ({
          id: `call ${turn}.${request}.${at}`,
          input: {},
        })),
      }

describe.each(versions)("a turn with $name", (version) => {
  it.each(["generateText", "streamText"] as const)(
    "in three steps is four appends and one look at the head for each step: %s",
    async (way) => {
      const { sdk } = version
      const search = sdk.tool({ inputSchema: z.object({}), execute: async () => "found" })
      const turns = await statementsOfTurns((store) => {
        const memory = createMemory({ store, compaction: { mode: "off" } })
        const sessions = aiSdk(memory, { major: version.major })
        return async (turn) => {
          const session = sessions.session("chat")
          const context = await session.messages(`Question ${turn}?`)
          const { model } = version.model(inSteps(turn))
          const asked = { model, ...context, tools: { search }, stopWhen: version.steps(5) }
          if (way === "streamText")
            return sdk.streamText({ ...asked, ...(session.callbacks as object) }).consumeStream()
          const { prepareStep } = session
          const done = await sdk.generateText({ ...asked, prepareStep: prepareStep as never })
          return session.onFinish(done)
        }
      })
      expect(turns).toEqual(turns.map(() => ({ appends: 4, heads: 3, pages: 0 })))
    },
  )

  it.each(Object.entries(ways))(
    "is one append of the question, one look at the head, and one append of the answer: %s",
    async (_name, ask) => {
      const turns = await statementsOfTurns((store) => {
        const memory = createMemory({ store, compaction: { mode: "off" } })
        const sessions = aiSdk(memory, { major: version.major })
        return (turn) => ask(sessions.session("chat"), version, `Question ${turn}?`, `Answer ${turn}.`)
      })
      expect(turns).toEqual(leastStatements)
    },
  )
})
