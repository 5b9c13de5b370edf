/** A preview as the response has it. */
import type { Formats } from "@memfold/catalog"
import type { schemas } from "@memfold/client/api"
import type { Memory, Summary } from "@memfold/core"
import { Effect } from "effect"
import { contextIn } from "./contexts.js"

const segment = ({ kind, from, to, text }: Summary.Segment): schemas.Segment => ({ kind, from, to, text })

const compaction = ({
  outcome,
  replaced,
}: Memory.PreviewedCompaction): schemas.Previewed["compactions"][number] => {
  const { reason, from, to, tailFrom, parts } = outcome.started
  const committed = outcome._tag === "Committed" ? outcome.committed : null
  const pruned = outcome._tag === "Failed" ? null : outcome.pruned
  return {
    outcome: outcome._tag,
    reason,
    ...(outcome._tag === "Failed" ? { failure: outcome.error.message } : {}),
    from,
    to: committed?.coveredTo ?? to,
    tailFrom,
    parts,
    segments: committed?.segments.map(segment) ?? [],
    carried: committed?.carried ?? 0,
    pruned: [...new Set(pruned?.outputs.map(({ index }) => index) ?? [])],
    replaced: { ...replaced, segments: replaced.segments.map(segment) },
    tokensBefore: committed?.tokensBefore ?? null,
    tokensAfter: committed?.tokensAfter ?? null,
  }
}

export const previewed = (
  { compactions, before, after, ...preview }: Memory.Preview,
  format: keyof Formats,
): Effect.Effect<schemas.Previewed> =>
  Effect.map(
    Effect.all({ before: contextIn(format, before), after: contextIn(format, after) }),
    (contexts) => ({ ...preview, compactions: compactions.map(compaction), ...contexts }),
  )
