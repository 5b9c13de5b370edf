/** The metrics of proxies, as Effect metrics beside those of the memory. None has the id of a session. */
import { Metric, MetricLabel } from "effect"
import type { ProxyRecord } from "./ProxyRecord.js"

const requests = Metric.counter("memfold_proxy_requests", { description: "Requests that a proxy passed on" })
const tokens = Metric.counter("memfold_proxy_tokens", {
  description:
    "Tokens of conversations as they were (before) and as they went upstream (after), and what the upstream charged",
})
const saved = Metric.counter("memfold_proxy_saved_usd", {
  description: "Dollars that the whole histories would have cost more, without what summaries cost",
})

const kinds = ["before", "after", "fresh", "cached", "written", "output"] as const
const tokensOf = kinds.map((kind) => [kind, Metric.tagged(tokens, "kind", kind)] as const)

/** Counts a request. It runs for each of them, and is no effect because of that. */
export const count = ({ doubt, session, ending, tokens: sizes, charged, notStored }: ProxyRecord): void => {
  const outcome = session !== null ? "memory" : doubt === null ? "no conversation" : "as it came"
  requests.unsafeUpdate(1, [
    MetricLabel.make("outcome", outcome),
    MetricLabel.make("reason", doubt ?? notStored ?? "none"),
    MetricLabel.make("ending", ending._tag),
  ])
  saved.unsafeUpdate(charged?.saved ?? 0, [])
  const counted: Partial<Record<(typeof kinds)[number], number>> = { ...sizes, ...charged }
  for (const [kind, metric] of tokensOf) metric.unsafeUpdate(counted[kind] ?? 0, [])
}
