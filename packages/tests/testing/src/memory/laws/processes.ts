/** At most one compaction runs in a session, across processes (L7). */
import type { EventLog } from "@memfold/core"
import { Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { conversation } from "../../arbitrary/conversation.js"
import { faultScript } from "../../arbitrary/fault.js"
import { batched, interleaving } from "../../arbitrary/interleaving.js"
import { faultyLog } from "../../fakes/faultyLog.js"
import { slow } from "../../fakes/summarizers.js"
import { canonical, type Law, makeLaw, same } from "../../law/Law.js"
import { contentsOf } from "../../oracle/context.js"
import { checkSession } from "../checkSession.js"
import { appendAll, listOf, type MemoryKit, session } from "../input.js"
import { inWorld } from "../world.js"

/** Two processes over one session: one compaction at a time, and no message lost or doubled. */
export const racesLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L7",
    name: "at most one compaction runs, across processes",
    explanation:
      "Two processes append to one session and compact it in the background, over logs that are slow and lose\n" +
      "answers, also for longer than a lease. One compaction runs at a time, and every message is there once.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      mine: batched(conversation),
      theirs: batched(conversation),
      faults: fc.tuple(faultScript, faultScript),
      /** How long a process is away from its log, now and then: some longer than its lease. */
      stalls: fc.array(
        fc.record({ time: fc.nat({ max: 30 }), millis: fc.constantFrom(1_000, 60_000, 3_600_000) }),
        {
          maxLength: 3,
        },
      ),
      passing: fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 10 }),
    }),
    describe: ({ strategy, mine, theirs, faults, stalls, passing }) =>
      `${strategy.name}\nfaults ${JSON.stringify(faults)}, stalls ${JSON.stringify(stalls)}, passing ${JSON.stringify(passing)}\n` +
      `one says\n${listOf(mine)}\nthe other says\n${listOf(theirs)}`,
    holds: ({ strategy, mine, theirs, faults: [ours, others], stalls, passing }) =>
      inWorld(options, async (world) => {
        const stalling = ours.map((fault, at) => {
          const stall = stalls.find((one) => one.time % ours.length === at)
          return stall === undefined ? fault : { ...fault, there: stall.millis }
        })
        const settings = {
          strategy,
          compaction: { mode: "background", lease: "1 minute", summarizerTimeout: "20 seconds" },
        } as const
        const [one, other] = [
          await world.open({
            ...settings,
            summarizer: slow("5 seconds"),
            wrapLog: (log) => faultyLog(log, stalling),
          }),
          await world.open({
            ...settings,
            summarizer: slow("3 seconds"),
            wrapLog: (log) => faultyLog(log, others),
          }),
        ]
        const { time } = world
        await world.watch(
          Effect.gen(function* () {
            const work = yield* Effect.fork(
              Effect.all([appendAll(one, mine, "m"), appendAll(other, theirs, "t")], {
                concurrency: "unbounded",
                discard: true,
              }),
            )
            for (const millis of passing) yield* time.advance(millis)
            yield* time.through(Fiber.join(work))
            // Whatever runs in the background comes to its end, or loses its lease.
            for (let minute = 0; minute < 20; minute++) yield* time.advance(600_000)
          }),
        )
        const reader = await world.open({ strategy, compaction: { mode: "manual" } })
        const { read } = await checkSession(world, reader, session)
        const found = read.messages.map(({ message }) => canonical(contentsOf([message])))
        const expected = [...mine, ...theirs].flat().map((message) => canonical(contentsOf([message])))
        same(found.toSorted(), expected.toSorted(), () => "the messages in the log")
        await world.run(reader.compact(session, { which: "due" }))
        await checkSession(world, reader, session)
      }),
  })

/** A log that delays the commits of compactions, each by the next of these times. */
const holdingCommits = (log: EventLog.Service, stalls: ReadonlyArray<number>): EventLog.Service => {
  const left = [...stalls]
  return {
    ...log,
    append: (session, records, options) => {
      const commits = records.some(({ type }) => type === "SummaryCommitted" || type === "ToolOutputsPruned")
      const done = log.append(session, records, options)
      return commits ? Effect.suspend(() => Effect.delay(done, left.shift() ?? 0)) : done
    },
  }
}

/** The delays of a process's commits in milliseconds, in order; some are longer than its lease. */
const commitStalls = fc.array(fc.constantFrom(0, 1_000, 60_000, 600_000, 3_600_000), { maxLength: 6 })

/** A process that lost its lease commits nothing. */
export const leaseLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L7",
    name: "a compaction that lost its lease commits nothing",
    explanation:
      "Two processes take turns at one session. Sometimes one of them stalls between its summary and the commit, for\n" +
      "longer than its lease, and the other one takes over. In the log, each commit belongs to the compaction that\n" +
      "runs at that version; a commit that comes too late is rejected.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      batches: batched(conversation),
      stalls: fc.tuple(commitStalls, commitStalls),
      passing: fc.array(fc.integer({ min: 1, max: 3_600_000 }), { maxLength: 10 }),
      /** Whose turn it is, over and over. */
      turns: interleaving([4, 4]),
    }),
    describe: ({ strategy, batches, stalls, passing, turns }) =>
      `${strategy.name}\nthe commits of each are delayed by ${JSON.stringify(stalls)} ms, the time between the ` +
      `batches is ${JSON.stringify(passing)} ms, the turns are ${turns.join("")}\n${listOf(batches)}`,
    holds: ({ strategy, batches, stalls, passing, turns }) =>
      inWorld(options, async (world) => {
        const processes = await Promise.all(
          stalls.map((each) =>
            world.open({
              strategy,
              compaction: { mode: "manual", lease: "1 minute", summarizerTimeout: "20 seconds" },
              wrapLog: (log) => holdingCommits(log, each),
            }),
          ),
        )
        const { time } = world
        const settling: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
        for (const [position, batch] of batches.entries()) {
          const memory = processes[turns[position % turns.length] ?? 0]!
          await world.watch(
            Effect.gen(function* () {
              settling.push(
                yield* Effect.forkDaemon(
                  Effect.zipRight(memory.append(session, batch), memory.compact(session, { which: "due" })),
                ),
              )
              yield* time.advance(passing[position] ?? 600_000)
            }),
          )
        }
        await world.run(Effect.forEach(settling, Fiber.join, { discard: true }))
        await checkSession(world, processes[0]!, session)
      }),
  })
