/** Branches: the conversation goes on from an earlier place, and nothing of another branch is in it (L3, L4, L6, L10, L15). */
import { EventLog, type Memory, Recall, type Strategy } from "@memfold/core"
import { Chunk, Effect, Stream } from "effect"
import * as fc from "fast-check"
import { canonical, type Law, makeLaw, must, same } from "../../law/Law.js"
import {
  type BranchStep,
  branchSteps,
  listOfSteps,
  onlyShown,
  type Page,
  repeating,
  samePage,
  type PageMessage,
  walk,
  wordsIn,
} from "../branchWalk.js"
import { checkSession } from "../checkSession.js"
import { type MemoryKit, session } from "../input.js"
import { inWorld, type World } from "../world.js"

interface Input {
  readonly strategy: Strategy.Strategy
  readonly mode: "manual" | "inline"
  readonly steps: ReadonlyArray<BranchStep>
}

const inputs = ({ strategies }: MemoryKit, redacts: boolean, maxLength?: number): fc.Arbitrary<Input> =>
  fc.record({
    strategy: strategies,
    mode: fc.constantFrom("manual" as const, "inline" as const),
    steps: branchSteps({ redacts }, maxLength),
  })

const describe = ({ strategy, mode, steps }: Input): string =>
  `${strategy.name}; compaction ${mode}\n${listOfSteps(steps)}`

/** Opens processes that search in ways of their own: one with an index of its own, the other one with an index in the store. */
const opener =
  (world: World, { strategy, mode }: Input) =>
  (who: 0 | 1): Promise<Memory.Service> =>
    world.open({
      strategy,
      compaction: { mode },
      summarizer: repeating,
      index:
        who === 0
          ? Recall.inProcess()
          : Recall.inStore(world.log.projections, { eventsPerPart: 4, largestPart: 10 }),
    })

/** Whether messages are the first ones of a list; not if they are not known. */
const isPrefix = (
  messages: ReadonlyArray<PageMessage> | undefined,
  list: ReadonlyArray<PageMessage>,
): boolean =>
  messages !== undefined &&
  messages.length <= list.length &&
  messages.every(({ word }, at) => word === list[at]?.word)

/** Whether the result of a call can still come: nobody has said anything behind it but the assistant. */
const hasOpenCall = (list: ReadonlyArray<PageMessage>): boolean =>
  list.slice(list.findLastIndex(({ role }) => role !== "assistant") + 1).some(({ calls }) => calls)

/** A summary covers messages of the branch in force alone. */
export const branchCoverageLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L3",
    name: "no summary covers a message beyond the branch in force",
    explanation:
      "A summarizer repeats every word it reads. Whatever is edited, asked again, undone and returned to, also in the middle\n" +
      "of what a summary covers: each segment says only words of messages that the branch has, up to where the segment ends.\n" +
      "After an edit, the summary in force is the newest one that covers nothing beyond the place; where nothing is said behind\n" +
      "the place, the newest one that leaves the last message before it to the context, for a request has to have it.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, false),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        /** What each summary covers, by its id. */
        const covered = new Map<string, ReadonlyArray<PageMessage>>()
        await walk(world, opener(world, input), input.steps, async ({ page }, step, memory) => {
          const { coveredTo, total, summary } = await world.run(memory.state(session))
          if (summary !== null) covered.set(summary.id, page.shown.slice(0, coveredTo))
          if (step.act === "edit" || step.act === "regenerate") {
            const added = step.act === "edit" ? step.count : 0
            const kept = page.shown.slice(0, total - added)
            const best = (await world.run(memory.summaries(session)))
              .filter(
                ({ id, status, coveredTo: end }) =>
                  status !== "invalid" &&
                  isPrefix(covered.get(id), kept) &&
                  (added > 0 || end < kept.length) &&
                  // A call that is the end is open again, and not covered.
                  !(end === kept.length && hasOpenCall(kept)),
              )
              .reduce((most, one) => Math.max(most, one.coveredTo), 0)
            must(coveredTo >= best, () => `${coveredTo} messages are covered, and a summary of ${best} stays`)
          }
          same(total, page.shown.length, () => "the number of messages of the branch")
          must(coveredTo <= total, () => `the summary covers ${coveredTo} of ${total} messages`)
          for (const { to, text } of summary?.segments ?? [])
            onlyShown(`a segment up to message ${to}`, text, page.shown.slice(0, to))
          // The log says so, too: the naive model reads it from the first event.
          await checkSession(world, memory, session)
        })
      }),
  })

/** A conversation has the messages of its branch, and of no other. */
export const branchMessagesLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L4",
    name: "every message of the branch in force is covered or shown, and none of another branch is",
    explanation:
      "A page keeps a list of messages for each branch. After every edit, regeneration, checkout, undo and clear, the memory has\n" +
      "the messages of the page, its context says no word of another branch, and its branches are as long as the lists.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, true),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        await walk(world, opener(world, input), input.steps, async ({ page }, _step, memory) => {
          await samePage(world, memory, page)
          const { context } = await checkSession(world, memory, session)
          onlyShown("the context", context, page.shown)
          const [current, ...left] = await world.run(memory.branches(session))
          same(current?.total ?? 0, page.shown.length, () => "the length of the branch in force")
          const listOf = (id: number | null | undefined) =>
            id === current?.id ? page.shown : page.left.get(id ?? -1)
          for (const { id, total, parent, from } of left) {
            same(total, page.left.get(id)?.length, () => `the length of branch ${id}`)
            const above = listOf(parent)?.slice(0, from)
            if (above !== undefined)
              same(listOf(id)?.slice(0, from), above, () => `what branch ${id} shares with ${parent}`)
          }
        })
      }),
  })

/** A fold from a snapshot goes back to the same places. */
export const branchFoldLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L6",
    name: "every process sees a conversation with branches as the fold of all its events",
    explanation:
      "Two processes edit, compact and revert in turn; a third one opens the session anew from a snapshot. Each sees the state\n" +
      "that follows from all events, also where an event goes back to a state from before its snapshot.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, true, 40),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        const open = opener(world, input)
        const { page, memories } = await walk(world, open, input.steps, async (walked, step) => {
          if (step.act !== "look") return
          for (const memory of walked.memories) await checkSession(world, memory, session)
          await checkSession(world, await open(0), session)
        })
        for (const memory of [...memories, await open(0)]) {
          await checkSession(world, memory, session)
          await samePage(world, memory, page)
        }
      }),
  })

/** The past stays as it was, on every branch. */
export const branchPastLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L10",
    name: "every version of every branch is rendered as it was",
    explanation:
      "The context of each version is remembered. Whatever is edited, reverted and undone afterwards, the context at that version\n" +
      "is the same, in the process that saw it and in a process that is opened later.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, false, 30),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        const contexts = new Map<number, string>()
        const open = opener(world, input)
        const again = async (memory: Memory.Service, at: number) =>
          same(
            canonical(await world.run(memory.context(session, { atVersion: at }))),
            contexts.get(at),
            () => `the context at version ${at} is another one now`,
          )
        const { memories } = await walk(world, open, input.steps, async ({ page }, step, memory) => {
          const [state, context] = await world.run(
            Effect.all([memory.state(session), memory.context(session)]),
          )
          contexts.set(state.version, canonical(context))
          onlyShown("the context", context, page.shown)
          if (step.act !== "look") return
          const versions = [...contexts.keys()]
          await again(memory, versions[Math.floor(versions.length / 2)]!)
        })
        const fresh = await open(0)
        for (const at of contexts.keys()) for (const memory of [...memories, fresh]) await again(memory, at)
      }),
  })

/** Everything that a session has in the store, as text. */
const stored = async (world: World): Promise<ReadonlyArray<readonly [string, string]>> => {
  const records = Chunk.toReadonlyArray(
    await world.run(Stream.runCollect(EventLog.records(world.log, session))),
  )
  const rows = await Promise.all(
    ["snapshot", "earlier-snapshot", "summary", "index"].map(async (kind) => {
      const found = await world.run(world.log.projections.get(session, kind))
      return [`the rows of kind ${kind}`, canonical(found)] as const
    }),
  )
  return [
    ...records.map((record) => [`event ${record.version} (${record.type})`, canonical(record)] as const),
    ...rows,
  ]
}

const nothingForgotten = (what: string, value: unknown, { forgotten }: Page): void => {
  const found = wordsIn(value).find((word) => forgotten.has(word))
  must(found === undefined, () => `${what} has ${found}, which was redacted`)
}

/** A redaction reaches every branch. */
export const branchRedactionLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L15",
    name: "a redacted message is erased from every branch",
    explanation:
      "Messages are redacted that several branches have, and that summaries of several branches cover. Their words are in no\n" +
      "event, row or context afterwards, also after a return to each branch.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, true),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        const open = opener(world, input)
        const { page, memories } = await walk(world, open, input.steps, async (walked, step, memory) => {
          if (step.act !== "redact") return
          for (const [what, text] of await stored(world)) nothingForgotten(what, text, walked.page)
          nothingForgotten("a context", await world.run(memory.context(session)), walked.page)
        })
        if (page.forgotten.size === 0) return
        for (const memory of [...memories, await open(0)]) {
          for (const { id, total } of await world.run(memory.branches(session))) {
            // A branch without messages is forgotten when it is left.
            if (total > 0) await world.run(memory.checkout(session, id))
            await checkSession(world, memory, session)
            nothingForgotten("a context", await world.run(memory.context(session)), page)
          }
        }
        for (const [what, text] of await stored(world)) nothingForgotten(what, text, page)
      }),
  })

/** Recall finds the branch in force only. */
export const branchRecallLaw = (kit: MemoryKit): Law =>
  makeLaw({
    id: "L6",
    name: "recall finds the branch in force, and nothing of another branch",
    explanation:
      "An index in the process and an index in the store are searched now and then while the conversation is edited, undone and\n" +
      "returned to. Each finds every question and answer that the page shows, at its place, and none that it does not show.",
    numRuns: kit.numRuns,
    arbitrary: inputs(kit, true),
    describe,
    holds: (input) =>
      inWorld(kit.options, async (world) => {
        const search = async (memory: Memory.Service, page: Page) => {
          const { here, elsewhere } = page.words
          const tokens = 10_000
          for (const [index, { word, role }] of page.shown.entries()) {
            if (!page.said.has(word) || role === "tool" || role === "system") continue
            const { messages } = await world.run(memory.recall(session, word, { tokens }))
            must(
              messages.some((one) => one.index === index && wordsIn(one.text).includes(word)),
              () => `a search for ${word} does not find message ${index}`,
            )
            onlyShown(`a search for ${word}`, messages, page.shown)
          }
          const everything = [...here, ...elsewhere].join(" ")
          onlyShown("a search", await world.run(memory.recall(session, everything, { tokens })), page.shown)
          onlyShown("a search", await world.run(memory.recallOf("ann", everything, { tokens })), page.shown)
          for (const word of elsewhere) {
            const { messages } = await world.run(memory.recall(session, word, { tokens }))
            onlyShown(`a search for ${word}`, messages, page.shown)
          }
        }
        const { page, memories } = await walk(
          world,
          opener(world, input),
          input.steps,
          async (walked, step) => {
            if (step.act === "look") for (const memory of walked.memories) await search(memory, walked.page)
          },
        )
        for (const memory of memories) await search(memory, page)
      }),
  })
