/** Readers of transcripts with a fault, each made by changing a line of `packages/programs/cli/src/transcript`. */
import type { EngineMutant } from "./engines.js"

const [kept, branch, covers, named, damage] = [
  "L23: every text",
  "L23: what the user went back over",
  "L23: a summary covers",
  "L23: what is in no message",
  "L23: damage",
]

const fault = (name: string, law: string, file: string, from: string, to: string): EngineMutant => ({
  name,
  law,
  changes: [{ file: `transcript/${file}.ts`, from, to }],
})

export const readerMutants: ReadonlyArray<EngineMutant> = [
  fault(
    "leaves out prompts that were typed while a tool ran",
    kept,
    "claudeCode",
    "isMessage(entry) || promptOf(entry) !== undefined ||",
    "isMessage(entry) ||",
  ),
  fault(
    "takes equal ids for one answer, whatever stands between",
    kept,
    "Log",
    "isSaid(format, parent) ? parent : parent.before",
    "isSaid(format, parent) ? (nodes.find(({ row }) => Boolean(row.value.message?.id) && row.value.message.id === value.message?.id) ?? parent) : parent.before",
  ),
  fault(
    "leaves out files beside a prompt",
    kept,
    "claudeCode",
    'if (type !== "attachment" || !isObject(attachment)) return []',
    "if (type !== undefined) return []",
  ),
  fault(
    "joins the steps of an answer",
    kept,
    "parts",
    '(this.isAnswered && part.type !== "tool-call")',
    '(this.isAnswered && part.type === "file")',
  ),
  fault("forgets what the screen showed alone", kept, "geminiCli", "ofModel ?? shown", "ofModel"),
  fault(
    "makes nothing of thoughts that are texts",
    kept,
    "geminiCli",
    'typeof thought === "string"\n      ? thought',
    'typeof thought === "string"\n      ? ""',
  ),
  fault(
    "drops calls that stand beside the content",
    kept,
    "langchain",
    "...more.tool_calls.map(({ id, function: called }) => ({ ...readCall(called), id })),",
    "",
  ),
  fault(
    "drops a conversation with an odd node",
    kept,
    "chatGpt",
    "isObject(mapping) &&\n  Object.values(mapping).some(",
    "isObject(mapping) &&\n  Object.values(mapping).every(isObject) &&\n  Object.values(mapping).some(",
  ),
  fault("leaves out the text of attachments", kept, "claudeExport", "...attached(message)", ""),
  fault(
    "reads the branches of a tree one behind the other",
    branch,
    "pi",
    '(typeof parentId === "string" || parentId === null ? parentId : undefined)',
    "(parentId === false ? null : undefined)",
  ),
  fault(
    "tells what was typed by its first character",
    branch,
    "codex",
    "if (entry.isTyped === true || !isTypedBefore) turns.push(entry)",
    'if (!textOf(entry.item).startsWith("<") && (entry.isTyped === true || !isTypedBefore)) turns.push(entry)',
  ),
  fault(
    "goes on with what was taken back last",
    branch,
    "Log",
    "      end = way[kept - 1]\n      last.set(undefined, end)\n",
    "      last.set(undefined, way[kept - 1])\n",
  ),
  fault("loses the oldest branch", branch, "Log", "ways.slice(1).map(", "ways.slice(2).map("),
  fault(
    "has a summary cover what was kept",
    covers,
    "Log",
    "const made = Object.entries({ to, summary: known, ...rest })",
    "const made = Object.entries({ summary: known, ...rest })",
  ),
  fault(
    "takes what hangs on an entry before a compaction for a rewind",
    covers,
    "Log",
    "found.order >= compacted ? found",
    "found.order >= 0 ? found",
  ),
  fault(
    "forgets what a compaction kept before its summary comes",
    covers,
    "Log",
    "compacted.isRest === true ? open : undefined",
    "undefined",
  ),
  fault(
    "reads a tree in the order of its file",
    branch,
    "Log",
    "format.isTree === true ? behindParents(rows, format) : rows",
    "rows",
  ),
  fault("forgets a compaction before the next prompt", covers, "Log", "goesOn || isLast ||", "goesOn ||"),
  fault("takes no note of the tail that opencode kept", covers, "opencode", "time, keeps }\n}", "time }\n}"),
  fault("names nothing", named, "leftOut", "if (notWhole.length === 0) return []", "return []"),
  fault("names the wrong line", named, "leftOut", "`line ${line}: ${exact}`", "`line ${line + 1}: ${exact}`"),
  fault(
    "stops at damage, also where it is to be skipped",
    damage,
    "source",
    "return this.skips",
    "return false",
  ),
  fault(
    "skips damage in silence",
    damage,
    "Transcript",
    "[...damaged.map(skipped), ...(isNamed",
    "[...(isNamed",
  ),
]
