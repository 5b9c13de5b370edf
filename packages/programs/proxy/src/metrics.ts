/** The metrics of proxies, as Effect metrics beside those of the memory. None has the id of a session. */
import { Effect, Metric } from "effect"
import type { ProxyRecord } from "./ProxyRecord.js"

const requests = Metric.counter("memfold_proxy_requests", { description: "Requests that a proxy passed on" })
const tokens = Metric.counter("memfold_proxy_tokens", {
  description:
    "Tokens of conversations as they were (before) and as they went upstream (after), and what the upstream charged",
})
const saved = Metric.counter("memfold_proxy_saved_usd", {
  description: "Dollars that the whole histories would have cost more, without what summaries cost",
})

/** Counts a request. */
export const count = ({ doubt, session, ending, tokens: sizes, charged }: ProxyRecord): void => {
  const outcome = session !== null ? "memory" : doubt === null ? "no conversation" : "as it came"
  const labelled = requests.pipe(
    Metric.tagged("outcome", outcome),
    Metric.tagged("reason", doubt ?? "none"),
    Metric.tagged("ending", ending._tag),
  )
  const { before = 0, after = 0 } = sizes ?? {}
  const { fresh = 0, cached = 0, written = 0, output = 0 } = charged ?? {}
  const kinds = Object.entries({ before, after, fresh, cached, written, output })
  Effect.runSync(
    Effect.all([
      Metric.increment(labelled),
      Metric.incrementBy(saved, charged?.saved ?? 0),
      ...kinds.map(([kind, value]) => Metric.incrementBy(Metric.tagged(tokens, "kind", kind), value)),
    ]),
  )
}
