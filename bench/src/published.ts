/**
 * `npm run bench -- published`: recall of evidence on LoCoMo, as its paper defines it: the share of a question's evidence that is
 * among the k best turns, and among the k best sessions. The folder with the data comes from `MEMFOLD_DATA`.
 */
import { Embedder, InMemoryEventLog, Memory, Message } from "@memfold/core"
import type * as Local from "@memfold/embedder-local"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Layer } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { longMemEval } from "./longMemEval.js"

const file = "locomo/conversations.json"

/** The dense retriever of the paper (Maharana et al. 2024, table 3), over all questions, in per cent of the evidence. */
const published: Readonly<Record<number, number>> = { 5: 56.7, 10: 66.2, 25: 76.7, 50: 82.7 }

const turnsOf = [5, 10, 25, 50] as const
const sessionsOf = [2, 5, 10] as const

/** The categories of questions, by their numbers in the data. */
const categories: ReadonlyMap<number, string> = new Map([
  [1, "several places"],
  [2, "temporal"],
  [3, "open"],
  [4, "one place"],
  [5, "adversarial"],
])

interface Turn {
  readonly id: string
  readonly session: number
  readonly message: Message.Message
}

interface Asked {
  readonly question: string
  readonly category: number
  /** The positions of the turns that answer it. */
  readonly evidence: ReadonlyArray<number>
}

interface Dialog {
  readonly turns: ReadonlyArray<Turn>
  readonly questions: ReadonlyArray<Asked>
}

type Fields = Readonly<Record<string, unknown>>

/** The time of a session as the data has it: `1:56 pm on 8 May, 2023`. */
const timeOf = (text: string): number => {
  const [clock = "", day = ""] = text.split(" on ")
  return Date.parse(`${day.replace(",", "")} ${clock} UTC`)
}

const dialogOf = ({ conversation, qa }: Fields): Dialog => {
  const fields = conversation as Fields
  const turns = Object.keys(fields)
    .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
    .map(Number)
    .toSorted((one, other) => one - other)
    .flatMap((session) => {
      const time = timeOf(String(fields[`session_${session}_date_time`]))
      return (fields[`session_${session}`] as ReadonlyArray<Fields>).map((turn, at): Turn => {
        const text = [turn["text"], turn["blip_caption"]].filter((one) => typeof one === "string").join(" ")
        const role = turn["speaker"] === fields["speaker_a"] ? Message.user : Message.assistant
        const message = { ...role(text), name: String(turn["speaker"]), time: time + at * 1_000 }
        return { id: String(turn["dia_id"]), session, message }
      })
    })
  const positions = new Map(turns.map(({ id }, at) => [id, at]))
  const questions = (qa as ReadonlyArray<Fields>).flatMap(
    ({ question, category, evidence }): ReadonlyArray<Asked> => {
      const found = (evidence as ReadonlyArray<unknown>)
        .flatMap((one) => String(one).split(/[;\s]+/))
        .flatMap((id) => positions.get(id) ?? [])
      return found.length === 0
        ? []
        : [{ question: String(question), category: Number(category), evidence: [...new Set(found)] }]
    },
  )
  return { turns, questions }
}

/** The positions of the turns that are found, the best first. */
const rankedBy = (memory: Memory.Service, question: string) =>
  Effect.map(memory.recall("s", question, { tokens: 1_000_000 }), ({ messages }) =>
    messages.toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0)).map(({ index }) => index),
  )

/** Shares of evidence, added up by a name. */
class Shares {
  private readonly sums = new Map<string, { sum: number; count: number }>()

  add(names: ReadonlyArray<string>, share: number): void {
    for (const name of names) {
      const { sum, count } = this.sums.get(name) ?? { sum: 0, count: 0 }
      this.sums.set(name, { sum: sum + share, count: count + 1 })
    }
  }
  /** In per cent. */
  of(name: string): number {
    const { sum, count } = this.sums.get(name) ?? { sum: 0, count: 0 }
    return (100 * sum) / count
  }
}

const shareOf = <A>(wanted: ReadonlySet<A>, found: ReadonlySet<A>): number =>
  [...wanted].filter((one) => found.has(one)).length / wanted.size

/** The embedder of a real model, from the folder that `scripts/minilm.mjs` makes. */
const realEmbedder = async (): Promise<Embedder.Service> => {
  const folder = process.env["MEMFOLD_MINILM"] ?? ""
  const path = join(folder, "node_modules/@memfold/embedder-local/dist/index.js")
  const { localEmbedder } = (await import(pathToFileURL(path).href)) as typeof Local
  // Nobody waits for a benchmark: each session has all its vectors before it is asked.
  return localEmbedder({ model: join(folder, "all-MiniLM-L6-v2"), timeout: "30 minutes" })
}

/** `npm run bench -- meaning`: as `published`, with all-MiniLM-L6-v2 beside words. */
export const publishedByMeaning = async (): Promise<boolean> => {
  const embedder = await realEmbedder()
  const before = process.cpuUsage()
  const ahead = await publishedNumbers(undefined, embedder)
  console.log(`  processor time: ${(process.cpuUsage(before).user / 1e6).toFixed(0)} s with embedding`)
  return ahead
}

/** Measures and prints. Returns whether recall is ahead of the published retriever at each k. */
export const publishedNumbers = async (
  folder = process.env["MEMFOLD_DATA"] ?? "../shared/data",
  embedder: Embedder.Service | null = null,
): Promise<boolean> => {
  const path = join(folder, file)
  if (!existsSync(path)) {
    process.stderr.write(
      `memfold: published needs LoCoMo, which is not part of the repository: ${path}; set MEMFOLD_DATA to the folder that has ${file}\n`,
    )
    return false
  }
  const dialogs = (JSON.parse(readFileSync(path, "utf8")) as ReadonlyArray<Fields>).map(dialogOf)
  const shares = new Shares()
  for (const { turns, questions } of dialogs) {
    await Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append(
        "s",
        turns.map(({ message }) => message),
      )
      for (const { question, category, evidence } of questions) {
        const ranked = yield* rankedBy(memory, question)
        const groups = ["all", ...(category === 5 ? [] : ["1 to 4"]), categories.get(category) ?? "other"]
        const at = (k: number) => new Set(ranked.slice(0, k))
        for (const k of turnsOf)
          shares.add(
            groups.map((group) => `${group} ${k}`),
            shareOf(new Set(evidence), at(k)),
          )
        const sessionOf = (index: number): number => turns[index]!.session
        const sessions = [...new Set(ranked.map(sessionOf))]
        for (const k of sessionsOf)
          shares.add(
            groups.map((group) => `${group} sessions ${k}`),
            shareOf(new Set(evidence.map(sessionOf)), new Set(sessions.slice(0, k))),
          )
      }
    }).pipe(
      Effect.provide(
        Memory.layer({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
          Layer.provide([
            InMemoryEventLog.layer,
            ExtractiveSummarizer.layer(),
            Layer.succeed(Embedder.Embedder, embedder),
          ]),
        ),
      ),
      Effect.runPromise,
    )
  }
  const questions = dialogs.reduce((sum, { questions }) => sum + questions.length, 0)
  console.log(
    `\nLoCoMo, ${dialogs.length} conversations, ${questions} questions: evidence found by words${embedder === null ? "" : ` and by meaning (${embedder.name})`}, in per cent`,
  )
  const header = [...turnsOf.map((k) => `turns @${k}`), ...sessionsOf.map((k) => `sessions @${k}`)]
  console.log(`  ${"".padEnd(16)}${header.map((name) => name.padStart(13)).join("")}`)
  for (const group of ["all", "1 to 4", ...categories.values()]) {
    const cells = [...turnsOf.map((k) => `${group} ${k}`), ...sessionsOf.map((k) => `${group} sessions ${k}`)]
    console.log(
      `  ${group.padEnd(16)}${cells.map((cell) => shares.of(cell).toFixed(1).padStart(13)).join("")}`,
    )
  }
  const paper = turnsOf.map((k) => published[k]!.toFixed(1).padStart(13)).join("")
  console.log(`  ${"paper, all".padEnd(16)}${paper}  (dense retriever over ten conversations)`)
  if (embedder === null) await longMemEval(folder)
  return turnsOf.every((k) => shares.of(`all ${k}`) > published[k]!)
}
