/**
 * Recall with the full-text index in the SQLite file, against the index in the process: the first search after a start, the
 * search after an append, and the append itself.
 */
import { EventLog, FullTextIndex, Memory, Message, Recall } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { fillSession } from "./large.js"
import { claim, median, milliseconds, told, within } from "./measure.js"
import { sealedSearches } from "./sealed.js"

/** Numbers from 0 to 1 that are the same in every run. */
const randomFrom = (seed: number) => () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return seed / 0x8000_0000
}

/** A word of no language; a small number is a word that is said often. */
const wordOf = (rank: number): string => {
  let word = ""
  for (let rest = rank + 7; rest > 0; rest = Math.floor(rest / 14))
    word += `${"bcdfghklmnprst"[rest % 14]}${"aeiou"[rest % 5]}`
  return word
}

/** Messages of 20 to 60 words out of 20,000, few of which are most of what is said, in English: with small words between. */
const messagesOf = (seed: number): (() => Message.Message) => {
  const random = randomFrom(seed)
  let count = 0
  return () => {
    const words = Array.from({ length: 20 + Math.floor(random() * 40) }, () =>
      wordOf(Math.floor(20_000 * random() ** 3)),
    )
    const text = words.map((word, at) => (at % 5 === 0 ? `the ${word}` : word)).join(" ")
    return count++ % 2 === 0 ? Message.user(text) : Message.assistant(text)
  }
}

/** The most frequent of them is in one of 50 messages. */
const query = [50, 300, 1_500, 6_000, 12_000, 18_000].map(wordOf).join(" ")

type IndexPlace = "store" | "process"

/** A memory over a file, and how to close it. */
const opened = async (
  filename: string,
  fullTextIndex: IndexPlace,
  synchronous: "full" | "normal" = "full",
): Promise<{ readonly memory: Memory.Service; readonly close: () => Promise<void> }> => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* SqliteEventLog.make({ filename, synchronous })
      return yield* Memory.make({
        strategy: SlidingWindow(),
        compaction: { mode: "off" },
      }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(
          FullTextIndex.FullTextIndex,
          fullTextIndex === "process" ? Recall.inProcess() : null,
        ),
      )
    }).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** How long `memfold recall` waits before it searches again, in milliseconds. */
const pauseBetween = 300

interface FirstSearch {
  /** Milliseconds until the first answer. */
  readonly first: number
  /** Milliseconds until the first answer about all messages. */
  readonly whole: number
}

/** Searches until nothing is left out, with the pauses of `memfold recall`. */
const untilWhole = async (search: () => Promise<number | undefined>): Promise<FirstSearch> => {
  const left: Array<number | undefined> = []
  const again = () => milliseconds(async () => left.push(await search()))
  const first = await again()
  let whole = first
  while (left.at(-1) !== undefined) {
    await setTimeout(pauseBetween)
    whole += pauseBetween + (await again())
  }
  return { first, whole }
}

/** The first searches after a start: a session that was imported is indexed meanwhile. */
const firstSearch = async (filename: string, kept: IndexPlace): Promise<FirstSearch> => {
  const { memory, close } = await opened(filename, kept)
  const times = await untilWhole(async () => (await Effect.runPromise(memory.recall("s", query))).unsearched)
  await close()
  return times
}

const messages = 100_000

/** How long a search may hold the event loop, in milliseconds. */
const longestHold = 50

/** Processor time so far, in milliseconds. */
const processorTime = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Where Linux tells the processor time of the thread that runs JavaScript, in nanoseconds. */
const ofThread = `/proc/self/task/${process.pid}/schedstat`

/** Processor time so far of the thread that runs JavaScript, in milliseconds; elsewhere with the other threads of the process, which is more. */
const threadTime = (): number =>
  existsSync(ofThread) ? Number(readFileSync(ofThread, "utf8").split(" ")[0]) / 1e6 : processorTime()

/**
 * The processor time of some work, and how long it holds the event loop at most, in milliseconds: the processor time of its thread
 * between two turns of the loop. By the clock, a busy machine holds everything up.
 */
const processorTimeOf = async (
  work: () => Promise<unknown>,
): Promise<{ readonly all: number; readonly hold: number }> => {
  const start = processorTime()
  let [hold, last] = [0, threadTime()]
  const look = () => {
    const now = threadTime()
    hold = Math.max(hold, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  await work()
  clearInterval(timer)
  look()
  return { all: processorTime() - start, hold }
}

/** The first searches after a start, and what they took. */
interface MeasuredSearch extends FirstSearch {
  readonly all: number
  readonly hold: number
}

const measuredSearch = async (filename: string, kept: IndexPlace): Promise<MeasuredSearch> => {
  let times = { first: 0, whole: 0 }
  const taken = await processorTimeOf(async () => {
    times = await firstSearch(filename, kept)
  })
  return { ...times, ...taken }
}

/** {@link measuredSearch} in a process of its own: what runs later in a process finds compiled code, and what others left in the heap. */
const inOwnProcess = async (filename: string, kept: IndexPlace): Promise<MeasuredSearch> => {
  const child = spawn(process.execPath, [process.argv[1]!, "search", kept, filename], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  // The memory may have logged something before.
  const last = (await text(child.stdout)).trimEnd().split("\n").at(-1) ?? ""
  return JSON.parse(last) as MeasuredSearch
}

const searches = async (folder: string): Promise<boolean> => {
  const filename = join(folder, "long.db")
  console.log(`\nRecall in a session of ${messages.toLocaleString("en-US")} messages, SQLite`)
  const said = messagesOf(7)
  await fillSession(SqliteEventLog.make({ filename, synchronous: "normal" }), messages, (index) => ({
    _tag: "MessageAppended",
    index,
    message: said(),
    tokens: 60,
  }))
  const size = () => statSync(filename).size
  const before = size()
  // One before it and one behind it, since a machine is not always as fast.
  const readBefore = await inOwnProcess(filename, "process")
  const built = await inOwnProcess(filename, "store")
  const readBehind = await inOwnProcess(filename, "process")
  told("the first search that finds all, while the index is built", `${Math.round(built.whole)} ms`)
  told("its processor time", `${Math.round(built.all)} ms`)
  const inProcess: Array<number> = []
  const inStore: Array<number> = []
  for (let round = 0; round < 3; round++) {
    inProcess.push((await firstSearch(filename, "process")).whole)
    for (let again = 0; again < 3; again++) inStore.push((await firstSearch(filename, "store")).whole)
  }
  told("the first search after a start, index in the process", `${Math.round(median(inProcess))} ms`)
  told("the first search after a start, index in the store", `${median(inStore).toFixed(1)} ms`)
  const outcomes = [
    within("the first answer where no index is there yet, which says that it is partial", built.first, 500),
    within("the first search after a start, index in the store", median(inStore), 500),
    within("building the index holds the event loop at most", built.hold, longestHold),
    within(
      "a first search in the process holds it at most",
      Math.max(readBefore.hold, readBehind.hold),
      longestHold,
    ),
    claim("in the store against in the process", median(inStore) / median(inProcess), 0.05),
    claim(
      "building it against a first search in the process, processor time",
      (2 * built.all) / (readBefore.all + readBehind.all),
      2,
    ),
    claim("the file with the index against the file without", size() / before, 2),
  ]
  const times: Record<IndexPlace, Array<number>> = { store: [], process: [] }
  const memories = { store: await opened(filename, "store"), process: await opened(filename, "process") }
  const next = messagesOf(9)
  for (const { memory } of Object.values(memories)) await Effect.runPromise(memory.recall("s", query))
  for (let round = 0; round < 200; round++) {
    await Effect.runPromise(memories.process.memory.append("s", [next(), next()]))
    for (const kept of ["store", "process"] as const) {
      const { memory } = memories[kept]
      times[kept].push(await milliseconds(() => Effect.runPromise(memory.recall("s", query))))
    }
  }
  for (const { close } of Object.values(memories)) await close()
  told("a search after an append, index in the process", `${median(times.process).toFixed(1)} ms`)
  told("a search after an append, index in the store", `${median(times.store).toFixed(1)} ms`)
  const sorted = times.store.toSorted((one, other) => one - other)
  told("the same, the slowest of 100", `${sorted[Math.floor(0.99 * sorted.length)]!.toFixed(1)} ms`)
  return outcomes.every(Boolean)
}

/** A ratio of two measurements, and the most that it may be. */
interface Ratio {
  readonly what: string
  readonly measured: number
  readonly unit: "×"
  readonly most: number
}

const mostForAppends = 1.5

/** Turns are appended in alternation to files whose sessions are searched now and then. */
const appendsBesides = async (folder: string, synchronous: "full" | "normal"): Promise<number> => {
  const times: Record<IndexPlace, Array<number>> = { store: [], process: [] }
  const memories = {
    store: await opened(join(folder, `${synchronous}-store.db`), "store", synchronous),
    process: await opened(join(folder, `${synchronous}-process.db`), "process", synchronous),
  }
  const next = messagesOf(11)
  for (let round = 0; round < 1_200; round++) {
    const turn = [next(), next()]
    const order: ReadonlyArray<IndexPlace> = round % 2 === 0 ? ["store", "process"] : ["process", "store"]
    for (const kept of order) {
      const { memory } = memories[kept]
      const took = await milliseconds(() => Effect.runPromise(memory.append("s", turn)))
      if (round >= 200) times[kept].push(took)
      if (round % 5 === 0) await Effect.runPromise(memory.recall("s", query))
    }
  }
  for (const { close } of Object.values(memories)) await close()
  told(
    `an append of a turn, ${synchronous.toUpperCase()}, index in the store`,
    `${median(times.store).toFixed(3)} ms`,
  )
  return median(times.store) / median(times.process)
}

const bothModes = ["full", "normal"] as const

/** Appends to a session that is searched, with the index in the store against the index in the process. */
export const indexedAppends = async (): Promise<ReadonlyArray<Ratio>> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  console.log("\nAppends to a session that is searched, SQLite")
  try {
    const ratios: Array<Ratio> = []
    for (const synchronous of bothModes)
      ratios.push({
        what: `an append with the index in the file against one without, ${synchronous.toUpperCase()}`,
        measured: await appendsBesides(folder, synchronous),
        unit: "×",
        most: mostForAppends,
      })
    return ratios
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const ownerSessions = { sessions: 500, messages: 60 }

/** A search in all sessions of an owner, the first after a start. */
const owners = async (folder: string): Promise<boolean> => {
  const filename = join(folder, "owner.db")
  const { sessions, messages: each } = ownerSessions
  console.log(`\nRecall in ${sessions} sessions of ${each} messages, of one owner, SQLite`)
  const next = messagesOf(13)
  const filled = await opened(filename, "process", "normal")
  for (let session = 0; session < sessions; session++) {
    const said = Array.from({ length: each }, () => next())
    await Effect.runPromise(filled.memory.append(`s${session}`, said, { owner: "ann" }))
  }
  await filled.close()
  const firsts: Array<number> = []
  for (let round = 0; round < 5; round++) {
    const { memory, close } = await opened(filename, "store")
    const { first, whole } = await untilWhole(async () => {
      const { unsearchedSessions } = await Effect.runPromise(memory.recallOf("ann", query))
      return unsearchedSessions
    })
    await close()
    firsts.push(first)
    if (round === 0) told("the first search that finds all", `${Math.round(whole)} ms`)
  }
  return within("the first answer after a start, which says that it is partial", median(firsts), 500)
}

const manySessions = { sessions: 2_000, messages: 20 }

/** Searches of 1,000 words in many sessions of an owner, against searches of six words in the same run. */
const longQueries = async (folder: string): Promise<boolean> => {
  const filename = join(folder, "many.db")
  const { sessions, messages: each } = manySessions
  console.log(`\nLong queries in ${sessions.toLocaleString("en-US")} sessions of ${each} messages, SQLite`)
  const next = messagesOf(17)
  const { memory, close } = await opened(filename, "process", "normal")
  for (let session = 0; session < sessions; session++) {
    const said = Array.from({ length: each }, () => next())
    await Effect.runPromise(memory.append(`s${session}`, said, { owner: "ann" }))
  }
  const random = randomFrom(19)
  const longQuery = (): string =>
    Array.from({ length: 1_000 }, () => wordOf(Math.floor(20_000 * random() ** 3))).join(" ")
  const searched = async (asked: string) =>
    (await Effect.runPromise(memory.recallOf("ann", asked))).unsearchedSessions
  const first = await processorTimeOf(() => untilWhole(() => searched(query)))
  const times = { short: [] as Array<number>, long: [] as Array<number> }
  let hold = 0
  for (let round = 0; round < 12; round++) {
    const short = await processorTimeOf(() => searched(query))
    const long = await processorTimeOf(() => searched(longQuery()))
    // The first rounds compile.
    if (round < 4) continue
    times.short.push(short.all)
    times.long.push(long.all)
    hold = Math.max(hold, long.hold)
  }
  const together = Array.from({ length: 10 }, longQuery)
  const ten = await processorTimeOf(() => Promise.all(together.map(searched)))
  await close()
  told("a search of 1,000 words, processor time", `${Math.round(median(times.long))} ms`)
  const outcomes = [
    within("a search of six words, processor time", median(times.short), 200),
    within("the first searches of the process hold the event loop at most", first.hold, longestHold),
    within("a search of 1,000 words holds it at most", hold, longestHold),
    within("ten of them at once hold it at most", ten.hold, longestHold),
    claim("1,000 words against six, processor time", median(times.long) / median(times.short), 2),
    claim(
      "what ten at once hold the event loop against a whole search of six words",
      ten.hold / median(times.short),
      0.5,
    ),
  ]
  return outcomes.every(Boolean)
}

/**
 * Measures and prints. Returns whether every ratio is within its bound. With the place of an index and a file, it prints what the first
 * searches in this file take.
 */
export const search = async ([kept, filename]: ReadonlyArray<string> = []): Promise<boolean> => {
  if ((kept === "store" || kept === "process") && filename !== undefined) {
    console.log(JSON.stringify(await measuredSearch(filename, kept)))
    return true
  }
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const outcomes = [
      await searches(folder),
      await owners(folder),
      await longQueries(folder),
      await sealedSearches(folder),
    ]
    for (const { what, measured, most } of await indexedAppends()) outcomes.push(claim(what, measured, most))
    return outcomes.every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
