/**
 * Facts of a real history: all chats of one user, typed by a schema, at three dates, and what a model would be asked for them. It prints
 * counts, and never a text.
 */
import { corpus } from "@memfold/harness/corpus"
import { Keep, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { Effect, Schema } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createMemory, Fact, functionExtractor, modelExtractor } from "../src/index.js"

const file = join(process.env["MEMFOLD_CORPUS"]!, "longmemeval/histories.json")

interface History {
  readonly haystack_dates: ReadonlyArray<string>
  readonly haystack_sessions: ReadonlyArray<
    ReadonlyArray<{ readonly role: string; readonly content: string }>
  >
}

/** The chats of the first user, each with its time. */
const chats = (): ReadonlyArray<readonly [session: string, messages: ReadonlyArray<Message.Message>]> => {
  const [{ haystack_dates: dates, haystack_sessions: sessions }] = JSON.parse(readFileSync(file, "utf8")) as [
    History,
  ]
  return sessions.map((said, at) => {
    const time = Date.parse(`${dates[at]!.replace(/ \(\w+\)/, "")} UTC`)
    return [
      `chat-${at}`,
      said.map(({ role, content }) =>
        role === "assistant" ? Message.assistant(content, { time }) : Message.user(content, { time }),
      ),
    ]
  })
}

const amount = (text: string): number => Number(text.replaceAll(/\D/g, ""))

const facts = {
  approved: Fact.of({ schema: Schema.Number, single: true, ask: "For how much the user is pre-approved." }),
  house: Fact.of({ schema: Schema.Number, single: true, ask: "What the house costs." }),
  laptop: Fact.of({ schema: Schema.String, single: true }),
  certification: Fact.of({ schema: Schema.String }),
}

const forms = {
  approved: [/pre-approved for \$([\d,]*\d)/, amount],
  house: [/buying a \$([\d,]*\d) house/, amount],
  laptop: [/I have a (Dell [A-Z]+) laptop/, String],
  certification: [/I have a certification in ([A-Z]\w+(?: [A-Z]\w+)*)/, String],
} as const

/** Finds what these forms find, and makes something up of each turn. */
const played = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ text }) => [
      ...Object.entries(forms).flatMap(([predicate, [form, valueOf]]) => {
        const [quote, value] = form.exec(text) ?? []
        return quote === undefined || value === undefined ? [] : [{ predicate, value: valueOf(value), quote }]
      }),
      { predicate: "approved", value: 1_000_000, quote: "pre-approved for a million" },
      { predicate: "mood", value: "fine", quote: text.slice(0, 40) },
    ]),
  { name: "played", isFree: true },
)

/** A request and its tokens, as they are estimated: four characters each. */
const asking = () => {
  const cost = { requests: 0, tokens: 0 }
  const extractor = modelExtractor({
    ask: ({ system, user }) =>
      Effect.sync(() => {
        cost.requests++
        cost.tokens += (system.length + user.length) / 4
        return '{"facts":[]}'
      }),
  })
  return { cost, extractor }
}

const whole = Strategy.make({
  name: "whole",
  when: Trigger.backlog({ messages: 1_000_000 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

describe.runIf(existsSync(file))("the chats of one user", () => {
  it("have facts that are typed by a schema, at three dates", async () => {
    const memory = createMemory({
      store: "memory:",
      facts,
      layers: { extractor: played },
      compaction: { mode: "inline" },
    })
    for (const [session, messages] of chats())
      await memory.neutral.append(session, messages, { owner: "user" })
    expect((await memory.sessionsOf("user", { limit: 100 })).sessions).toHaveLength(39)
    const at = async (date: string) => {
      const found = await memory.factsOf("user", { at: Date.parse(date) })
      return [
        found.approved?.value,
        found.house?.value,
        found.laptop?.value,
        found.certification.map(({ value }) => value),
      ]
    }
    expect(await at("2023-08-01")).toEqual([undefined, undefined, undefined, []])
    expect(await at("2023-11-01")).toEqual([350_000, 325_000, undefined, ["Data Analysis"]])
    expect(await at("2023-12-18")).toEqual([400_000, 325_000, "Dell XPS", ["Data Analysis"]])
    for (const fact of Object.values(await memory.factsOf("user", { at: null })).flat())
      for (const { session, event, quote } of fact?.sources ?? []) {
        const [, messages] = chats().find(([name]) => name === session)!
        expect({ event, isSaid: Message.text(messages[event - 1]!).includes(quote) }).toEqual({
          event,
          isSaid: true,
        })
      }
    await memory.close()
  })
})

/** Conversations of an owner, by the name of where they are from. */
const histories: Readonly<Record<string, () => ReturnType<typeof chats>>> = {
  "chats with an assistant": () => (existsSync(file) ? chats() : []),
  "customers with their service": () =>
    corpus
      .flatMap(({ file, found }) => (file.includes("tau-bench") ? found : []))
      .slice(0, 40)
      .map(({ messages }, at) => [`customer-${at}`, messages]),
}

it.each(
  Object.keys(histories).flatMap((of) =>
    (["turn", "compaction"] as const).map((learnAt) => [of, learnAt] as const),
  ),
)("%s: what a model is asked for their facts, at each %s", async (of, learnAt) => {
  const { cost, extractor } = asking()
  await using memory = createMemory({
    store: "memory:",
    strategy: whole,
    layers: { extractor, learnAt },
    compaction: { mode: "inline" },
    summarizer: async () => "So far.",
  })
  let count = 0
  for (const [session, messages] of histories[of]!()) {
    // As they were said.
    for (const message of messages) await memory.neutral.append(session, message, { owner: "user" })
    count += messages.length
    await memory.compact(session)
  }
  const per = (value: number) => Math.round((value / Math.max(count, 1)) * 1_000)
  console.log(
    `${of}, at each ${learnAt}: ${per(cost.requests)} requests, ${per(cost.tokens)} tokens for 1,000 messages`,
  )
  expect(cost.requests > 0).toBe(count > 0)
})
