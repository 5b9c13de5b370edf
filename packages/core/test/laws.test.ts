/**
 * The laws, over whole runs: random conversations, one message at a time or in batches, under strategies nobody
 * wrote and under the four that are shipped.
 */
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "./depth.js"
import { RollingBuffer } from "../../strategies/rolling-buffer/src/index.js"
import { Rounds } from "../../strategies/rounds/src/index.js"
import { SlidingWindow } from "../../strategies/sliding-window/src/index.js"
import { SplitTurn } from "../../strategies/split-turn/src/index.js"
import {
  Fold,
  Keep,
  Message,
  orphans,
  Prune,
  Session,
  Split,
  Strategy,
  Trigger,
  Verify,
} from "../src/index.js"
import * as View from "../src/policy/View.js"
import * as Snapshot from "../src/session/Snapshot.js"
import {
  chat,
  conversation,
  inBatches,
  pruningStrategy,
  strategy as anyStrategy,
} from "../../testing/src/arbitrary/index.js"
import * as oracles from "../../testing/src/oracle/groups.js"
import { pinnedBefore } from "../../testing/src/oracle/shown.js"
import { compactions, type Run, runOf, session } from "../../testing/src/memory/run.js"

/** What a run is made from. `label` names the strategy in a counterexample. */
interface Input {
  readonly label: string
  readonly strategy: Strategy.Strategy
  readonly batches: ReadonlyArray<ReadonlyArray<Message.Message>>
}

const labelled = <Settings>(
  define: Strategy.Definition<Settings>,
  settings: fc.Arbitrary<Partial<Settings>>,
): fc.Arbitrary<Omit<Input, "batches">> =>
  settings.map((given) => ({
    label: `${define.strategyName} ${JSON.stringify(given)}`,
    strategy: define(given),
  }))

const upTo = (max: number) => fc.integer({ min: 1, max })

/** The shipped strategies, with settings small enough for short conversations. */
const shipped = fc.oneof(
  labelled(
    SlidingWindow,
    fc.record({
      tailKeepSize: fc.nat({ max: 6 }),
      compressionWindowSize: upTo(5),
      compressionHardLimit: upTo(8),
      contextSize: fc.integer({ min: 7, max: 30 }),
    }),
  ),
  labelled(Rounds, fc.record({ fullContextTurns: upTo(3), cachedContextTurns: upTo(3) })),
  labelled(
    SplitTurn,
    fc.record({
      contextLimit: fc.integer({ min: 20, max: 400 }),
      adaptiveSplit: fc.boolean(),
      pruneToolOutputs: fc.constantFrom("off", "soft-trim", "hard-clear"),
      toolFailures: fc.nat({ max: 2 }),
    }),
  ),
  labelled(RollingBuffer, fc.record({ bufferSize: upTo(5) })),
)

const input: fc.Arbitrary<Input> = fc
  .tuple(
    fc.oneof(
      anyStrategy.map((strategy) => ({ label: strategy.name, strategy })),
      pruningStrategy.map((strategy) => ({ label: strategy.name, strategy })),
      shipped,
    ),
    conversation,
    fc.array(upTo(8), { maxLength: 3 }),
  )
  .map(([strategy, messages, sizes]) => ({ ...strategy, batches: inBatches(messages, sizes) }))

/** One seed for all laws, so that they can look at the same runs. */
const [seed] = fc.sample(fc.noBias(fc.integer()), 1)
const runs = new Map<string, Promise<Run>>()

const run = ({ label, strategy, batches }: Input): Promise<Run> => {
  const key = JSON.stringify([label, batches])
  const known = runs.get(key) ?? runOf(strategy, batches)
  runs.set(key, known)
  return known
}

const splitting = Strategy.make({
  name: "splitting",
  when: Trigger.raw({ messages: 1 }),
  keep: Keep.currentRound,
  fold: Fold.rolling,
  split: Split.tailAbove(30, { prefix: 10 }),
})

/** Folds nothing, and leaves nothing of any output that is not short. */
const masking = Strategy.make({
  name: "masking",
  when: Trigger.raw({ messages: 1 }),
  keep: Keep.lastMessages(2),
  fold: Fold.none,
  prune: [Prune.hardClear({ keep: Keep.lastMessages(0), above: 0 })],
})

const example = (
  strategy: Strategy.Strategy,
  messages: ReadonlyArray<Message.Message>,
  sizes: ReadonlyArray<number> = [],
): [Input] => [{ label: strategy.name, strategy, batches: inBatches(messages, sizes) }]

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
  example({ ...splitting, name: "unfolding", fold: Fold.none }, [
    user("do"),
    ...["one ", "two ", "six "].map(long),
  ]),
]

/** Holds a law against many runs. */
const inEveryRun = (law: (run: Run) => void | Promise<void>, numRuns = often(60, 300)): Promise<void> =>
  fc.assert(
    fc.asyncProperty(input, async (input) => {
      await law(await run(input))
    }),
    { numRuns, examples: [...examples], ...(seed === undefined ? {} : { seed }) },
  )

/** The state before an event. */
const stateBefore = ({ events }: Run, seq: number) =>
  Session.fold(Session.empty(session), events.slice(0, seq - 1))

const pairwise = <A>(list: ReadonlyArray<A>): ReadonlyArray<readonly [A, A]> =>
  list.slice(1).map((next, position) => [list[position]!, next])

/** A message without the mark that a strategy may have put on it as it came in. */
const unpinned = ({ pinned: _pinned, ...message }: Message.Message) => message

/** All that is said in messages, but for results: those that came late are worded otherwise. */
const words = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-call"
        ? [part.arguments]
        : "text" in part && !part.text.startsWith("(A tool result that no open call asked for)")
          ? [part.text]
          : [],
    ),
  )

describe("in every run", () => {
  it("L1: after the first commit exactly one summary is active", () =>
    inEveryRun((run) => {
      const found: Array<string> = []
      const active = new Set<string>()
      let commits = 0
      for (const { event } of run.events) {
        if (event._tag === "SummaryCommitted") {
          active.add(event.summary)
          commits++
        }
        if (event._tag !== "SummarySuperseded") continue
        if (!active.has(event.by)) found.push(`${event.by} supersedes but is not active`)
        if (!active.delete(event.summary)) found.push(`${event.summary} is superseded but was not active`)
      }
      expect(found).toEqual([])
      expect([...active]).toEqual(commits === 0 ? [] : [run.state.summary?.id])
      expect(run.state.superseded).toBe(Math.max(commits - 1, 0))
    }))

  it("L2: the tail is never compacted; where it is split, only its beginning is", () =>
    inEveryRun((run) => {
      for (const { seq, at, started } of compactions(run)) {
        const state = stateBefore(run, seq)
        const view = View.make(state, at)
        const messages = run.messages.slice(0, state.total)
        const asked = Math.min(Math.max(run.strategy.keep.from(view), state.through), state.total)
        const tailFrom = Math.max(oracles.boundaryBefore(messages, asked), state.through)
        const split = run.strategy.split ?? { above: Number.POSITIVE_INFINITY, prefix: () => 0 }
        const { above } = split
        const firstGroup = oracles.boundaries(messages).find((boundary) => boundary > tailFrom)
        const tail = { messages: state.total - tailFrom, tokens: view.tokens(tailFrom, state.total) }
        const prefix = split.prefix(tail)
        const staying = tail.tokens + pinnedBefore(state, tailFrom)
        const isSplit = staying > above && started.to > tailFrom
        expect({
          tailFrom: started.tailFrom,
          leavesTheTail: started.to <= tailFrom,
          endsWithAPrefix: started.parts.at(-1)?.kind === "turn-prefix",
          ofAtMost: !isSplit || started.to === firstGroup || view.tokens(tailFrom, started.to) <= prefix,
          leavesTheNewestGroup: started.to <= oracles.boundaryBefore(messages, state.total - 1) || !isSplit,
        }).toEqual({
          tailFrom,
          leavesTheTail: !isSplit,
          endsWithAPrefix: isSplit,
          ofAtMost: true,
          leavesTheNewestGroup: true,
        })
      }
    }))

  it("L3: coverage starts at 0, has no holes, and never moves back", () =>
    inEveryRun(({ events, moments, strategy }) => {
      const begun = events.flatMap(({ event }) => (event._tag === "CompactionStarted" ? [event] : []))
      // The others only prune; they say where the coverage is, and leave it there.
      const plans = begun.filter(({ parts }) => parts.length > 0)
      const commits = events.flatMap(({ event }) => (event._tag === "SummaryCommitted" ? [event] : []))
      const ends = commits.map(({ through }) => through)
      expect(plans.map(({ from }) => from)).toEqual([0, ...ends].slice(0, plans.length))
      expect(ends).toEqual(plans.map(({ to }) => to))
      expect(pairwise(ends).filter(([one, next]) => next <= one)).toEqual([])
      expect(begun.filter(({ parts, from, to }) => parts.length === 0 && from !== to)).toEqual([])
      expect(begun.map(({ from }) => from)).toEqual(begun.map(({ from }) => from).toSorted((a, b) => a - b))
      if (strategy.fold === "none") expect(commits).toEqual([])
      for (const { state } of moments) {
        const segments = state.summary?.segments ?? []
        const covered = segments.map(({ to }) => to)
        expect(state.summary?.through ?? 0).toBe(state.through)
        expect(covered.at(-1) ?? 0).toBe(strategy.fold === "drop" ? 0 : state.through)
        expect(segments.map(({ from }) => from)).toEqual([0, ...covered].slice(0, segments.length))
        // The summarizer wrote what it was asked to cover; failures are noted behind it.
        const written = segments.map(({ text }) => text.split("\n\n**Tool failures:**\n")[0])
        expect(written).toEqual(segments.map(({ from, to }) => `[${from},${to})`))
      }
    }))

  it("L4: every message is covered, raw, in the gap, or open: exactly one of them", () =>
    inEveryRun(({ moments }) => {
      for (const { state, context } of moments) {
        const places = Array.from({ length: state.total }, (_, index) =>
          context.layout.flatMap(({ section, from, to }) =>
            index < from || index >= to || (section === "pinned" && index < state.through) ? [] : [section],
          ),
        )
        expect(places.map((found) => found.length)).toEqual(places.map(() => 1))
        expect(places.map(([place]) => place === "summary")).toEqual(
          places.map((_, index) => index < state.through),
        )
      }
    }))

  it("L4: what the layout calls raw ends the context, word for word", () =>
    inEveryRun(({ moments }) => {
      for (const { state, context } of moments) {
        const isRaw = (index: number) =>
          context.layout.some(
            ({ section, from, to }) => ["raw", "current"].includes(section) && index >= from && index < to,
          )
        const raw = state.raw.slice().flatMap(({ index, message }) => (isRaw(index) ? [message] : []))
        const said = words(raw)
        const shown = words(context.messages)
        // Results come behind their calls, so that within a group the order may be another.
        expect(shown.slice(shown.length - said.length).toSorted()).toEqual(said.toSorted())
      }
    }))

  it("L4: what is cut out of a raw output is its middle, and the log has it whole (L10)", () =>
    inEveryRun(({ moments, messages, events }) => {
      const logged = events.flatMap(({ event }) =>
        event._tag === "MessageAppended" ? [unpinned(event.message)] : [],
      )
      expect(logged).toEqual(messages.map(unpinned))
      for (const { state } of moments.filter(({ settled }) => settled)) {
        const cuts = events
          .filter(({ seq }) => seq <= state.version)
          .flatMap(({ event }) => (event._tag === "ToolOutputsPruned" ? event.outputs : []))
        for (const { index, message } of [...state.pinned, ...state.raw]) {
          const original = messages[index]!
          const { usage: _usage, ...rest } = original
          expect(unpinned({ ...message, parts: [], metadata: {} })).toMatchObject(
            unpinned({ ...rest, parts: [], metadata: {} }),
          )
          for (const [position, part] of original.parts.entries()) {
            const shown = message.parts[position]!
            const mine = cuts.filter((cut) => cut.index === index && cut.part === position)
            if (mine.length === 0 || part.type !== "tool-result" || shown.type !== "tool-result") {
              expect(shown).toEqual(part)
              continue
            }
            const head = Math.min(...mine.map((cut) => cut.head))
            const tail = Math.min(...mine.map((cut) => cut.tail))
            expect({ ...shown, output: "" }).toEqual({ ...part, output: "" })
            expect(shown.output.length).toBeLessThan(part.output.length)
            expect(shown.output.slice(0, head)).toBe(part.output.slice(0, head))
            expect(shown.output.slice(shown.output.length - tail)).toBe(
              part.output.slice(part.output.length - tail),
            )
            expect(message.metadata?.["memfold"]).toMatchObject({ pruned: true })
          }
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

  it("L5: no boundary cuts a group, and no context has an orphan", () =>
    inEveryRun((run) => {
      for (const { seq, started } of compactions(run)) {
        const { total } = stateBefore(run, seq)
        expect(oracles.boundaries(run.messages.slice(0, total))).toContain(started.to)
      }
      for (const { context } of run.moments) expect(orphans(context.messages)).toEqual([])
    }))

  it("L6: a snapshot at any point, with the rest folded onto it, is the fold of all", () =>
    inEveryRun(({ events, state: kept }) => {
      let state = Session.empty(session)
      for (const event of events) {
        const snapshot = Snapshot.take(state)
        state = Session.evolve(Option.getOrThrow(Snapshot.restore(session, snapshot)), event)
      }
      const all = Snapshot.take(Session.fold(Session.empty(session), events))
      expect(Snapshot.take(state)).toEqual(all)
      expect(Snapshot.take(kept)).toEqual(all)
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
        Effect.all([memory.settle(session), Effect.map(memory.state(session), ({ version }) => version)]),
      )
      expect(again).toEqual([])
      expect(version).toBe(state.version)
    }))

  it("L10: the context at a past version is the one that was rendered then", () =>
    inEveryRun(async ({ moments, reopened }) => {
      const then = await reopened((memory) =>
        Effect.forEach(moments, ({ state }) => memory.context(session, { at: state.version })),
      )
      expect(then).toEqual(moments.map(({ context }) => context))
    }, 40))

  it("L13: between two compactions each context is a prefix of the next", () =>
    inEveryRun(({ strategy, moments, events }) => {
      const changes = events.flatMap(({ seq, event }) =>
        event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned" ? [seq] : [],
      )
      const { maxMessages = Number.POSITIVE_INFINITY } = strategy.context
      for (const [now, next] of pairwise(moments)) {
        const compacted = changes.some((seq) => seq > now.state.version && seq <= next.state.version)
        const capped = next.state.raw.length > maxMessages
        const { messages } = now.context
        const prefix = compacted || capped ? messages : next.context.messages.slice(0, messages.length)
        expect(prefix).toEqual(messages)
      }
    }))

  it("the stored log is well by every rule that can be seen in it", () =>
    inEveryRun(async ({ log }) => {
      expect(await Effect.runPromise(Verify.session(log, session))).toEqual([])
    }))
})
