/** The size of a summary in a context. */
import { messageOverhead, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import type { Files, Segment } from "../summary/Summary.js"
import { type Piece, written, type Wording, type WrittenText } from "../summary/Wording.js"

/** What segments were counted as, by the words around them: blocks are carried from summary to summary, and are counted once. */
const counted = new WeakMap<
  Segment,
  { readonly counter: TokenCounter; readonly sizes: Map<string, number> }
>()

const tokensOf = (counter: TokenCounter, { segment, before, text, behind }: Piece<Segment>): number => {
  const count = () => counter.count(before + text + behind)
  if (segment === null) return count()
  const found = counted.get(segment)
  const known = found?.counter === counter ? found : { counter, sizes: new Map<string, number>() }
  const around = before === "" && behind === "" ? "" : JSON.stringify([before, behind])
  const tokens = known.sizes.get(around) ?? count()
  known.sizes.set(around, tokens)
  if (known !== found) counted.set(segment, known)
  return tokens
}

interface Content {
  readonly segments: ReadonlyArray<Segment>
  readonly files?: Files
}

const sizeOf = (counter: TokenCounter, texts: ReadonlyArray<WrittenText<Segment>>): number =>
  texts.reduce((sum, { pieces }) => pieces.reduce((size, piece) => size + tokensOf(counter, piece), sum), 0)

/** The tokens of the texts of a summary, without what a message takes besides: the sum of its pieces, each counted by itself. */
export const textSize = (counter: TokenCounter, wording: Wording, summary: Content): number =>
  sizeOf(counter, written(wording, summary))

/** The tokens of a summary in a context, wording included: in the larger form, so that a trigger is never late. */
export const summarySize = (counter: TokenCounter, wording: Wording, summary: Content): number => {
  const texts = written(wording, summary)
  if (texts.length === 0) return 0
  const ofProvider = summary.segments[0]?.providerData?.tokens ?? 0
  return Math.max(sizeOf(counter, texts), ofProvider) + texts.length * messageOverhead
}
