/** The size of a summary in a context. */
import { messageOverhead, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import type { Files, Segment } from "../summary/Summary.js"
import { texts, type Wording } from "../summary/Wording.js"

/** The tokens of a summary in a context, wording included: in the larger form, so that a trigger is never late. */
export const summarySize = (
  counter: TokenCounter,
  wording: Wording,
  summary: { readonly segments: ReadonlyArray<Segment>; readonly files: Files },
): number => {
  const written = texts(wording, summary)
  if (written.length === 0) return 0
  const counted = written.reduce((sum, one) => sum + counter.count(one), 0)
  const ofProvider = summary.segments[0]?.providerData?.tokens ?? 0
  return Math.max(counted, ofProvider) + written.length * messageOverhead
}
