/** What a model behind the local server answers: scripted, or drawn from a seed. */

/** The API that a request came through. */
export type Api = "anthropic" | "openai" | "openai-responses"

/**
 * A call of a tool: of a function with `arguments`, or, in the Responses API, of a custom tool with a text as its `input`.
 * Arguments that are a text are sent as they are: models do write broken JSON. `namespace` is the group of tools that the called
 * one is in. `id` is the id of the call; without it, no call has the id of another one.
 */
export type AnsweredCall = { readonly name: string; readonly namespace?: string; readonly id?: string } & (
  | { readonly arguments: Readonly<Record<string, unknown>> | string; readonly input?: undefined }
  | { readonly input: string; readonly arguments?: undefined }
)

/** The arguments of a call, as the text that the model wrote. */
export const argumentsOf = ({ arguments: given, input }: AnsweredCall): string =>
  typeof given === "string" ? given : JSON.stringify(given ?? { input })

/**
 * An answer of the model. An answer with neither text nor calls says "…".
 *
 * - `thinking`: what it thinks first. It travels signed; Chat Completions does not show it.
 * - `text`: what it says
 * - `calls`: the tools it calls, after the text
 * - `idsOf`: its ids are those of the answer to this request, by its number: some servers count from 0 in each answer
 * - `cut`: closes the connection after this many events of a stream, or before an answer that is not streamed
 * - `hold`: a stream waits after so many events (`after`) for what `wait` returns
 */
export interface Answer {
  readonly thinking?: string
  readonly text?: string
  readonly calls?: ReadonlyArray<AnsweredCall>
  readonly idsOf?: number
  readonly cut?: number
  readonly hold?: { readonly after: number; readonly wait: () => Promise<unknown> }
}

/** A request that was accepted, and waits for an answer. */
export interface ModelRequest {
  readonly api: Api
  readonly body: Readonly<Record<string, unknown>>
  /** How many requests the server accepted before this one. */
  readonly turn: number
  /** The names of the tools of the request. */
  readonly tools: ReadonlyArray<string>
  /** Whether the last thing in the request is the result of a tool. */
  readonly afterResult: boolean
}

/** Decides what the model answers. */
export type Answering = (asked: ModelRequest) => Answer | Promise<Answer>

/**
 * Answers in this order, and the last one again from then on.
 *
 * @throws RangeError: there is no answer
 *
 * @example
 * ```ts
 * import { scripted } from "@memfold/strict-providers"
 *
 * const answer = scripted([{ calls: [{ name: "weather", arguments: { city: "Graz" } }] }, { text: "14 °C, rain" }])
 * ```
 */
export const scripted = (answers: ReadonlyArray<Answer>): Answering => {
  if (answers.length === 0) throw new RangeError("a script needs an answer")
  let next = 0
  return () => answers[Math.min(next++, answers.length - 1)]!
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
const drawn = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Answers drawn from a seed: the same seed gives the same answers. Half of the answers think. If the request has tools, two
 * in three answers call one or two tools; after a result, only one in three.
 *
 * @param seed any integer
 *
 * @example
 * ```ts
 * import { providerServer, seeded } from "@memfold/strict-providers"
 *
 * const server = await providerServer({ answer: seeded(7) })
 * await server.close()
 * ```
 */
export const seeded = (seed: number): Answering => {
  const random = drawn(seed)
  return ({ turn, tools, afterResult }) => {
    const thinking = random() < 0.5 ? { thinking: `Step ${turn}: what is known, what is missing.` } : {}
    const calling = tools.length > 0 && random() < (afterResult ? 1 / 3 : 2 / 3)
    const calls = Array.from({ length: calling ? 1 + Math.floor(random() * 2) : 0 }, (_, index) => ({
      name: tools[Math.floor(random() * tools.length)]!,
      arguments: { request: `${turn}.${index}`, depth: Math.floor(random() * 9) },
    }))
    const text = calls.length === 0 || random() < 0.5 ? { text: `This is answer ${turn}.` } : {}
    return { ...thinking, ...text, calls }
  }
}
