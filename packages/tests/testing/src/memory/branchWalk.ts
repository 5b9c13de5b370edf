/**
 * Conversations with branches: what is said, edited, asked again, taken back and returned to, in two processes over one log,
 * beside the page that would show it. The page knows nothing of logs: each branch is a list of words.
 */
import { type Memory, Message, type Summarizer } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { canonical, must, same } from "../law/Law.js"
import { session } from "./input.js"
import type { World } from "./world.js"

/** One operation, in the first or the second process. */
export type BranchStep = { readonly who: 0 | 1 } & (
  | { readonly act: "append"; readonly count: number }
  | { readonly act: "edit"; readonly at: number; readonly count: number }
  | { readonly act: "checkout" | "redact"; readonly which: number }
  | {
      readonly act: "regenerate" | "undo" | "compact" | "settle" | "revert" | "clear" | "reopen" | "look"
    }
)

const who = fc.constantFrom(0 as const, 1 as const)

/** Sequences of operations, with redactions or without. */
export const branchSteps = (
  { redacts }: { readonly redacts: boolean },
  maxLength = 20,
): fc.Arbitrary<ReadonlyArray<BranchStep>> => {
  const append = fc.record({
    who,
    act: fc.constant("append" as const),
    count: fc.integer({ min: 1, max: 6 }),
  })
  const step: fc.Arbitrary<BranchStep> = fc.oneof(
    { weight: 5, arbitrary: append },
    {
      weight: 4,
      arbitrary: fc.record({
        who,
        act: fc.constant("edit" as const),
        at: fc.nat({ max: 60 }),
        count: fc.nat({ max: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ who, act: fc.constant("checkout" as const), which: fc.nat() }) },
    {
      weight: 9,
      arbitrary: fc.record({
        who,
        act: fc.constantFrom(
          "regenerate" as const,
          "undo" as const,
          "compact" as const,
          "compact" as const,
          "settle" as const,
          "revert" as const,
          "clear" as const,
          "reopen" as const,
          "look" as const,
          "look" as const,
        ),
      }),
    },
    {
      weight: redacts ? 2 : 0,
      arbitrary: fc.record({ who, act: fc.constant("redact" as const), which: fc.nat() }),
    },
  )
  return fc
    .tuple(append, fc.array(step, { minLength: 2, maxLength, size: "max" }))
    .map(([first, steps]) => [first, ...steps])
}

/** Steps, one a line. */
export const listOfSteps = (steps: ReadonlyArray<BranchStep>): string =>
  steps.map((step) => JSON.stringify(step)).join("\n")

/**
 * A message of a page: its word, which no other message has, its role, and whether it calls a tool. An erased message has the word
 * of redactions.
 */
export interface PageMessage {
  readonly word: string
  readonly role: Message.Role
  readonly calls: boolean
}

const erased = "[redacted]"

const pattern = /word\d+/g

/** The words in anything that was made of messages. */
export const wordsIn = (value: unknown): ReadonlyArray<string> => canonical(value).match(pattern) ?? []

const filler = "and so on it goes, one word after another, until enough is said about it"

/** The next messages: questions, answers, and now and then a call with its result. */
const spoken = (word: string, number: number): Message.Message => {
  switch (number % 6) {
    case 3:
      return Message.call([{ id: `c${number}`, name: "look", arguments: JSON.stringify({ for: word }) }])
    case 4:
      return Message.result({ id: `c${number - 1}`, output: `${word} ${filler}` })
    case 1:
    case 5:
      return Message.assistant(`${word} ${filler}`)
    default:
      return Message.user(`${word} ${filler}`)
  }
}

/** A summarizer that repeats every word that it reads, so that a summary shows what it was made of. */
export const repeating: Summarizer.Service = {
  name: "repeating",
  summarize: ({ from, to, messages, previous }) =>
    Effect.succeed({ text: `[${from},${to}) ${wordsIn([previous, messages]).join(" ")}` }),
}

/** What a page shows, and what it would show of the branches that were left. */
export class Page {
  shown: ReadonlyArray<PageMessage> = []
  readonly left = new Map<number, ReadonlyArray<PageMessage>>()
  /** What it showed before the last switch or clear. */
  before: ReadonlyArray<PageMessage> | null = null
  /** All words that were ever said, and the words that were erased. */
  readonly said = new Set<string>()
  readonly forgotten = new Set<string>()
  private count = 0

  /** New messages. */
  messages(count: number): ReadonlyArray<Message.Message> {
    return Array.from({ length: count }, () => {
      const number = this.count++
      this.said.add(`word${number}`)
      return spoken(`word${number}`, number)
    })
  }

  /** The page leaves a branch and shows other messages. */
  leave(branch: number, shown: ReadonlyArray<PageMessage>): void {
    this.left.set(branch, this.shown)
    this.before = this.shown
    this.shown = shown
  }

  /** The page shows more messages. */
  add(messages: ReadonlyArray<Message.Message>): void {
    this.shown = [...this.shown, ...messages.map(shownOf)]
  }

  /** Erases a message from every branch. */
  erase(word: string): void {
    if (word === erased) return
    const without = (list: ReadonlyArray<PageMessage>) =>
      list.map((one) => (one.word === word ? { ...one, word: erased } : one))
    this.forgotten.add(word)
    this.shown = without(this.shown)
    if (this.before !== null) this.before = without(this.before)
    for (const [branch, list] of this.left) this.left.set(branch, without(list))
  }

  /** The words that the page shows, and the words that it does not. */
  get words(): { readonly here: ReadonlySet<string>; readonly elsewhere: ReadonlyArray<string> } {
    const here = new Set(this.shown.map(({ word }) => word))
    return { here, elsewhere: [...this.said].filter((word) => !here.has(word)) }
  }
}

/** A message as a page shows it. */
export const shownOf = (message: Message.Message): PageMessage => ({
  word: wordsIn(message.parts)[0] ?? erased,
  role: message.role,
  calls: Message.calls(message).length > 0,
})

/** A walk through a conversation. */
export interface Walk {
  readonly world: World
  readonly page: Page
  /** The two processes. */
  readonly memories: [Memory.Service, Memory.Service]
  readonly open: (who: 0 | 1) => Promise<Memory.Service>
}

/** Does a step, and checks its answer; the page follows. */
const take = async ({ world, page, memories, open }: Walk, step: BranchStep): Promise<void> => {
  const memory = memories[step.who]
  const branches = await world.run(memory.branches(session))
  const branch = branches[0]?.id ?? 0
  switch (step.act) {
    case "append": {
      const messages = page.messages(step.count)
      await world.run(memory.append(session, messages, { owner: "ann" }))
      return page.add(messages)
    }
    case "edit": {
      if (page.shown.length === 0) return
      const at = step.at % page.shown.length
      const messages = page.messages(step.count)
      const { from, to, left } = await world.run(memory.edit(session, at, messages))
      same([from, to, left], [at, at + step.count, branch], () => `the answer to an edit of message ${at}`)
      page.leave(branch, page.shown.slice(0, at))
      return page.add(messages)
    }
    case "regenerate": {
      const { to, left } = await world.run(memory.regenerate(session))
      const question = page.shown.findLastIndex(({ role }) => role === "user")
      same(to, question + 1, () => "the place of another answer")
      if (left !== null) page.leave(branch, page.shown.slice(0, to))
      return
    }
    case "checkout": {
      const chosen = branches[1 + (step.which % Math.max(branches.length - 1, 1))]
      if (chosen === undefined) return
      await world.run(memory.checkout(session, chosen.id))
      return page.leave(branch, page.left.get(chosen.id) ?? [])
    }
    case "undo": {
      const { undone } = await world.run(memory.undo(session, { pauseFor: 0 }))
      if (undone === "branch" || undone === "clear") page.leave(branch, page.before ?? [])
      return
    }
    case "clear":
      await world.run(memory.clear(session))
      if (page.shown.length > 0) page.leave(branch, [])
      return
    case "redact": {
      if (page.shown.length === 0) return
      const at = step.which % page.shown.length
      await world.run(memory.redact(session, at))
      return page.erase(page.shown[at]!.word)
    }
    case "compact":
      await world.run(memory.compact(session))
      return
    case "settle":
      await world.run(memory.compact(session, { which: "due" }))
      return
    case "revert":
      await world.run(memory.revert(session, { pauseFor: 0 }))
      return
    case "reopen":
      memories[step.who] = await open(step.who)
      return
    case "look":
  }
}

/**
 * Takes the steps one after another, in two processes.
 *
 * @param look - checks what is to be seen after each step, in the process of the step
 */
export const walk = async (
  world: World,
  open: Walk["open"],
  steps: ReadonlyArray<BranchStep>,
  look: (walk: Walk, step: BranchStep, memory: Memory.Service) => Promise<void>,
): Promise<Walk> => {
  const walked: Walk = { world, page: new Page(), memories: [await open(0), await open(1)], open }
  for (const step of steps) {
    await take(walked, step)
    await look(walked, step, walked.memories[step.who])
  }
  return walked
}

/** The words and roles of the messages that a memory has in a session, and whether they are the words and roles of the page. */
export const samePage = async (world: World, memory: Memory.Service, page: Page): Promise<void> => {
  const { messages } = await world.run(memory.messages(session, { limit: page.shown.length + 10 }))
  same(messages.map(shownOf), page.shown, () => "the messages of the branch in force")
}

/** No text says a word that the page does not show. */
export const onlyShown = (what: string, value: unknown, shown: ReadonlyArray<PageMessage>): void => {
  const here = new Set(shown.map(({ word }) => word))
  const other = wordsIn(value).find((word) => !here.has(word))
  must(other === undefined, () => `${what} says ${other}, which is not among its messages`)
}
