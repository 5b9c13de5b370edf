/**
 * Law L16 over real transcripts: what a library is given of a conversation comes back from the log the same, by every codec
 * of the packages. The folder is named by MEMFOLD_CORPUS; see `npm run test:corpus`.
 */
import * as AiSdk from "@memfold/ai-sdk"
import * as Anthropic from "@memfold/anthropic"
import { Message } from "@memfold/core"
import * as EffectAi from "@memfold/effect-ai"
import * as LangChain from "@memfold/langchain"
import * as Mastra from "@memfold/mastra"
import * as OpenAI from "@memfold/openai"
import * as OpenAIAgents from "@memfold/openai-agents"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { corpus } from "@memfold/harness/corpus"

type Messages = ReadonlyArray<Message.Message>

const exact = { exact: true }
const read = <A, E>(decoded: Either.Either<A, E>): A => Either.getOrThrow(decoded)

/** Messages of a library, written and read again; `plain` is a form that can be compared. */
interface Codec {
  readonly name: string
  readonly back: (messages: Messages) => { readonly given: unknown; readonly decoded: Messages }
  readonly plain: (messages: Messages) => unknown
}

const codec = <Wire>(
  name: string,
  encode: (messages: Messages) => Wire,
  decode: (wire: Wire) => Messages,
  plain: (wire: Wire) => unknown = (wire) => wire,
): Codec => ({
  name,
  back: (messages) => {
    const wire = encode(messages)
    return { given: plain(wire), decoded: decode(wire) }
  },
  plain: (messages) => plain(encode(messages)),
})

const codecs: ReadonlyArray<Codec> = [
  codec(
    "Chat Completions",
    (all) => OpenAI.encodeMessages(all, exact),
    (wire) => read(OpenAI.decodeMessages(wire)),
  ),
  codec(
    "Responses",
    (all) => OpenAI.Responses.encodeItems(all, exact),
    (wire) => read(OpenAI.Responses.decodeItems(wire)),
  ),
  codec(
    "Anthropic Messages",
    (all) => Anthropic.encodeMessages(all, exact),
    (wire) => read(Anthropic.decodeMessages(wire)),
  ),
  codec(
    "the AI SDK",
    (all) => AiSdk.encodeMessages(all, exact),
    (wire) => read(AiSdk.decodeMessages(wire)),
  ),
  codec(
    "LangChain",
    (all) => LangChain.encodeMessages(all, exact),
    (wire) => read(LangChain.decodeMessages(wire)),
    (wire) => wire.map((message) => message.toDict()),
  ),
  codec("the OpenAI Agents SDK", OpenAIAgents.encodeItems, (wire) => read(OpenAIAgents.decodeItems(wire))),
  codec("Effect AI", EffectAi.encodePrompt, EffectAi.decodePrompt, ({ content }) => content),
  codec("Mastra", Mastra.encodeMessages, (wire) => read(Mastra.decodeMessages(wire))),
]

const stored = Schema.parseJson(Schema.Array(Message.Message))
const throughLog = (messages: Messages): Messages =>
  Schema.decodeSync(stored)(Schema.encodeSync(stored)(messages))

for (const { name, back, plain } of codecs) {
  describe(name, () => {
    it.each(corpus.filter(({ found }) => found.length > 0))("keeps every message of $file", ({ found }) => {
      for (const { messages } of found) {
        const { given, decoded } = back(messages)
        expect(plain(throughLog(decoded))).toEqual(given)
      }
    })
  })
}
