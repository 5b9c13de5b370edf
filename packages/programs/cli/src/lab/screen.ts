/** The report of the lab on the terminal. */
import type { Report } from "@memfold/lab"
import { type Cell, color, count, several, wrapped } from "../terminal/terminal.js"
import { type Column, type Group, groupedTable } from "./columns.js"

/** A whole number; a dash where there is no number. */
const shown = (value: number | null | undefined): string => value?.toFixed(0) ?? "–"

const percent = (share: number | null | undefined): string => shown(share && 100 * share)

/** The groups of columns: what it costs, what the contexts were like, and what was in them when it was needed. */
const groupsOf = ({ prices, policies, recallTokens }: Report): ReadonlyArray<Group> => {
  const hasFailures = policies.some(({ failures }) => failures > 0)
  const needed = policies[0]?.identifiers.needed ?? 0
  const column = (title: string, cell: (policy: Report["policies"][number]) => Cell): Column => ({
    title,
    cells: policies.map(cell),
  })
  const costs = prices.map(({ model }, at): Group => ({
    title: `cost: ${model}`,
    columns: [
      column("cost", ({ costs }) => ({ text: shown(costs[at]?.share?.total), paint: color.bold })),
      column("cached", ({ costs }) => shown(costs[at]?.share?.cached)),
      column("written", ({ costs }) => shown(costs[at]?.share?.written)),
      column("new", ({ costs }) => shown(costs[at]?.share?.newInput)),
      column("output", ({ costs }) => shown(costs[at]?.share?.summarizerOutput)),
      column("hit %", ({ costs }) => percent(costs[at]?.cached)),
    ],
  }))
  const contexts: Group = {
    title: "contexts",
    columns: [
      column("mean", ({ meanContext }) => count(Math.round(meanContext))),
      column("largest", ({ largestContext }) => count(largestContext)),
      column("compactions", ({ compactions }) => count(compactions)),
      ...(hasFailures ? [column("failed", ({ failures }) => count(failures))] : []),
      ...(needed === 0
        ? []
        : [column("needed ids %", ({ identifiers: { there, needed } }) => shown((100 * there) / needed))]),
    ],
  }
  const isAutomatic = policies.some(({ automaticRecall }) => automaticRecall !== null)
  const evidence: Group = {
    title: "evidence when asked, %",
    columns: [
      column("tokens", (one) => count(Math.round(one.evidence?.tokens ?? 0))),
      ...(
        [
          ["raw", "raw"],
          ["summary", "inSummaries"],
          ["recalled", "recalled"],
          [`+${count(recallTokens)} on demand`, "withRecall"],
          ["newest", "newest"],
        ] as const
      )
        .filter(([, part]) => part !== "recalled" || isAutomatic)
        .map(([title, part]) => column(title, ({ evidence }) => percent(evidence?.[part]))),
    ],
  }
  const answers: ReadonlyArray<Group> = (["words", "perThousand"] as const).map((part) => ({
    title: part === "words" ? "words of the answers, %" : "… per 1,000 tokens",
    columns: (
      [
        ["context", "context"],
        ["newest", "newest"],
        ["summary", "summaries"],
        [`+${count(recallTokens)} on demand`, "summariesWithRecall"],
        ["recall alone", "recall"],
        ["oracle", "oracle"],
      ] as const
    ).map(([title, text]) => column(title, ({ answers }) => percent(answers?.[text][part]))),
  }))
  return [
    ...costs,
    contexts,
    ...(policies.some((one) => one.evidence !== null) ? [evidence] : []),
    ...(policies.some((one) => one.answers !== null) ? answers : []),
  ]
}

const day = 24 * 60 * 60 * 1000

/** What the columns mean, and what has to be known to read them. */
const notesOn = ({ prices, policies, conversations, recallTokens }: Report): ReadonlyArray<string> => {
  const timeless = conversations.filter(({ lasted }) => lasted === null).length
  const needed = policies[0]?.identifiers.needed ?? 0
  const asked = policies[0]?.evidence?.asked ?? 0
  const answered = policies[0]?.answers?.asked ?? 0
  const automatic = policies.find(({ automaticRecall }) => automaticRecall !== null)?.automaticRecall ?? null
  const dates = prices.map(({ model, asOf }) => `${model} (${asOf})`).join("; ")
  return [
    `cost: of all calls, summaries paid, without the answers of the model; full history = 100${conversations.length > 1 ? ", and each conversation counts the same" : ""}. cached, written: prompt tokens read from the provider's cache, and written to it. new, output: what the summarizer reads and writes. hit: the share of the prompt read from the cache. Prices: ${dates}.`,
    "mean, largest: tokens of a context, one for each assistant message.",
    ...(needed === 0
      ? []
      : [
          `needed ids: ${several(needed, "identifier")} (paths, numbers, addresses, dates) that an assistant message used and that nobody had said in the 10 messages before; the share that was in its context.`,
        ]),
    ...(automatic === null
      ? []
      : [
          `+ recall: each context also shows at most ${count(automatic)} tokens of earlier messages that fit the newest user message.`,
        ]),
    ...(asked === 0
      ? []
      : [
          `evidence: ${count(asked)} times a question was asked; the sentences that answer it, in the messages of the context (raw), in its summaries, ${automatic === null ? "" : "only in what it recalled by itself (recalled), "}in the context or in ${count(recallTokens)} tokens found by a search on demand; and in the newest messages of the same size (newest).`,
        ]),
    ...(answered === 0
      ? []
      : [
          `words of the answers: ${count(answered)} times a question was asked whose answer is known; the share of the answer's words in all that the context says, in the newest messages of its size, in its summaries alone, with what a search finds on demand, in that alone, and in the messages that answer it and nothing else (oracle). Then these shares for each 1,000 tokens of the text.`,
        ]),
    ...(timeless === 0
      ? []
      : [
          `${timeless === conversations.length ? "No message has" : `In ${several(timeless, "conversation")}, no message has`} a time: no cache expires, and no cooldown passes.`,
        ]),
  ]
}

/** The conversations in one line. */
const titleOf = ({ conversations }: Report): string => {
  const sum = (of: (one: Report["conversations"][number]) => number) =>
    conversations.reduce((total, one) => total + of(one), 0)
  const lasted = sum((one) => one.lasted ?? 0)
  const [only] = conversations
  const subject =
    conversations.length === 1 ? (only?.name ?? "") : several(conversations.length, "conversation")
  return [
    `${subject}: ${several(
      sum((one) => one.messages),
      "message",
    )}`,
    several(
      sum((one) => one.calls),
      "call",
    ),
    ...(lasted === 0 ? [] : [several(Math.ceil(lasted / day), "day")]),
  ].join(", ")
}

/**
 * The report for a terminal.
 *
 * @param report - The report.
 * @param width - The columns of the terminal.
 */
export const screen = (report: Report, width: number): string =>
  [
    ...wrapped(titleOf(report), width, "").map((line) => color.bold(line)),
    ...groupedTable(
      { title: "policy", cells: report.policies.map(({ name }) => name) },
      groupsOf(report),
      width,
    ).flatMap((part) => ["", part]),
    "",
    ...notesOn(report).flatMap((note) => wrapped(note, width, "")),
  ].join("\n")
