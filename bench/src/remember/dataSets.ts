/** The conversations of the data sets, in the folder that `MEMFOLD_DATA` names. They are not part of the repository. */
import { readTranscripts } from "@memfold/cli/transcripts"
import { type Conversation, ofTranscript, readDataSet } from "@memfold/lab"
import { Either } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The conversations of one source. */
export interface DataSet {
  readonly name: string
  readonly conversations: ReadonlyArray<Conversation>
}

const files = {
  locomo: "locomo/conversations.json",
  longMemEval: "longmemeval/histories.json",
  tauBench: "tau-bench/airline.json",
  pi: "pi-mono/before-compaction.jsonl",
} as const

/** Cases that follow each other in one conversation. One alone is too short to be compacted. */
const casesTogether = 10

/** Many cases of a support one after the other, as whoever answers them has them. */
const inRows = (cases: ReadonlyArray<Conversation>): ReadonlyArray<Conversation> =>
  Array.from({ length: Math.floor(cases.length / casesTogether) }, (_, row) =>
    ofTranscript(
      `cases ${row * casesTogether} to ${(row + 1) * casesTogether - 1}`,
      cases
        .slice(row * casesTogether, (row + 1) * casesTogether)
        // A system prompt is the same in all of them, and stands in front once.
        .flatMap(({ messages }, position) =>
          messages.filter(({ role }) => position === 0 || role !== "system"),
        ),
    ),
  )

/** All data sets, by what the benchmark calls them. */
export interface DataSets {
  readonly locomo: DataSet
  readonly longMemEval: DataSet
  readonly support: DataSet
  readonly cases: DataSet
  readonly coding: DataSet
}

/**
 * The data sets in a folder; `null`, after a line on standard error that says which files are missing, if one of them is.
 */
export const dataSets = (folder = process.env["MEMFOLD_DATA"] ?? "../shared/data"): DataSets | null => {
  const missing = Object.values(files).filter((file) => !existsSync(join(folder, file)))
  if (missing.length > 0) {
    process.stderr.write(
      `memfold: remember needs data sets that are not part of the repository: ${missing.join(", ")} in the folder ${folder}; set MEMFOLD_DATA to the folder that has them\n`,
    )
    return null
  }
  const textOf = (file: string): string => readFileSync(join(folder, file), "utf8")
  const questionsIn = (file: string): ReadonlyArray<Conversation> =>
    Either.getOrThrow(readDataSet(JSON.parse(textOf(file)))) ?? []
  const transcriptsIn = (file: string): ReadonlyArray<Conversation> =>
    readTranscripts(textOf(file), { file }).map(({ messages }, at) => ofTranscript(`${at}`, messages))
  const cases = transcriptsIn(files.tauBench)
  return {
    locomo: { name: "LoCoMo", conversations: questionsIn(files.locomo) },
    longMemEval: { name: "LongMemEval", conversations: questionsIn(files.longMemEval) },
    support: { name: "tau-bench", conversations: cases },
    cases: { name: `tau-bench, ${casesTogether} cases in a row`, conversations: inRows(cases) },
    coding: { name: "a coding session of pi", conversations: transcriptsIn(files.pi) },
  }
}
