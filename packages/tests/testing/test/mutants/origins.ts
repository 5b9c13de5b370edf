/** Engines with a fault where something gets more trust than what it rests on. The law of a memory has to find each of them. */
import type { EngineMutant } from "./engines.js"

const mutant = (name: string, file: string, from: string, to: string): EngineMutant => ({
  name,
  law: "L18",
  changes: [{ file, from, to }],
})

export const originMutants: ReadonlyArray<EngineMutant> = [
  mutant(
    "takes the origin of the first thing that a summary rests on",
    "summary/Summary.ts",
    `return lowest(found) ?? "assistant"`,
    `return found[0] ?? "assistant"`,
  ),
  mutant(
    "forgets what earlier summaries rested on",
    "session/originsAfter.ts",
    "originsOf(segments, [...merged, ...said, ...own])",
    "originsOf(segments, [...said, ...own])",
  ),
  mutant(
    "takes a page for the words of the model",
    "Origin.ts",
    "return lowest([role, item.origin ?? role]) ?? role",
    "return role",
  ),
  mutant(
    "merges earlier material into what was said",
    "shell/writeSummary.ts",
    `isMaterial(before.summary?.origins[earlier + position] ?? "external") === low,`,
    "low === (position < 0),",
  ),
  mutant(
    "shows results to who writes what was said",
    "engine/divide.ts",
    "(isLow(part) ? standIn(part) : [part])",
    "[part]",
  ),
  mutant(
    "shows material in the role of the summary",
    "render/shownSummary.ts",
    `role: material ? "user" : role,`,
    "role,",
  ),
  mutant(
    "shows what is below the lowest origin",
    "render/shownSummary.ts",
    `minimum !== undefined && isBelow(origins[one] ?? "external", minimum)`,
    `minimum !== undefined && isBelow("system", origins[one] ?? minimum)`,
  ),
]
