/** Which documents of the repository are pages of the site, in which order, and where each of them is. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { packages as published } from "../../scripts/release/packages.mjs"

/** The root of the repository; documents are named from here. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** Where the reference of the API is generated. */
export const reference = "site/api"

const read = (document: string): string => readFileSync(join(root, document), "utf8")

/**
 * Documents of the repository that are no pages: they are about the repository itself, for programs that write code, or parts of
 * what is copied into applications.
 */
const isNoPage = (document: string): boolean =>
  /^(README\.md|AGENTS\.md|packages\/tests\/harness\/|site\/README\.md|\.)|(^|\/)(CHANGELOG|SKILL)\.md$|\/templates\//.test(
    document,
  )

const documents = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((document) => existsSync(join(root, document)))
  .toSorted()

/** All documents that are pages, without the reference of the API. */
export const pages: ReadonlyArray<string> = documents.filter((document) => !isNoPage(document))

/** The documents of the repository that are no pages. */
export const otherDocuments: ReadonlyArray<string> = documents.filter(isNoPage)

/** Where a document is on the site: its path from the root of the site, which ends with `.md`. */
export const placeOf = (document: string): string =>
  document.replace(/^(docs|site)\//, "").replace(/(^|\/)README\.md$/, "$1index.md")

/** The address of a page from the root of the site, such as `/stores.html` and `/packages/programs/lab/`. */
export const addressOf = (document: string): string =>
  `/${placeOf(document)}`.replace(/index\.md$/, "").replace(/\.md$/, ".html")

/** The title of a document: its first heading. */
export const titleOf = (document: string): string =>
  (/^# (.*)$/m.exec(read(document))?.[1] ?? document).replaceAll("`", "")

/** What a document is about: its first paragraph, as text on one line. */
export const aboutOf = (document: string): string => {
  const text = read(document).replace(/^---\n[\s\S]*?\n---\n/, "")
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== "")
  const paragraph = blocks.find((block) => !/^\s*(#|```|!\[|[|<>-])/.test(block))
  return (
    (
      paragraph ??
      blocks
        .find((block) => block.startsWith("- "))
        ?.slice(2)
        .split("\n- ")[0] ??
      ""
    )
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[*_`]/g, "")
      .replaceAll(/\s+/g, " ")
      .trim()
      // What only announces a list or a block says nothing without it.
      .replace(/(?<=[.?!]) (?:(?![.?!] ).)*:$/, "")
  )
}

/** The published packages by their names: the folder of each one. */
export const packages: ReadonlyMap<string, string> = new Map(
  published
    .map(({ folder, manifest }): [string, string] => [manifest.name, folder])
    .toSorted(([one], [other]) => one.localeCompare(other)),
)

/** A part of the site: its name, and its pages in order, each with what the navigation calls it. */
export interface Part {
  readonly name: string
  readonly pages: ReadonlyArray<{ readonly document: string; readonly name: string }>
}

const part = (name: string, ...entries: ReadonlyArray<readonly [name: string, document: string]>): Part => ({
  name,
  pages: entries.map(([name, document]) => ({ name, document })),
})

/** The records of decisions, in the order of their numbers. */
const decisions = pages
  .filter((document) => /^docs\/decisions\/\d/.test(document))
  .toSorted((one, other) => Number(/\d+/.exec(one)?.[0]) - Number(/\d+/.exec(other)?.[0]))

/** The parts of the site, in the order of the navigation and of `llms.txt`. */
const placed: ReadonlyArray<Part> = [
  part(
    "Start in five minutes",
    ["AI SDK", "docs/start/ai-sdk.md"],
    ["Next.js", "docs/start/next.md"],
    ["LangChain", "docs/start/langchain.md"],
    ["OpenAI Agents SDK", "docs/start/openai-agents.md"],
    ["Mastra", "docs/start/mastra.md"],
    ["OpenAI's client", "docs/start/openai.md"],
    ["Anthropic's client", "docs/start/anthropic.md"],
    ["Effect", "docs/start/effect.md"],
    ["Plain fetch, any language", "docs/start/fetch.md"],
    ["Other libraries", "docs/adapters.md"],
  ),
  part(
    "Concepts",
    ["Log and fold", "docs/concepts/log-and-fold.md"],
    ["Coverage and tail", "docs/concepts/coverage-and-tail.md"],
    ["The compaction protocol", "docs/concepts/compaction-protocol.md"],
    ["A split turn", "docs/concepts/split-turn.md"],
    ["Branches", "docs/concepts/branches.md"],
    ["What invalidates a prompt cache", "docs/concepts/prompt-cache.md"],
    ["Glossary", "docs/glossary.md"],
  ),
  part(
    "Strategies",
    ["Which one, and what it costs", "docs/strategies/README.md"],
    ["Break-even", "docs/strategies/break-even.md"],
    ["Sliding window", "docs/strategies/sliding-window.md"],
    ["Rounds", "docs/strategies/rounds.md"],
    ["Split turn", "docs/strategies/split-turn.md"],
    ["Rolling buffer", "docs/strategies/rolling-buffer.md"],
    ["Window and buffers", "docs/strategies/buffers.md"],
    ["Compose your own", "docs/compose.md"],
    ["Is it right?", "docs/testing.md"],
    ["The lab", "docs/lab.md"],
  ),
  part(
    "Use",
    ["Choose or write a store", "docs/stores.md"],
    ["Runtimes and versions", "docs/runtimes.md"],
    ["Edit, regenerate, go back", "docs/branches.md"],
    ["Recall", "docs/recall.md"],
    ["Operate", "docs/operations.md"],
    ["Privacy and redaction", "docs/privacy.md"],
    ["Whose words a summary has", "docs/trust.md"],
    ["Facts", "docs/facts.md"],
    ["Answering for what is kept", "docs/governance.md"],
    ["The memory as a service", "docs/server.md"],
    ["The proxy", "docs/proxy.md"],
    ["Responses and conversations", "docs/conversations.md"],
    ["See what the model saw", "docs/studio.md"],
    ["The command line", "packages/programs/cli/README.md"],
  ),
  part(
    "Migrate",
    ["From what?", "docs/migrate/README.md"],
    ["Transcripts of other programs", "docs/migrate/transcripts.md"],
    ["LangChain", "docs/migrate/langchain.md"],
    ["Mastra", "docs/migrate/mastra.md"],
    ["OpenAI Agents SDK", "docs/migrate/openai-agents.md"],
    ["AI SDK", "docs/migrate/ai-sdk.md"],
    ["Summaries made by hand", "docs/migrate/by-hand.md"],
  ),
  part(
    "Evidence",
    ["Beside the neighbours", "docs/comparison.md"],
    ["Benchmarks", "docs/benchmarks.md"],
    ["Five published designs", "docs/conformance.md"],
    ["Deliberate faults", "docs/mutants.md"],
  ),
  part(
    "Packages",
    ["All packages", "docs/packages.md"],
    ...[...packages]
      .filter(([name]) => name !== "@memfold/cli")
      .map(([name, folder]) => [name, `${folder}/README.md`] as const),
  ),
  part(
    "How it is built",
    ["Contributing", "CONTRIBUTING.md"],
    ["Security", "SECURITY.md"],
    ["Code of conduct", "CODE_OF_CONDUCT.md"],
    ["Decisions", "docs/decisions/README.md"],
    ...decisions.map((document) => [titleOf(document), document] as const),
  ),
]

const listed = new Set(placed.flatMap(({ pages }) => pages.map(({ document }) => document)))

/** Pages that no part names: they are found all the same. */
const others = pages.filter((document) => !listed.has(document) && document !== "site/index.md")

/** All parts of the site. */
export const parts: ReadonlyArray<Part> =
  others.length === 0
    ? placed
    : [...placed, part("More", ...others.map((document) => [titleOf(document), document] as const))]
