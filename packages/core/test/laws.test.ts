/**
 * The laws over whole runs of a memory: generated conversations, one message at a time or in batches, under any
 * composition of the parts of a policy and under the shipped strategies.
 */
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SummaryMode, Keep, Message, Prune, Session, Split, Strategy, Trigger, Verify } from "../src/index.js"
import * as Snapshot from "../src/projection/Snapshot.js"
import {
  batched,
  chat,
  conversation,
  inBatches,
  pruningStrategy,
  strategy as anyStrategy,
} from "@memfold/testing/arbitrary"
import { compactions, type Run, runOf, runSession as session } from "@memfold/testing"
import {
  compactionFindings,
  contextFinding,
  growthFinding,
  readSession,
  stateFinding,
} from "@memfold/testing/oracle"
import { strategies } from "@memfold/harness/shippedStrategies"

/** What a run is made from. */
interface Input {
  readonly strategy: Strategy.Strategy
  readonly batches: ReadonlyArray<ReadonlyArray<Message.Message>>
}

const shipped = [...strategies.values()].map((one) => one.strategies)

const input: fc.Arbitrary<Input> = fc.record({
  strategy: fc.oneof(anyStrategy, pruningStrategy, fc.oneof(...shipped)),
  batches: batched(conversation),
})

/** One seed for all laws: they check the same runs. */
const [seed] = fc.sample(fc.noBias(fc.integer()), 1)
const runs = new Map<string, Promise<Run>>()

const run = ({ strategy, batches }: Input): Promise<Run> => {
  const key = JSON.stringify([strategy.name, batches])
  const known = runs.get(key) ?? runOf(strategy, batches)
  runs.set(key, known)
  return known
}

const splitting = Strategy.make({
  name: "splitting",
  when: Trigger.uncovered({ messages: 1 }),
  keep: Keep.currentTurn,
  summaryMode: SummaryMode.rolling,
  split: Split.tailAbove(30, { prefix: 10 }),
})

/** Folds nothing, and leaves nothing of any output that is not short. */
const masking = Strategy.make({
  name: "masking",
  when: Trigger.uncovered({ messages: 1 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.none,
  prune: [Prune.hardClear({ keep: Keep.lastMessages(0), above: 0 })],
})

const example = (
  strategy: Strategy.Strategy,
  messages: ReadonlyArray<Message.Message>,
  sizes: ReadonlyArray<number> = [],
): [Input] => [{ strategy, batches: inBatches(messages, sizes) }]

const { assistant, call, result, system, user } = Message
const long = (text: string) => assistant(text.repeat(10))
const calling = { id: "c1", name: "weather", arguments: "{}" }

/** Inputs that once broke a law, or nearly did; they are tried first. */
const examples: ReadonlyArray<[Input]> = [
  // The beginning of a turn that is too large is pinned: nothing of it is left for a turn prefix to say.
  example(splitting, [user("do", { pinned: true }), long("one "), long("two "), long("three ")]),
  // A turn is split twice, then it ends.
  example(splitting, [
    ...chat(2),
    user("do"),
    ...["one ", "two ", "six "].map(long),
    user("ok"),
    long("yes "),
  ]),
  // Pinned system messages in the middle are no part of the system prompt.
  example(RollingBuffer({ bufferSize: 1 }), [
    system("be kind"),
    user("q"),
    call([calling]),
    ...Array.from({ length: 5 }, () => system("note", { pinned: true })),
    result({ id: "c1", output: "x" }),
    assistant("so"),
  ]),
  // The newest message is the user's and carries what no user message should.
  example(Rounds({ fullContextTurns: 1 }), [
    ...chat(4),
    { role: "user", parts: [{ type: "tool-call", ...calling }, ...result({ id: "c1", output: "x" }).parts] },
    assistant("?"),
  ]),
  // A round is broken off by the user after the tool has answered, before the assistant has.
  example(Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }), [
    ...chat(2),
    user("do"),
    call([calling]),
    result({ id: "c1", output: "x" }),
    user("stop"),
    assistant("stopped"),
  ]),
  // An output ends with half a surrogate pair; another is as long as the note that takes its place.
  example(masking, [
    call([calling]),
    result({ id: "c1", output: `${"x".repeat(90)}\ud83d` }),
    call([calling]),
    result({ id: "c1", output: "x".repeat(41) }),
  ]),
  // There is too much to keep, and nothing to be folded.
  example({ ...splitting, name: "unfolding", summaryMode: SummaryMode.none }, [
    user("do"),
    ...["one ", "two ", "six "].map(long),
  ]),
]

/** Holds a law against many runs. */
const inEveryRun = (law: (run: Run) => void | Promise<void>, numRuns = often(25, 300)): Promise<void> =>
  fc.assert(
    fc.asyncProperty(input, async (input) => {
      await law(await run(input))
    }),
    { numRuns, examples: [...examples], ...(seed === undefined ? {} : { seed }) },
  )

/** The state before an event. */
const stateBefore = ({ events }: Run, seq: number) =>
  Session.fold(Session.empty(session), events.slice(0, seq - 1))

/** A message without the mark that a strategy may have put on it as it came in. */
const unpinned = ({ pinned: _pinned, ...message }: Message.Message) => message

const summariesIn = ({ events }: Run) =>
  events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event] : []))

describe("in every run", () => {
  it("L1, L3, L7, L12: the naive model finds nothing wrong with the events", () =>
    inEveryRun((run) => {
      expect(readSession(run.events).problems).toEqual([])
      expect(run.state.supersededCount).toBe(Math.max(summariesIn(run).length - 1, 0))
    }))

  it("L2, L5: every compaction ends at a boundary, and takes nothing of the tail but what a split allows", () =>
    inEveryRun((run) => {
      for (const { version, time, started } of compactions(run)) {
        const state = stateBefore(run, version)
        const messages = run.messages.slice(0, state.total)
        expect(compactionFindings(run.strategy, state, time, messages, started)).toEqual([])
      }
    }))

  it("L3: what is planned is what is covered, and each segment is of what it says", () =>
    inEveryRun((run) => {
      const begun = compactions(run).map(({ started }) => started)
      // The others only prune; they say where the coverage is, and leave it there.
      const plans = begun.filter(({ parts }) => parts.length > 0)
      expect(summariesIn(run).map(({ coveredTo }) => coveredTo)).toEqual(plans.map(({ to }) => to))
      expect(begun.filter(({ parts, from, to }) => parts.length === 0 && from !== to)).toEqual([])
      if (run.strategy.summaryMode === "none") expect(summariesIn(run)).toEqual([])
      for (const { state } of run.moments) {
        const segments = state.summary?.segments ?? []
        expect(segments.at(-1)?.to ?? 0).toBe(run.strategy.summaryMode === "drop" ? 0 : state.coveredTo)
        // The summarizer wrote what it was asked to cover; failures are noted behind it.
        const written = segments.map(({ text }) => text.split("\n\n**Tool failures:**\n")[0])
        expect(written).toEqual(segments.map(({ from, to }) => `[${from},${to})`))
      }
    }))

  it("L4, L6: every state is what the naive model reads in its events", () =>
    inEveryRun(({ moments, events }) => {
      for (const { state } of moments)
        expect(stateFinding(readSession(events.slice(0, state.version)), state)).toBeNull()
    }))

  it("L4, L5: every context shows each message once, in its place, and no orphan", () =>
    inEveryRun(({ moments }) => {
      for (const { state, context } of moments) expect(contextFinding(state, context)).toBeNull()
    }))

  it("L10: the log has every message whole; what was pruned is shorter, and says so", () =>
    inEveryRun(({ messages, events, moments }) => {
      const logged = readSession(events).messages.map(({ message }) => unpinned(message))
      expect(logged).toEqual(messages.map(unpinned))
      for (const { state } of moments) {
        const { pruned } = readSession(events.slice(0, state.version))
        for (const { index, message } of state.uncovered) {
          const cuts = pruned.filter((cut) => cut.index === index)
          const { usage: _usage, metadata: _metadata, ...original } = messages[index]!
          expect(unpinned(message)).toMatchObject({ ...unpinned(original), parts: message.parts })
          for (const { part } of cuts) {
            const [whole, left] = [original.parts[part], message.parts[part]]
            if (whole?.type !== "tool-result" || left?.type !== "tool-result") throw new Error("no result")
            expect(left.output.length).toBeLessThan(whole.output.length)
          }
          if (cuts.length > 0) expect(message.metadata?.["memfold"]).toMatchObject({ pruned: true })
        }
      }
    }))

  it("what a commit says the context takes is what it takes", () =>
    inEveryRun(({ events }) => {
      let state = Session.empty(session)
      for (const recorded of events) {
        state = Session.evolve(state, recorded)
        if (recorded.event._tag !== "SummaryCommitted") continue
        expect(Session.contextTokens(state)).toBe(recorded.event.tokensAfter)
      }
    }))

  const taken = (state: Session.SessionState) => Snapshot.take({ state, batchId: "b" })!

  it("L6: a snapshot at any point, with the rest folded onto it, is the fold of all", () =>
    inEveryRun(({ events, state: kept }) => {
      let state = Session.empty(session)
      for (const event of events) {
        const snapshot = taken(state)
        state = Session.evolve(Option.getOrThrow(Snapshot.stateIn(session, snapshot)).state, event)
      }
      const all = taken(Session.fold(Session.empty(session), events))
      expect(taken(state)).toEqual(all)
      expect(taken(kept)).toEqual(all)
    }))

  it("L9: settling ends, and settling again does nothing", () =>
    inEveryRun(async ({ strategy, moments, state, reopened }) => {
      for (const { outcomes, state } of moments) {
        const tags = outcomes.map(({ _tag }) => _tag)
        expect(tags.filter((tag) => tag !== "Committed" && tag !== "Pruned")).toEqual([])
        expect(tags.filter((tag) => tag === "Committed").length).toBeLessThanOrEqual(state.total)
        expect(tags.filter((tag) => tag === "Pruned").length).toBeLessThanOrEqual(strategy.prune?.length ?? 0)
        expect(state.running).toBeNull()
      }
      const [again, version] = await reopened((memory) =>
        Effect.all([
          memory.compact(session, { which: "due" }),
          Effect.map(memory.state(session), ({ version }) => version),
        ]),
      )
      expect(again).toEqual([])
      expect(version).toBe(state.version)
    }))

  it("L10: the context at a past version is the context that was rendered then", () =>
    inEveryRun(async ({ moments, reopened }) => {
      const then = await reopened((memory) =>
        Effect.forEach(moments, ({ state }) => memory.context(session, { atVersion: state.version })),
      )
      expect(then).toEqual(moments.map(({ context }) => context))
    }, 40))

  it("L13: between two compactions each context is a prefix of the next", () =>
    inEveryRun(({ strategy, moments, events }) => {
      expect(growthFinding(strategy, events, moments)).toBeNull()
    }))

  it("the stored log is well by every rule that can be seen in it", () =>
    inEveryRun(async ({ log }) => {
      expect(await Effect.runPromise(Verify.session(log, session))).toEqual([])
    }))
})
