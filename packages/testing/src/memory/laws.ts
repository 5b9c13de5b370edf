/** The laws of a whole memory: append, decide, summarize, commit and render, over a log. */
import {
  type EventCodec,
  type EventLog,
  type Memory,
  type Message,
  Policy,
  type Strategy,
  Verify,
} from "@memfold/core"
import { Chunk, Effect, Fiber, Stream } from "effect"
import * as fc from "fast-check"
import { conversation } from "../arbitrary/conversation.js"
import { faultScript } from "../arbitrary/fault.js"
import { batched, interleaving } from "../arbitrary/interleaving.js"
import { strategy as anyStrategy } from "../arbitrary/strategy.js"
import { faultyLog } from "../fakes/faultyLog.js"
import { echo, slow, summarizers } from "../fakes/summarizers.js"
import { canonical, type Law, makeLaw, must, same } from "../law/Law.js"
import { checkContext, saidIn } from "../oracle/shown.js"
import { picture, said } from "../strategy/picture.js"
import { rehearse } from "../strategy/rehearse.js"
import { memoryCommands, runCommands } from "./commands.js"
import { inWorld, type MemoryPropertiesOptions, type World } from "./world.js"

const session = "s"

type Batches = ReadonlyArray<ReadonlyArray<Message.Message>>

const listOf = (batches: Batches) =>
  batches
    .map((batch) => batch.map((message) => `  ${message.role} ${said(message)}`).join("\n"))
    .join("\n  --\n")

/** The messages in the log itself. */
const logged = async ({ run }: World, memory: Memory.Service): Promise<ReadonlyArray<Message.Message>> => {
  const events = await run(Stream.runCollect(memory.events(session)))
  return Chunk.toReadonlyArray(events).flatMap(({ event }) =>
    event._tag === "MessageAppended" ? [event.message] : [],
  )
}

/** What is in a log has to be well by every rule that can be seen in it. */
const verify = async ({ run, log }: World): Promise<void> => {
  const [finding] = await run(Verify.session(log, session))
  must(finding === undefined, () => `${finding?.rule} at event ${finding?.seq}: ${finding?.detail}`)
}

/** Everything the laws of a memory are made with. */
interface MemoryKit {
  readonly options: MemoryPropertiesOptions
  readonly strategies: fc.Arbitrary<Strategy.Strategy>
  readonly numRuns: number
}

const kitOf = (options: MemoryPropertiesOptions): MemoryKit => {
  const { strategies = anyStrategy, numRuns = 50 } = options
  return {
    options,
    numRuns,
    strategies: "generate" in strategies ? strategies : fc.constantFrom(...strategies),
  }
}

/** One who appends batches, each until it is acknowledged. */
const appending = (memory: Memory.Service, batches: Batches, who: string) =>
  Effect.forEach(
    batches,
    (batch, position) =>
      memory
        .append(session, batch, { commit: `${who}${position}` })
        .pipe(Effect.retry({ while: (error) => error._tag === "LogError", times: 100 })),
    { discard: true },
  )

/** That it remembers, whatever is done. */
const modelLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L4",
    name: "whatever is done, it knows what was said",
    explanation:
      "Appends, compactions, restarts, reverts, redactions and looks into the past, in any order, against a memory\n" +
      "that keeps everything: each message is covered or raw, none is lost or doubled, and the past stays what it was.",
    numRuns,
    replay: "seed",
    arbitrary: fc.record({
      strategy: strategies,
      compaction: fc.constantFrom("manual" as const, "inline" as const),
      summarizer: fc.constantFrom(...summarizers.keys()),
      commands: memoryCommands(),
    }),
    describe: ({ strategy, compaction, summarizer, commands }) =>
      [
        `${strategy.name}; compaction ${compaction}, summarizer ${summarizer}`,
        ...[...commands].map(String),
      ].join("\n"),
    holds: ({ strategy, compaction, summarizer, commands }) =>
      inWorld(options, async (world) => {
        const reopen = () => world.open({ strategy, compaction, summarizer: summarizers.get(summarizer)!() })
        await runCommands(commands, { world, reopen, memory: await reopen() })
      }),
  })

/** That nothing a summarizer does can hurt. */
const summarizerLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L8",
    name: "no summarizer loses a message or fails an append",
    explanation:
      "One that fails, dies, is slow, is cut off or says too much leaves the messages raw; the append is done, and\n" +
      "the context has everything.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      summarizer: fc.constantFrom(...summarizers.keys()),
      batches: batched(conversation),
    }),
    describe: ({ strategy, summarizer, batches }) =>
      `${strategy.name}; ${summarizer}\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, summarizer, batches }) =>
      inWorld(options, async (world) => {
        const memory = await world.open({
          strategy,
          compaction: "inline",
          summarizer: summarizers.get(summarizer)!(),
        })
        let total = 0
        for (const batch of batches) {
          const { from, to } = await world.run(memory.append(session, batch))
          same([from, to], [total, total + batch.length], () => `the answer to an append`)
          total = to
          const [state, context] = await world.run(
            Effect.all([memory.state(session), memory.context(session)]),
          )
          same(state.total, total, () => "the number of messages")
          checkContext(state, context)
        }
        same(
          (await logged(world, memory)).map((message) => saidIn([message])),
          batches.flat().map((message) => saidIn([message])),
          () => "the messages in the log",
        )
        await verify(world)
      }),
  })

/** That a lost answer is no second append. */
const lostAnswersLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L12",
    name: "an append that is tried again is applied once",
    explanation:
      "Requests and answers between the memory and its log get lost or come late. Whoever appends with a commit id\n" +
      "until it is acknowledged finds each message once, in order.",
    numRuns,
    arbitrary: fc.record({ strategy: strategies, faults: faultScript, batches: batched(conversation) }),
    describe: ({ strategy, faults, batches }) =>
      `${strategy.name}\nfaults ${JSON.stringify(faults)}\n${listOf(batches)}`,
    holds: ({ strategy, faults, batches }) =>
      inWorld(options, async (world) => {
        const through = (log: EventLog.Service) => faultyLog(log, faults)
        const memory = await world.open({ strategy, compaction: "inline", through })
        await world.run(appending(memory, batches, "w"))
        const reader = await world.open({ strategy, compaction: "manual" })
        same(
          (await logged(world, reader)).map((message) => saidIn([message])),
          batches.flat().map((message) => saidIn([message])),
          () => "the messages in the log",
        )
        await verify(world)
      }),
  })

/** That several processes do not get into each other's way. */
const racesLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L7",
    name: "at most one compaction runs, whoever else is at work",
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
        fc.record({ at: fc.nat({ max: 30 }), millis: fc.constantFrom(1_000, 60_000, 3_600_000) }),
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
          const stall = stalls.find((one) => one.at % ours.length === at)
          return stall === undefined ? fault : { ...fault, there: stall.millis }
        })
        const settings = {
          strategy,
          compaction: "background",
          lease: "1 minute",
          summarizerTimeout: "20 seconds",
        } as const
        const [one, other] = [
          await world.open({
            ...settings,
            summarizer: slow("5 seconds"),
            through: (log) => faultyLog(log, stalling),
          }),
          await world.open({
            ...settings,
            summarizer: slow("3 seconds"),
            through: (log) => faultyLog(log, others),
          }),
        ]
        const { time } = world
        await world.watch(
          Effect.gen(function* () {
            const work = yield* Effect.fork(
              Effect.all([appending(one, mine, "m"), appending(other, theirs, "t")], {
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
        const reader = await world.open({ strategy, compaction: "manual" })
        const found = (await logged(world, reader)).map((message) => canonical(saidIn([message])))
        const expected = [...mine, ...theirs].flat().map((message) => canonical(saidIn([message])))
        same(found.toSorted(), expected.toSorted(), () => "the messages in the log")
        checkCommits(Chunk.toReadonlyArray(await world.run(Stream.runCollect(reader.events(session)))))
        await verify(world)
        await world.run(reader.settle(session))
        const [state, context] = await world.run(Effect.all([reader.state(session), reader.context(session)]))
        checkContext(state, context)
        await verify(world)
      }),
  })

const ends: ReadonlySet<string> = new Set([
  "SummaryCommitted",
  "CompactionFailed",
  "CompactionReleased",
  "SessionCleared",
])

/** In the log itself: whatever a compaction wrote, it wrote while it was the one that ran. */
const checkCommits = (events: ReadonlyArray<EventCodec.Recorded>): void => {
  let running: string | null = null
  for (const { seq, event } of events) {
    if (event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned") {
      must(
        event.compaction === running,
        () =>
          `event ${seq} (${event._tag}) is of compaction ${event.compaction}, and ` +
          (running === null ? "none runs there" : `${running} runs there`),
      )
    }
    if (event._tag === "CompactionStarted") running = event.compaction
    if (ends.has(event._tag)) running = null
  }
}

/** A log in front of which the commits of compactions are held up: each by the next of these times. */
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

/** How long the commits of a process are held up, one after another; some longer than its lease. */
const commitStalls = fc.array(fc.constantFrom(0, 1_000, 60_000, 600_000, 3_600_000), { maxLength: 6 })

/** That a lease is one. */
const leaseLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L7",
    name: "one that has lost its lease commits nothing",
    explanation:
      "Two processes take turns at one session. Now and then one of them stands still between its summary and the\n" +
      "commit, for longer than its lease, and the other one takes over. In the log, each commit belongs to the\n" +
      "compaction that runs there: what comes too late is thrown away.",
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
      `${strategy.name}\nthe commits of each are held up for ${JSON.stringify(stalls)} ms, the time between the ` +
      `batches is ${JSON.stringify(passing)} ms, the turns are ${turns.join("")}\n${listOf(batches)}`,
    holds: ({ strategy, batches, stalls, passing, turns }) =>
      inWorld(options, async (world) => {
        const processes = await Promise.all(
          stalls.map((each) =>
            world.open({
              strategy,
              compaction: "manual",
              lease: "1 minute",
              summarizerTimeout: "20 seconds",
              through: (log) => holdingCommits(log, each),
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
                  Effect.zipRight(memory.append(session, batch), memory.settle(session)),
                ),
              )
              yield* time.advance(passing[position] ?? 600_000)
            }),
          )
        }
        await world.run(Effect.forEach(settling, Fiber.join, { discard: true }))
        const events = await world.run(Stream.runCollect(processes[0]!.events(session)))
        checkCommits(Chunk.toReadonlyArray(events))
        await verify(world)
      }),
  })

/** That nothing due is forgotten. */
const pendingLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L11",
    name: "what came due while a compaction ran is looked at when it ends",
    explanation:
      "Messages come while the summarizer is at work, and no more come afterwards. When the time has passed that all\n" +
      "compactions take, nothing is due any more, without anybody asking.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      batches: batched(conversation),
      passing: fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 20 }),
    }),
    describe: ({ strategy, batches, passing }) =>
      `${strategy.name}\ntime between the batches ${JSON.stringify(passing)}\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, batches, passing }) =>
      inWorld(options, async (world) => {
        const memory = await world.open({
          strategy,
          compaction: "background",
          summarizer: slow("10 seconds"),
        })
        const { time } = world
        // The time of a message is the time it comes at: a policy that waits for a time is no matter of this law.
        const timeless = batches.map((batch) => batch.map(({ at: _at, ...message }) => message))
        for (const [position, batch] of timeless.entries()) {
          await world.run(memory.append(session, batch))
          await world.watch(time.advance(passing[position] ?? 0))
        }
        const total = timeless.flat().length
        await world.watch(
          Effect.gen(function* () {
            for (let step = 0; step <= total; step++) yield* time.advance(11_000)
          }),
        )
        const state = await world.run(memory.state(session))
        // At the time of the last look: what has come due since, by the clock alone, is nobody's to find.
        const now = Math.max(state.compactedAt ?? 0, state.lastMessageAt ?? 0)
        const decision = Policy.decide(strategy, state, { now })
        must(decision._tag === "Idle" && decision.why !== "running", () =>
          decision._tag === "Due"
            ? `[${decision.plan.from},${decision.plan.to}) is due (${decision.plan.reason}), and nobody looks`
            : "a compaction is still running",
        )
        await verify(world)
      }),
  })

/** That what is forgotten is gone. */
const redactionLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L15",
    name: "what is redacted is nowhere any more",
    explanation:
      "After a redaction the words are in no record of the log, in no snapshot, and in no context, whatever had been\n" +
      "made of them before.",
    numRuns,
    arbitrary: fc.record({ strategy: strategies, batches: batched(conversation), which: fc.nat() }),
    describe: ({ strategy, batches, which }) =>
      `${strategy.name}\nmessage ${which % Math.max(batches.flat().length, 1)} is redacted\n${picture(rehearse(strategy, batches))}`,
    holds: ({ strategy, batches, which }) =>
      inWorld(options, async (world) => {
        const secret = "q7-secret-7q"
        const index = which % Math.max(batches.flat().length, 1)
        let next = 0
        // A summarizer that repeats what it reads, secrets and all.
        const repeating = {
          ...echo(),
          summarize: (request: Parameters<ReturnType<typeof echo>["summarize"]>[0]) =>
            Effect.map(echo().summarize(request), ({ text }) => ({
              text: canonical([request.previous, request.messages]).includes(secret)
                ? `${text} ${secret}`
                : text,
            })),
        }
        const memory = await world.open({ strategy, compaction: "inline", summarizer: repeating })
        for (const batch of batches) {
          const marked = batch.map((message) =>
            next++ === index
              ? { ...message, parts: [...message.parts, { type: "text" as const, text: secret }] }
              : message,
          )
          await world.run(memory.append(session, marked))
        }
        if (next === 0) return
        await world.run(memory.redact(session, index))
        await world.run(memory.settle(session))
        const records = Chunk.toReadonlyArray(await world.run(Stream.runCollect(world.log.read(session))))
        const having = records.find((record) => canonical(record).includes(secret))
        must(having === undefined, () => `event ${having?.seq} (${having?.type}) still has it`)
        const snapshot = await world.run(world.log.loadSnapshot(session))
        must(!canonical(snapshot).includes(secret), () => "the snapshot still has it")
        const context = await world.run(memory.context(session))
        must(!canonical(context).includes(secret), () => "the context still has it")
        await verify(world)
      }),
  })

/** All of them. */
export const memoryLawsOf = (options: MemoryPropertiesOptions): ReadonlyArray<Law> => {
  const kit = kitOf(options)
  return [modelLaw, summarizerLaw, lostAnswersLaw, racesLaw, leaseLaw, pendingLaw, redactionLaw].map((law) =>
    law(kit),
  )
}
