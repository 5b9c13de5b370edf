/** The report as a page: one file with curves and tables, without scripts and without anything from elsewhere. */
import type { PolicyReport, Report } from "../report.js"
import { contextCurves } from "./contextCurves.js"
import { costAgainstKept } from "./costAgainstKept.js"
import { costBars, costParts } from "./costBars.js"
import { style } from "./style.js"
import { at, count, escaped } from "./svg.js"

/** The contexts are drawn for this many conversations: the conversations with the most calls. */
const mostDrawn = 3

interface Column {
  readonly title: string
  readonly of: (policy: PolicyReport) => string
}

const column = (title: string, of: Column["of"]): Column => ({ title, of })

const shown = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : at(value)

const percent = (share: number | null | undefined): string => shown(share && 100 * share)

/** The tokens that contexts recall by themselves; `null` where no policy has automatic recall. */
const automaticIn = (policies: ReadonlyArray<PolicyReport>): number | null =>
  policies.find(({ automaticRecall }) => automaticRecall !== null)?.automaticRecall ?? null

/** What contexts with automatic recall show. */
const automaticText = ({ policies }: Report): string => {
  const tokens = automaticIn(policies)
  return tokens === null
    ? ""
    : ` With automatic recall, each context also shows earlier messages that fit the newest user message, of at most ${count(tokens)} tokens.`
}

const columnsOf = ({ prices, policies, recallTokens }: Report): ReadonlyArray<Column> => [
  ...prices.flatMap(({ model }, price) => [
    column(`cost, ${model}`, ({ costs }) => shown(costs[price]?.share?.total)),
    column("dollars", ({ costs }) => (costs[price]?.dollars.total ?? 0).toFixed(4)),
    column("from the cache, %", ({ costs }) => percent(costs[price]?.cached)),
  ]),
  column("mean context", (policy) => count(policy.meanContext)),
  column("largest", (policy) => count(policy.largestContext)),
  column("compactions", (policy) => count(policy.compactions)),
  ...(policies.some(({ failures }) => failures > 0)
    ? [column("failed", (policy) => count(policy.failures))]
    : []),
  ...(policies[0]?.identifiers.needed === 0
    ? []
    : [column("needed identifiers, %", ({ identifiers: { there, needed } }) => percent(there / needed))]),
  ...(policies[0]?.evidence == null
    ? []
    : [
        column("evidence raw, %", ({ evidence }) => percent(evidence?.raw)),
        column("in summaries, %", ({ evidence }) => percent(evidence?.inSummaries)),
        ...(automaticIn(policies) === null
          ? []
          : [column("recalled, %", ({ evidence }) => percent(evidence?.recalled))]),
        column(`with ${count(recallTokens)} on demand, %`, ({ evidence }) => percent(evidence?.withRecall)),
        column("newest messages, %", ({ evidence }) => percent(evidence?.newest)),
      ]),
]

const tableOf = (report: Report): string => {
  const columns = columnsOf(report)
  const head = columns.map(({ title }) => `<th scope="col">${escaped(title)}</th>`).join("")
  const rows = report.policies.map(
    (policy) =>
      `<tr><th scope="row">${escaped(policy.name)}</th>${columns.map(({ of }) => `<td>${escaped(of(policy))}</td>`).join("")}</tr>`,
  )
  return `<div class="wide"><table><thead><tr><th scope="col">policy</th>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`
}

const legend = `<p class="legend">${costParts
  .map(({ part, name }) => `<span><i class="${part}"></i>${name}</span>`)
  .join("")}</p>`

/** What is on the vertical axis of the curves. */
const keptText = ({ policies, recallTokens }: Report): string => {
  const [full] = policies
  return full?.evidence === null || full?.evidence === undefined
    ? `Up: the share of ${count(full?.identifiers.needed ?? 0)} identifiers that an answer used and that were not said shortly before, in the context when they were needed, in percent.`
    : `Up: the share of the sentences that answer ${count(full.evidence.asked)} questions, in the context when they are asked, in percent. Hollow: with ${count(recallTokens)} tokens found by a search on demand, which is one more call, and is not in the cost.`
}

/**
 * A report as a page that opens offline, in one file: what each policy costs in parts, cost against what is kept, and the
 * size of the context from call to call. Names are escaped; the page has no script and loads nothing.
 *
 * @param report - The report of a run.
 * @returns the HTML of the page
 *
 * @example
 * ```ts
 * import { page, type Report } from "@memfold/lab"
 * import { writeFileSync } from "node:fs"
 *
 * export const save = (report: Report): void => writeFileSync("lab.html", page(report))
 * ```
 */
export const page = (report: Report): string => {
  const { prices, conversations, policies } = report
  const sum = (of: (one: Report["conversations"][number]) => number) =>
    conversations.reduce((total, one) => total + of(one), 0)
  const [first] = conversations
  const subject =
    conversations.length === 1 ? (first?.name ?? "") : `${count(conversations.length)} conversations`
  const against = prices.map((_, price) => costAgainstKept(report, price))
  const drawn = conversations
    .map((conversation, position) => ({ ...conversation, position }))
    .toSorted((one, other) => other.calls - one.calls || one.position - other.position)
    .slice(0, mostDrawn)
    .filter(({ calls }) => calls > 1)
  const figures = (pictures: ReadonlyArray<string | null>) =>
    `<div class="pair">${pictures
      .map((picture, price) =>
        picture === null
          ? ""
          : `<figure><figcaption>${escaped(prices[price]?.model ?? "")}<small>prices of ${escaped(prices[price]?.asOf ?? "")}</small></figcaption>${picture}</figure>`,
      )
      .join("")}</div>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>memfold lab: ${escaped(subject)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>memfold lab</h1>
<p>${escaped(subject)}: ${count(sum((one) => one.messages))} messages, ${count(sum((one) => one.calls))} calls of the model, ${policies.length - 1} policies against the full history. No model answered anything: the page says what calls cost and what was in the context, not how good the answers were.</p>
</header>
<section>
<h2>Cost</h2>
<p>All calls, summaries paid, without the answers of the model. The full history is 100${conversations.length > 1 ? "; each conversation counts the same" : ""}.${automaticText(report)}</p>
${legend}
${figures(prices.map((_, price) => costBars(report, price)))}
</section>
${
  against.every((picture) => picture === null)
    ? ""
    : `<section>
<h2>Cost against what is kept</h2>
<p>Left and up is better. The curve connects the policies that no other one beats in both. ${escaped(keptText(report))}</p>
${figures(against)}
</section>`
}
${drawn
  .map(
    ({ name, position, calls }) => `<section>
<h2>Contexts of ${escaped(name)}</h2>
<p>Tokens of the context in each of ${count(calls)} calls. Grey: the full history.</p>
${contextCurves(report, position)}
</section>`,
  )
  .join("\n")}
<section>
<h2>Numbers</h2>
${tableOf(report)}
</section>
</body>
</html>
`
}
