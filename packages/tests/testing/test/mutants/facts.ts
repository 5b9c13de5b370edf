/** Memory layers with a fault where facts say more than was said. The law of facts has to find each of them. */
import type { EngineMutant } from "./engines.js"

const mutant = (name: string, file: string, from: string, to: string): EngineMutant => ({
  name,
  law: "L24",
  changes: [{ file, from, to }],
})

export const factMutants: ReadonlyArray<EngineMutant> = [
  mutant(
    "takes a quote that nobody has said",
    "layers/evidence.ts",
    'text.normalize("NFC").includes(quote.normalize("NFC"))',
    "text.length >= 0",
  ),
  mutant(
    "takes the words of the model for the user's",
    "layers/evidence.ts",
    'origin !== "user" && origin !== "system"',
    'origin === "external"',
  ),
  mutant(
    "keeps facts of a branch that was left",
    "layers/src/identity.ts",
    "return [...versions].some(",
    "return versions.size === 0 && [...versions].some(",
  ),
  mutant(
    "keeps facts of a branch that was left, in the log of the session",
    "session/switchBranch.ts",
    "if (fact.to > index) return []",
    "if (fact.to < 0) return []",
  ),
  mutant(
    "takes the facts of a copy with the branch that the other session leaves",
    "layers/src/identity.ts",
    "fact.sources === undefined || isHome(log)",
    'fact.sources === undefined || log !== ""',
  ),
  mutant(
    "keeps facts of the first message when it is edited",
    "layers/src/identity.ts",
    "return home === here || (isEdited &&",
    "return home === here || (isEdited && home === here &&",
  ),
  mutant(
    "lets facts of others end each other",
    "layers/inTime.ts",
    "JSON.stringify([layer, subject])",
    "JSON.stringify([layer, typeof subject])",
  ),
  mutant(
    "keeps the facts of a redacted message elsewhere",
    "layers/src/forget.ts",
    "isOfOrigin(fact, state) &&",
    'fact.id === "" &&',
  ),
  mutant(
    "keeps the facts of a redacted message in its log",
    "history/redact.ts",
    "covers(index, fact) || (fact.sources ?? []).some((source) => source.event === version)",
    'fact.id === ""',
  ),
  mutant(
    "keeps a fact that was redacted",
    "layers/src/forget.ts",
    "erases: (fact) => ids.includes(fact.id) || facts.some(",
    "erases: (fact) => fact.id === '' && facts.some(",
  ),
  mutant(
    "forgets where else a fact was said",
    "layers/inTime.ts",
    "facts.flatMap((fact) => fact.sources ?? [])",
    "first.sources ?? []",
  ),
  mutant(
    "shows only the newest fact of an event",
    "session/facts.ts",
    "for (const fact of learned) {",
    "for (const fact of learned.slice(1)) {",
  ),
  mutant(
    "learns anew as if nothing were known",
    "layers/src/rebuild/plan.ts",
    "(old) => unmatched.has(old) &&",
    "(old) => !unmatched.has(old) &&",
  ),
  mutant(
    "learns a fact anew that was redacted",
    "layers/src/rebuild/rebuilding.ts",
    "redacted.has(MemoryLayers.placeOf(source))",
    "redacted.has(source.quote)",
  ),
  mutant(
    "keeps what was learned anew from a redacted message",
    "layers/withoutFacts.ts",
    'event._tag !== "FactsLearned" && event._tag !== "FactsRebuilt"',
    'event._tag !== "FactsLearned"',
  ),
]
