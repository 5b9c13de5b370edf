/** Answers in the wire format of OpenAI's Chat Completions API, whole and as a stream. */
import { type Answer, argumentsOf } from "./answers.js"
import type { Fields } from "./json.js"
import { type Envelope, type StreamEvent, tokensOf } from "./messagesWire.js"

const callsOf = ({ calls = [] }: Answer, count: number) =>
  calls.map((call, index) => ({
    id: call.id ?? `call_${count}_${index}`,
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }))

const saying = ({ text, calls = [] }: Answer): string | null => text ?? (calls.length > 0 ? null : "…")

const usageOf = (answer: Answer, { inputTokens }: Envelope) => {
  const output = tokensOf(answer)
  return {
    prompt_tokens: inputTokens,
    completion_tokens: output,
    total_tokens: inputTokens + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
}

const headOf = ({ count, model }: Envelope, object: string) => ({
  id: `chatcmpl-${count}`,
  object,
  created: 1_700_000_000,
  model,
  service_tier: "default",
})

const finish = ({ calls = [] }: Answer): string => (calls.length > 0 ? "tool_calls" : "stop")

/** What servers say beyond the API: reasoning in a field of its own, for those that want it back. */
const thoughtOf = ({ thinking }: Answer, takes: ReadonlySet<string>): Fields =>
  thinking !== undefined && takes.has("reasoning_content") ? { reasoning_content: thinking } : {}

/** The completion that answers a request; `takes` has the fields of the server beyond the API. */
export const completionOf = (
  answer: Answer,
  envelope: Envelope,
  takes: ReadonlySet<string> = new Set(),
): Fields => {
  const calls = callsOf(answer, envelope.count)
  return {
    ...headOf(envelope, "chat.completion"),
    choices: [
      {
        index: 0,
        finish_reason: finish(answer),
        logprobs: null,
        message: {
          role: "assistant",
          content: saying(answer),
          refusal: null,
          annotations: [],
          ...thoughtOf(answer, takes),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      },
    ],
    usage: usageOf(answer, envelope),
  }
}

/** The same completion as a stream; `includeUsage` as in `stream_options`. */
export const completionStream = (
  answer: Answer,
  envelope: Envelope,
  includeUsage: boolean,
  takes: ReadonlySet<string> = new Set(),
): ReadonlyArray<StreamEvent> => {
  const chunk = (delta: Fields, reason: string | null = null): StreamEvent => ({
    data: {
      ...headOf(envelope, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
      ...(includeUsage ? { usage: null } : {}),
    },
  })
  const text = saying(answer)
  const { reasoning_content: thought } = thoughtOf(answer, takes)
  return [
    chunk({ role: "assistant", content: text === null ? null : "", refusal: null }),
    ...(thought === undefined
      ? []
      : String(thought)
          .split(/(?<=\s)/u)
          .map((one) => chunk({ reasoning_content: one }))),
    ...(text === null ? [] : text.split(/(?<=\s)/u).map((content) => chunk({ content }))),
    ...callsOf(answer, envelope.count).flatMap((call, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: "" } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: call.function.arguments } }] }),
    ]),
    chunk({}, finish(answer)),
    ...(includeUsage
      ? [
          {
            data: {
              ...headOf(envelope, "chat.completion.chunk"),
              choices: [],
              usage: usageOf(answer, envelope),
            },
          },
        ]
      : []),
    { data: "[DONE]" },
  ]
}
