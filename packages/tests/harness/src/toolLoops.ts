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

/** Which ids the items and calls of an answer have. */
type Ids = "new" | "of every answer" | "of every call" | "none"

const givenIds: Readonly<Partial<Record<Ids, { readonly id: string }>>> = {
  "of every call": { id: "call_0" },
  none: { id: "" },
}

const steps = fc.array(
  fc.record({
    thinks: fc.boolean(),
    text: fc.constantFrom(undefined, "", " ", "\n\n", "Let me see.", "Let me see."),
    /** Servers that count within an answer use its ids again in the next one. */
    ids: fc.constantFrom<Ids>("new", "of every answer", "of every call", "none"),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    output: fc.constantFrom("", " ", "found it", "found it", "line of a file. ".repeat(100)),
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

/** What the model and the tool say again and again: none of it may be taken for what was said before. */
const counted = ["Let me see.", "found it", "Done."]

/** How often that is seen, and how often it was said. */
type Sighted = readonly [seen: Readonly<Record<string, number>>, said: Readonly<Record<string, number>>]

const countsIn = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(counted.map((text) => [text, JSON.stringify(value).split(text).length - 1]))

/**
 * A conversation: what is stored before each question, what the model says in each step, and what the tool `lookUp` returns there.
 *
 * @param tame - if the model makes up no tools and no arguments: within what no call has the id of another one
 */
export const toolLoop = (seed: number, tame?: "turn" | "conversation") => {
  const sample = <A>(arbitrary: fc.Arbitrary<A>, numRuns: number) => fc.sample(arbitrary, { seed, numRuns })
  const [loop] = sample(steps, 1)
  const stored = sample(saidBefore, 2)
  /** How often each of {@link counted} has been said. */
  const said: Record<string, number> = Object.fromEntries(counted.map((text) => [text, 0]))
  const requests: Array<Sighted> = []
  const note = (text: string | undefined) => {
    if (text !== undefined && text in said) said[text]!++
  }
  const [isDone, isCounted] = [seed % 2 === 0, seed % 4 < 2]
  let turn = 0
  const answer: Answering = ({ body }) => {
    requests.push([countsIn(body), { ...said }])
    const at = turn % (loop!.length + 1)
    const first = tame === "conversation" ? turn - at : 0
    turn++
    const step = loop![at]
    if (step === undefined) {
      if (isDone) note("Done.")
      return { text: isDone ? "Done." : "", ...(isCounted ? { idsOf: first } : {}) }
    }
    const { thinks, text, calls, ids } = step
    note(text)
    return {
      ...(ids === "of every answer" ? { idsOf: tame === undefined ? 0 : first + at } : {}),
      ...(thinks ? { thinking: "Hm." } : {}),
      ...(text === undefined ? {} : { text }),
      calls: calls.map(({ name, broken }, depth): AnsweredCall => {
        const input = { request: `${turn}`, depth }
        if (tame !== undefined) return { name: "lookUp", id: `call_${first + at}_${depth}`, arguments: input }
        return { name, ...givenIds[ids], arguments: broken ?? input }
      }),
    }
  }
  const output = () => {
    const found = loop![turn % loop!.length]!.output
    note(found)
    return found
  }
  return { answer, stored, said, requests, output }
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
 * - `fetches`: whether the library itself fetches files by their addresses: then what was said before has none, as they are nowhere
 * - `drops`: what the library itself hands over nothing of: turns with calls that it takes for wrong, or some of any turn
 */
export interface Checked {
  readonly checked?: "all" | "first"
  readonly takesItems?: boolean
  readonly fetches?: true
  readonly drops?: "wrong calls" | "some"
}

/** What a library can go on with of what others have said. */
const taken = <Part extends Message.Part>(
  parts: ReadonlyArray<Part>,
  { takesItems = true, fetches }: Pick<Checked, "takesItems" | "fetches">,
): ReadonlyArray<Part> =>
  parts
    .filter((part) => takesItems || part.type !== "opaque")
    .filter((part) => fetches !== true || part.type !== "file" || !part.uri.startsWith("http"))
    .map((part) =>
      part.type === "tool-result" && part.content !== undefined
        ? { ...part, content: taken(part.content, fetches === true ? { fetches } : {}) }
        : part,
    )

/** Plays a generated conversation, and says which requests were refused, and what of them and of the log is missing. */
const played = async (
  ask: (asked: Asked) => Promise<unknown>,
  {
    seed,
    mode,
    isTame,
  }: { readonly seed: number; readonly mode: "inline" | "off"; readonly isTame: boolean },
  checks: Checked,
) => {
  const { checked = "all", drops } = checks
  // A library that makes later requests itself sends what it was answered as it came, beside what was answered in earlier turns.
  const tame = checked === "first" ? "conversation" : "turn"
  const { answer, stored, said, requests, output } = toolLoop(seed, isTame ? tame : undefined)
  const server = await providerServer({ answer })
  await using memory = createMemory({
    store: "memory:",
    strategy: always,
    summarizer: "echo",
    compaction: { mode },
  })
  const refused: Array<unknown> = []
  const sighted: Array<Sighted> = []
  for (const [at, messages] of stored.entries()) {
    for (const message of messages)
      await memory.neutral.append("chat", { ...message, parts: taken(message.parts, checks) })
    const [from, first] = [server.received.length, requests.length]
    await ask({ server, memory, text: `Question ${at}?`, output }).catch(
      (error: unknown) => void refused.push(String(error)),
    )
    const asked = server.received.slice(from, checked === "first" ? from + 1 : undefined)
    sighted.push(...requests.slice(first, checked === "first" ? first + 1 : undefined))
    refused.push(...asked.filter(({ status }) => status >= 400).map(({ violations }) => violations))
  }
  await server.close()
  const { messages } = await memory.neutral.messages("chat", { limit: 10_000 })
  const log: Sighted = [countsIn(messages.map(({ parts }) => parts)), said]
  const lost = [log, ...(mode === "off" ? sighted : [])].filter(
    ([seen, all]) => JSON.stringify(seen) !== JSON.stringify(all),
  )
  return {
    refused,
    lost: drops === undefined || (drops === "wrong calls" && isTame) ? lost : [],
    summaries: (await memory.summaries("chat")).length,
  }
}

/**
 * Plays generated conversations, in a memory that compacts at every step and in one that never does, and expects that the provider
 * refuses no request of the library, that the log has what was said as often as it was said, and so do requests without summaries.
 *
 * @param ask - asks the agent of a library in the session `chat`, which calls tools until it has an answer
 */
export const expectNothingRefused = async (
  ask: (asked: Asked) => Promise<unknown>,
  checked: Checked = {},
): Promise<void> => {
  for (let seed = 1; seed <= often(3, 12); seed++)
    for (const mode of ["inline", "off"] as const)
      for (const isTame of checked.drops === "wrong calls" ? [true, false] : [false]) {
        const play = { seed, mode, isTame }
        const { refused, lost, summaries } = await played(ask, play, checked)
        expect({ ...play, refused, lost }).toEqual({ ...play, refused: [], lost: [] })
        if (mode === "inline") expect(summaries).toBeGreaterThan(2)
      }
}
