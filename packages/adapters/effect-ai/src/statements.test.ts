/** What a turn of a chat asks the store for. */
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import { type Answering, providerServer } from "@memfold/strict-providers"
import { Effect, Schema, Stream } from "effect"
import { createMemory } from "memfold"
import { expect, it, onTestFinished } from "vitest"
import { handlers, models, toolkit } from "../test/models.js"
import { MemfoldChat } from "./index.js"

interface Way {
  readonly answers?: Answering
  readonly ask: (chat: MemfoldChat.Service, question: string) => Effect.Effect<unknown, unknown, unknown>
  readonly takes: Statements
}

/** Calls the tool three times at once, and answers what comes behind the results. */
const calling: Answering = ({ afterResult, turn }) =>
  afterResult
    ? { text: `Answer ${turn}.` }
    : { calls: [1, 2, 3].map((depth) => ({ name: "lookUp", arguments: { request: "a", depth } })) }

const structured: Answering = ({ turn }) => ({ text: `{"city":"${turn}"}` })

/** A question, and its answer: an append each, and a look at the head for the call of the model. */
const least = { appends: 2, heads: 1, pages: 0 }

const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": { ask: (chat, prompt) => chat.generateText({ prompt }), takes: least },
  "an answer that streams": {
    ask: (chat, prompt) => Stream.runDrain(chat.streamText({ prompt })),
    takes: least,
  },
  "an answer in a structure": {
    answers: structured,
    ask: (chat, prompt) => chat.generateObject({ prompt, schema: Schema.Struct({ city: Schema.String }) }),
    takes: least,
  },
  "three calls at once, and what is said behind them": {
    answers: calling,
    ask: (chat, prompt) =>
      Effect.zipRight(chat.generateText({ prompt, toolkit }), chat.generateText({ prompt: [], toolkit })),
    takes: { appends: 3, heads: 2, pages: 0 },
  },
  "three calls at once that stream": {
    answers: calling,
    ask: (chat, prompt) =>
      Effect.zipRight(
        Stream.runDrain(chat.streamText({ prompt, toolkit })),
        Stream.runDrain(chat.streamText({ prompt: [], toolkit })),
      ),
    takes: { appends: 3, heads: 2, pages: 0 },
  },
  "a stream that nobody reads to its end": {
    ask: (chat, prompt) => Stream.runDrain(Stream.take(chat.streamText({ prompt }), 1)),
    takes: { appends: 1, heads: 1, pages: 0 },
  },
}

it.each(Object.entries(ways))(
  "is no more than its appends and looks at the head: %s",
  async (_name, { answers = ({ turn }) => ({ text: `Answer ${turn}.` }), ask, takes }) => {
    const server = await providerServer({ answer: answers })
    onTestFinished(() => server.close())
    const turns = await statementsOfTurns((store) => {
      const memory = createMemory({ store, compaction: { mode: "off" } })
      return (turn) =>
        Effect.flatMap(MemfoldChat.make(memory, "chat"), (chat) => ask(chat, `Question ${turn}?`)).pipe(
          Effect.provide(models.openai(server)),
          Effect.provide(handlers),
          (asked) => Effect.runPromise(asked as Effect.Effect<unknown>),
        )
    })
    expect(turns).toEqual(turns.map(() => takes))
  },
)
