/** The process that talks to the model. */
import { Toolkit } from "@effect/ai"
import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic"
import { FetchHttpClient } from "@effect/platform"
import { effectAi } from "@memfold/effect-ai"
import { Effect, Layer, Redacted } from "effect"
import { createMemory } from "memfold"
import { createHash } from "node:crypto"
import { kill, type Work } from "../shared/restart.js"
import { answer } from "./agent.js"
import { lookUp } from "./tools.js"

export const turns = 100

const report = (what: object) => void process.stdout.write(`${JSON.stringify(what)}\n`)

const modelAt = (address: string) =>
  AnthropicLanguageModel.model(process.env["MODEL"] ?? "claude-sonnet-5-5", { max_tokens: 4_000 }).pipe(
    Layer.provide(
      AnthropicClient.layer({
        ...(address === "" ? {} : { apiUrl: address }),
        apiKey: Redacted.make(process.env["ANTHROPIC_API_KEY"] ?? "local"),
      }),
    ),
    Layer.provide(FetchHttpClient.layer),
  )

/** Talks from a turn on; the first one has been asked already if it is not turn 1. */
export const work = async ({ address, file, from, killIn }: Work): Promise<void> => {
  await using memory = createMemory({
    store: `sqlite:${file}`,
    strategy: "rounds",
    settings: { fullContextTurns: 4, cachedContextTurns: 4 },
    compaction: { mode: "inline" },
  })
  let turn = from
  const context = Effect.flatMap(effectAi(memory).session("chat"), (chat) => chat.context)
  const digest = Effect.map(context, ({ prompt }) =>
    createHash("sha256").update(JSON.stringify(prompt)).digest("hex"),
  )
  const tools = Toolkit.make(lookUp)
  const handlers = tools.toLayer({
    lookUp: ({ request, depth }) =>
      Effect.gen(function* () {
        report({ tool: turn, context: yield* Effect.orDie(digest) })
        if (turn >= killIn) yield* Effect.promise(kill)
        return { request, found: `${depth} entries about ${request}`, order: `KX-${4_000 + turn}` }
      }),
  })

  const talk = Effect.gen(function* () {
    const toolkit = yield* tools
    if (from > 1) report({ context: yield* digest })
    for (; turn <= turns; turn++) {
      const asked =
        from > 1 && turn === from
          ? undefined
          : `Question ${turn}: what became of my order KX-${4_000 + turn}?`
      const text = yield* answer(memory, toolkit, "chat", asked)
      const { tokens } = yield* context
      const [{ length: compactions }, { total }] = yield* Effect.promise(() =>
        Promise.all([memory.summaries("chat"), memory.state("chat")]),
      )
      report({ turn, text: text.slice(0, 40), tokens, compactions, messages: total })
    }
  })
  await Effect.runPromise(talk.pipe(Effect.provide([modelAt(address), handlers])))
}
