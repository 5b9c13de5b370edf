/**
 * No summary raises trust (L18): every text of a conversation gets a word of its own, a summarizer repeats every word it reads, and no
 * word may come out in a place of a higher origin than the text that it is from.
 */
import { Message, Render, type Session, type Strategy, type Summarizer, Wording } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { listOf, type MemoryPropertiesOptions, session } from "../memory/input.js"
import { inWorld } from "../memory/world.js"
import { type Law, makeLaw, must } from "./Law.js"

/** The order of trust, as the design has it. */
const order: ReadonlyArray<Message.Origin> = ["system", "user", "assistant", "tool", "retrieved", "external"]
const below = (one: Message.Origin, other: Message.Origin) => order.indexOf(one) > order.indexOf(other)

const word = /q7x\d+y\d+z/g
const wordsIn = (value: unknown): ReadonlyArray<string> => [
  ...new Set((typeof value === "string" ? value : JSON.stringify(value)).match(word)),
]

/** Repeats every marked word of its input, and nothing else. */
export const quoting: Summarizer.Service = {
  name: "quoting",
  isFree: true,
  maxInputTokens: Number.POSITIVE_INFINITY,
  summarize: ({ previous, messages }) =>
    Effect.sync(() => ({ text: wordsIn([previous ?? "", messages]).join(" ") || "nothing" })),
}

/** Items of providers with a text of the given one, and whose words these are. */
const itemWith = (data: unknown, text: string): readonly [data: unknown, origin?: Message.Origin] => {
  const item = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>
  switch (item["type"]) {
    case "web_search_tool_result":
      return [
        { ...item, content: [{ type: "web_search_result", title: text, url: "https://a.example" }] },
        "external",
      ]
    case "mcp_tool_result":
      return [{ ...item, content: [{ type: "text", text }] }, "external"]
    case "program_output":
      return [{ ...item, result: text }, "tool"]
    case "mcp_approval_response":
      return [{ ...item, reason: text }, "user"]
    case "server_tool_use":
    case "mcp_tool_use":
      return [{ ...item, input: { query: text } }]
    case "program":
      return [{ ...item, code: text }]
    case "mcp_approval_request":
      return [{ ...item, name: text }]
    default:
      return [{ note: text }, "external"]
  }
}

/** A part with a word in its text, and whose words it has. */
const partWith = (
  role: Message.Role,
  part: Message.Part,
  text: string,
): readonly [part: Message.Part, origin: Message.Origin] => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ ...part, text: `${part.text} ${text}.` }, role]
    case "tool-call":
      return [{ ...part, arguments: JSON.stringify({ path: text }) }, role]
    case "tool-result": {
      const output = `${part.output} ${text}.`
      const content = part.content?.map((one) => (one.type === "text" ? { ...one, text: output } : one))
      return [{ ...part, output, ...(content === undefined ? {} : { content }) }, "tool"]
    }
    case "file":
      return [{ ...part, name: `${text}.png` }, role === "user" ? "retrieved" : role]
    case "opaque": {
      const [data, origin = role] = itemWith(part.data, text)
      return [{ ...part, data }, below(origin, role) ? origin : role]
    }
  }
}

/** Messages with a word in each text, and whose words these are; some messages say it themselves. */
const marked = (
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
  own: ReadonlyArray<Message.Origin | null>,
) => {
  const origins = new Map<string, { readonly origin: Message.Origin; readonly index: number }>()
  let index = -1
  const messages = batches.map((batch) =>
    batch.map((message): Message.Message => {
      index++
      const said = own[index % own.length]
      const parts = message.parts.map((part, position) => {
        const text = `q7x${index}y${position}z`
        const [changed, origin] = partWith(message.role, part, text)
        origins.set(text, { origin: said ?? origin, index })
        return changed
      })
      return { ...message, parts, ...(said === null || said === undefined ? {} : { origin: said }) }
    }),
  )
  return { messages, origins }
}

type Origins = ReturnType<typeof marked>["origins"]

/** Fails for a word whose origin is below the one that its place has. */
const within = (
  origins: Origins,
  text: string,
  origin: Message.Origin | undefined,
  where: () => string,
): void => {
  for (const one of wordsIn(text)) {
    const from = origins.get(one)
    must(
      from !== undefined && origin !== undefined && !below(from.origin, origin),
      () => `${where()} says "${one}" of message ${from?.index}, ${from?.origin}, and counts as ${origin}`,
    )
  }
}

const isMaterial = (message: Message.Message): boolean =>
  message.role === "user" && Message.text(message).includes(Wording.material.heading)

/** Checks the segments of a summary, and what a context shows besides messages. */
const checkState = (state: Session.SessionState, origins: Origins, separate: boolean): void => {
  for (const [position, { text, from, to, kind }] of (state.summary?.segments ?? []).entries()) {
    const where = () => `the segment ${kind} [${from},${to})`
    within(origins, text, state.summary?.origins[position], where)
    for (const one of wordsIn(text)) {
      const { index = -1 } = origins.get(one) ?? {}
      must(from <= index && index < to, () => `${where()} says "${one}" of message ${index}`)
    }
  }
  for (const minimumOrigin of [undefined, ...order]) {
    const context = Render.render(state, { minimumOrigin })
    const besides = context.messages.filter((_, position) => context.sources[position] === null)
    for (const message of besides) {
      const text = Message.text(message)
      const apart = isMaterial(message)
      const section = context.layout.find((one) => one.section === (apart ? "material" : "summary"))
      within(origins, text, section?.origin, () => `the ${section?.section} of a context`)
      if (minimumOrigin !== undefined)
        within(origins, text, minimumOrigin, () => `a context of nothing below ${minimumOrigin}`)
      if (separate && !apart)
        within(origins, text, "assistant", () => `a message of the role ${message.role} besides material`)
    }
  }
}

/** What the law works with. */
export interface TrustLawOptions {
  readonly inputs: fc.Arbitrary<{
    readonly strategy: Strategy.Strategy
    readonly batches: ReadonlyArray<ReadonlyArray<Message.Message>>
  }>
  readonly numRuns: number
  readonly options?: MemoryPropertiesOptions | undefined
}

const origin = fc.option(fc.constantFrom(...order), { nil: null, freq: 3 })

/** No sentence of a low origin stands in a segment of a higher one, in any place of a context. */
export const trustLaw = ({ inputs, numRuns, options = {} }: TrustLawOptions): Law => {
  const { summarizer = quoting } = options
  return makeLaw({
    id: "L18",
    name: `no summary raises trust, written by the summarizer "${summarizer.name}"`,
    explanation:
      "Each text of a conversation has a word of its own. Through compactions over compactions and rewrites, with material together,\n" +
      "apart, and first so and then so: no segment has a word of a message below its origin, nor has what a context recalls. Apart from what\n" +
      "is marked as material, no text besides the messages has a word that nobody in the conversation has said. A context with\n" +
      "`minimumOrigin` has no word below it.",
    numRuns,
    arbitrary: fc.record({
      input: inputs,
      own: fc.array(origin, { minLength: 1, maxLength: 12 }),
      trust: fc.constantFrom("together" as const, "separate" as const, "changing" as const),
      asks: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      rewrites: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    }),
    describe: ({ input: { strategy, batches }, trust, rewrites }) =>
      `${strategy.name}, ${trust}, rewrites ${rewrites.map(Number).join("")}\n${listOf(batches)}`,
    holds: ({ input: { strategy, batches }, own, trust, asks, rewrites }) =>
      inWorld(options, async (world) => {
        const { messages, origins } = marked(batches, own)
        const open = (trust: Strategy.Trust) =>
          world.open({ strategy, trust, summarizer, compaction: { mode: "inline" } })
        const memories = [await open("together"), await open("separate")] as const
        let turn = 0
        for (const batch of messages) {
          const memory =
            memories[trust === "together" ? 0 : trust === "separate" ? 1 : turn % 2 === 0 ? 0 : 1]
          await world.run(memory.append(session, batch))
          // A client gives back what it was shown, in a format that has no place for an origin.
          if (rewrites[turn % rewrites.length] === true)
            await world.run(
              memory.rewrite(session, (shown) =>
                shown.map(({ origin: _origin, ...message }, at) =>
                  at === 0 ? { ...message, metadata: { turn } } : message,
                ),
              ),
            )
          if (asks[turn % asks.length] === true) await world.run(memory.compact(session))
          turn++
          checkState(await world.run(memory.state(session)), origins, trust === "separate")
        }
        const [memory] = memories
        const { messages: shown, layout } = await world.run(
          memory.context(session, { recall: { tokens: 400 } }),
        )
        const recalled = layout.find(({ section }) => section === "recalled")
        for (const message of shown.filter((one) => Message.text(one).includes("[Recalled from earlier")))
          within(origins, Message.text(message), recalled?.origin, () => "what a context recalls")
      }),
  })
}
