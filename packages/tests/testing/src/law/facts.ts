/** Facts rest on what was said (L24): conversations with an extractor that tells the truth and lies, edits, redactions and changes of facts. */
import {
  type EventLog,
  Keep,
  type Memory,
  type MemoryLayers,
  Message,
  Session,
  Strategy,
  SummaryMode,
  Trigger,
} from "@memfold/core"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { strategy as anyStrategy } from "../arbitrary/strategy.js"
import type { MemoryPropertiesOptions } from "../memory/input.js"
import { inWorld, type World } from "../memory/world.js"
import { canonical, type Law, makeLaw, must } from "./Law.js"

/** A fact as a played extractor finds it. */
export interface PlayedFact {
  readonly layer: "user"
  readonly predicate: string
  readonly value: string
  readonly subject: string
  readonly quote: string
  readonly key?: string | undefined
  readonly ended?: boolean
}

/** Memory layers whose extractor finds what a function finds. */
export type PlayedLayers = (
  play: (turns: MemoryLayers.CompletedTurns) => ReadonlyArray<PlayedFact>,
) => Effect.Effect<MemoryLayers.Service, never, EventLog.EventLog>

/** What the laws of facts work with: the memory layers, and what the laws of a memory work with. */
export interface FactPropertiesOptions extends Omit<MemoryPropertiesOptions, "summarizer" | "vectorIndex"> {
  readonly layers: PlayedLayers
}

const sessions = ["s1", "s2"] as const
const owner = "ann"

type Lie = "none" | "quote" | "elsewhere" | "assistant" | "end"

/** Something that the user says, and what the extractor makes of it. */
const saying = fc.record({
  type: fc.constant("say" as const),
  session: fc.nat({ max: 1 }),
  value: fc.constantFrom("x", "y"),
  subject: fc.constantFrom("user", "Bob"),
  single: fc.boolean(),
  /** The normal form of the message, and of the quote. */
  forms: fc.constantFrom<ReadonlyArray<"NFC" | "NFD">>(["NFC", "NFC"], ["NFD", "NFC"], ["NFC", "NFD"]),
  lie: fc.constantFrom<Lie>("none", "none", "none", "none", "quote", "elsewhere", "assistant", "end"),
})
type Saying = typeof saying extends fc.Arbitrary<infer A> ? A : never

const step = fc.oneof(
  { weight: 6, arbitrary: saying },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("edit" as const), turn: fc.nat({ max: 3 }), saying }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("redact" as const),
      session: fc.nat({ max: 1 }),
      turn: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("change" as const),
      fact: fc.nat({ max: 5 }),
      as: fc.constantFrom("ended" as const, "retracted" as const, "redacted" as const, "reverted" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("fork" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("rebuild" as const),
      by: fc.constantFrom("all" as const, "all" as const, "x" as const),
      next: fc.constantFrom("take" as const, "take" as const, "drop" as const, "leave" as const),
    }),
  },
)
type Rebuild = Extract<Step, { readonly type: "rebuild" }>
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const word = /q9x\d+z/gu
const wordsOf = (text: string): ReadonlyArray<string> => [...new Set(text.match(word))]

const told = (one: Step): string =>
  one.type === "edit" ? `edit ${one.turn}: ${told(one.saying)}` : Object.values(one).join(" ")

/** What was said, by its word. */
type Said = Map<string, Saying & { readonly text: string }>

/** Finds what is to be found in turns: the truth, or a lie. */
const playedBy = (past: Pick<Past, "said" | "finds">) => (turns: MemoryLayers.CompletedTurns) =>
  turns.messages.flatMap((message): ReadonlyArray<PlayedFact> => {
    const [name = ""] = message.role === "user" ? wordsOf(Message.text(message)) : []
    const { said, finds } = past
    const saying = said.get(name)
    if (saying === undefined || (finds !== "all" && saying.value !== finds)) return []
    const { value, subject, single, lie, forms } = saying
    const text = saying.text.normalize(forms[1])
    const elsewhere = [...said.values()].find((one) => one.session !== saying.session)
    const quotes = {
      none: text,
      end: text,
      quote: `${text}!`,
      elsewhere: elsewhere?.text ?? "",
      assistant: `Noted ${name}`,
    }
    const fact = { layer: "user" as const, predicate: "likes", value, subject, quote: quotes[lie] }
    return [{ ...fact, key: single ? "likes" : undefined, ended: lie === "end" }]
  })

/** The facts of a memory, of the sessions and of their owner. */
const factsOf = async (world: World, memory: Memory.Service) => {
  const lists = await Promise.all([
    world.run(memory.factsOf(owner, { at: null })),
    ...sessions.map((session) => world.run(memory.facts(session, { at: null }))),
  ])
  return lists.flat()
}

/** The texts of the messages in force, by session and version. */
const inForce = async (world: World, memory: Memory.Service) => {
  const texts = new Map<string, string>()
  for (const session of sessions) {
    const { gaps } = await world.run(memory.state(session))
    for (const { version, event } of await world.run(Stream.runCollect(memory.events(session))))
      if (event._tag === "MessageAppended" && Session.isOnBranch(gaps, version))
        texts.set(`${session} ${version}`, Message.text(event.message))
  }
  return texts
}

/** What has been done to facts and messages. */
interface Past {
  readonly said: Said
  readonly redacted: Set<string>
  isChanged: boolean
  /** The value that the extractor finds, or all. */
  finds: "all" | "x"
  /** Whether the facts are what the extractor that finds all has found. */
  isWhole: boolean
  /** Whether the second session began as a copy of the first one, and both share the log with the facts about their owner. */
  isShared: boolean
}

const checkFacts = async (world: World, memory: Memory.Service, { said, redacted, isChanged }: Past) => {
  const facts = await factsOf(world, memory)
  const texts = await inForce(world, memory)
  const ids = new Set(facts.map(({ id }) => id))
  for (const { id, sources = [], predicate, value, subject, endedBy, validFrom, validUntil } of facts) {
    must(sources.length > 0, () => `fact ${id} has no source`)
    for (const { session, event, quote } of sources) {
      const text = texts.get(`${session} ${event}`)
      must(
        text !== undefined,
        () => `fact ${id} rests on event ${event} of ${session}, which is not in force`,
      )
      must(
        text?.normalize("NFC").includes(quote) === true,
        () => `the quote "${quote}" of ${id} is not in "${text}"`,
      )
      const [name = ""] = wordsOf(quote)
      const saying = said.get(name)
      must(
        saying?.lie === "none" &&
          saying.value === value &&
          saying.subject === subject &&
          predicate === "likes",
        () => `fact ${id} (${subject} ${predicate} ${String(value)}) is not what "${quote}" says`,
      )
    }
    must(
      endedBy === undefined || ids.has(endedBy),
      () => `fact ${id} is ended by ${endedBy}, which is not there`,
    )
    const by = facts.find((fact) => fact.id === endedBy)
    must(
      by === undefined || by.subject === subject,
      () => `fact ${id} of ${subject} is ended by one of ${by?.subject}`,
    )
    must(
      validFrom === undefined || validUntil === undefined || validFrom <= validUntil,
      () => `fact ${id} ends before it begins`,
    )
  }
  const shown = new Set(facts.flatMap(({ sources = [] }) => sources.flatMap(({ quote }) => wordsOf(quote))))
  if (!isChanged)
    for (const text of texts.values())
      for (const name of wordsOf(text)) {
        const isTrue = said.get(name)?.lie === "none" && said.get(name)?.text === text
        must(!isTrue || shown.has(name), () => `what "${text}" says is no fact`)
      }
  for (const log of [...sessions, ...(await logsOf(world, memory))]) {
    const records = canonical([...(await world.run(Stream.runCollect(memory.events(log))))])
    for (const name of redacted)
      must(!records.includes(name), () => `the log ${log} has ${name}, which was redacted`)
  }
}

const logsOf = async (world: World, memory: Memory.Service): Promise<ReadonlyArray<string>> => [
  ...new Set([...(await world.run(Stream.runCollect(memory.eventsOf(owner))))].map(({ session }) => session)),
]

/** Learns anew, by the extractor that there is or by one that finds less, and takes it, drops it, or leaves it. */
const rebuild = async (world: World, memory: Memory.Service, past: Past, { by, next }: Rebuild) => {
  const before = canonical(await factsOf(world, memory))
  const learned = await logsOf(world, memory)
  if (!learned.includes(`memfold:user:${owner}`)) return
  past.finds = by
  const { come, go, change } = await world.run(memory.rebuildFacts(owner))
  past.finds = "all"
  must(canonical(await factsOf(world, memory)) === before, () => "what was learned anew is a fact already")
  const isSame = by === "all" && past.isWhole
  const told = () => canonical({ come, go, change })
  must(!isSame || come.length + go.length + change.length === 0, () => `the extractor is the same: ${told()}`)
  if (next === "leave") return
  await world.run(next === "take" ? memory.takeFacts(owner) : memory.dropFacts(owner))
  const after = canonical(await factsOf(world, memory))
  must((next === "take" && !isSame) || after === before, () => `it has changed facts:\n${before}\n${after}`)
  const open = await world.run(memory.diffFacts(owner))
  must(open === null, () => "what was learned anew is there after it was taken or dropped")
  if (next === "take" && !isSame) {
    past.isChanged = true
    past.isWhole = by === "all"
  }
}

/** Redacts the messages with a word, on every branch: a fork has copies of them. */
const redactWord = async (world: World, memory: Memory.Service, name: string) => {
  for (const session of sessions)
    for (const { version, event } of await world.run(Stream.runCollect(memory.events(session))))
      if (event._tag === "MessageAppended" && wordsOf(Message.text(event.message)).includes(name))
        await world.run(memory.redact(session, { version }))
}

/** Does one step; `next` numbers what is said. */
const take = async (world: World, memory: Memory.Service, past: Past, one: Step, owned: boolean) => {
  const { said, redacted } = past
  const say = (saying: Saying): ReadonlyArray<Message.Message> => {
    const name = `q9x${said.size}z`
    const text = `${name}: é ${saying.subject} likes ${saying.value}`.normalize(saying.forms[0])
    said.set(name, { ...saying, text })
    return [Message.user(text), Message.assistant(`Noted ${name}`)]
  }
  if (one.type === "say") {
    const messages = say(one)
    await world.run(memory.append(sessions[one.session]!, messages, owned ? { owner } : {}))
  } else if (one.type === "edit") {
    const session = sessions[one.saying.session]!
    const { messages } = await world.run(memory.messages(session, { limit: 1_000 }))
    const index = one.turn * 2
    // What the other copy still says is a fact of the copy that was learned from.
    past.isChanged ||= past.isShared
    if (index < messages.length) await world.run(memory.edit(session, index, say(one.saying)))
  } else if (one.type === "redact") {
    const { messages } = await world.run(memory.messages(sessions[one.session]!, { limit: 1_000 }))
    const turn = one.turn % Math.max(Math.floor(messages.length / 2), 1)
    const message = messages[turn * 2]
    if (message === undefined) return
    for (const name of wordsOf(Message.text(message))) {
      await redactWord(world, memory, name)
      redacted.add(name)
    }
    past.isChanged ||= past.isShared
  } else if (one.type === "fork") {
    const [from, to] = sessions
    const [origin, copy] = await Promise.all([world.run(memory.state(from)), world.run(memory.state(to))])
    if (origin.version === 0 || copy.version > 0) return
    await world.run(memory.fork(from, to))
    past.isShared = owned
  } else if (one.type === "rebuild") {
    if (owned) await rebuild(world, memory, past, one)
  } else {
    const facts = await factsOf(world, memory)
    const fact = facts[one.fact % Math.max(facts.length, 1)]
    if (fact === undefined) return
    past.isChanged = true
    for (const session of sessions)
      await world.run(
        one.as === "reverted"
          ? memory.revertFact(session, fact.id)
          : memory.removeFact(session, fact.id, { as: one.as, reason: "told so" }),
      )
    if (one.as !== "redacted") return
    const left = await factsOf(world, memory)
    must(!left.some(({ id }) => id === fact.id), () => `fact ${fact.id} is still there after it was redacted`)
  }
}

const truth = {
  type: "say",
  session: 0,
  value: "x",
  subject: "user",
  single: true,
  forms: ["NFC", "NFC"],
  lie: "none",
} as const

/** The copy goes on, and the session that it comes from leaves the branch that both had. */
const leftByAnother = {
  strategy: Strategy.make({
    name: "short",
    when: Trigger.backlog({ messages: 4 }),
    keep: Keep.lastMessages(2),
    summaryMode: SummaryMode.rolling,
  }),
  owned: false,
  passes: true,
  steps: [truth, { type: "fork" }, { type: "edit", turn: 0, saying: truth }] as ReadonlyArray<Step>,
}

/**
 * The laws of facts as properties: memory layers keep nothing that nobody has said.
 *
 * @param options - `layers`: makes memory layers with a played extractor
 */
export const factProperties = ({
  layers,
  numRuns = 50,
  strategies,
  ...options
}: FactPropertiesOptions): ReadonlyArray<Law> => {
  const strategy: fc.Arbitrary<Strategy.Strategy> =
    strategies === undefined
      ? anyStrategy
      : "generate" in strategies
        ? strategies
        : fc.constantFrom(...strategies)
  return [
    makeLaw({
      id: "L24",
      name: "facts rest on what was said",
      explanation:
        "Every fact has a quote that stands in a message in force on its branch, byte for byte, and says what the extractor read\n" +
        "there; what it makes up is no fact. What ends a fact is there, and of the same subject. What was said is a fact, until it is\n" +
        "taken back. Of a message that is redacted, no log has a word. Another process folds the same facts. What is learned anew\n" +
        "changes nothing before it is taken, and nothing at all if the extractor is the same.",
      numRuns,
      examples: [leftByAnother],
      arbitrary: fc.record({
        strategy,
        owned: fc.boolean(),
        passes: fc.boolean(),
        steps: fc.array<Step>(step, { minLength: 1, maxLength: 9 }),
      }),
      describe: ({ strategy: { name }, owned, passes, steps }) =>
        `${name}, ${owned ? "owned" : "not owned"}, ${passes ? "a second for each step" : "all at one time"}\n${steps.map((one) => `  ${told(one)}`).join("\n")}`,
      holds: ({ strategy, owned, passes, steps }) =>
        inWorld(options, async (world) => {
          const past: Past = {
            said: new Map(),
            redacted: new Set(),
            isChanged: false,
            finds: "all",
            isWhole: true,
            isShared: false,
          }
          const open = () =>
            world.open({ strategy, compaction: { mode: "inline" }, layers: layers(playedBy(past)) })
          const memory = await open()
          for (const one of steps) {
            if (passes) await world.run(Effect.sleep("1 second"))
            await take(world, memory, past, one, owned)
            await checkFacts(world, memory, past)
          }
          const here = canonical(await factsOf(world, memory))
          const there = canonical(await factsOf(world, await open()))
          must(here === there, () => `another process has other facts:\n${here}\n${there}`)
        }),
    }),
  ]
}
