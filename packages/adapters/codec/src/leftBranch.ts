/** Whether a conversation went on from an earlier place while a model answered. */
import type { Memory } from "@memfold/core"
import { Schema } from "effect"

/**
 * While a model answered, the conversation went on from an earlier place: the user edited the question, or asked for another
 * answer. The rest of the first answer is not stored, and its tools are not called again.
 */
export class BranchLeft extends Schema.TaggedError<BranchLeft>()("BranchLeft", {
  session: Schema.String,
}) {
  /** The session and what happened, in words. */
  override get message(): string {
    return `Session "${this.session}": the conversation went on from an earlier place while the model answered; this answer ends here`
  }
}

/** Where a call of a model stands. */
export interface PlaceOfCall {
  /** The id of the branch that it answers on. */
  readonly branch: number
  /** How many messages the branch had when the model was asked last: the answer stands behind them. */
  readonly total: number
}

/**
 * Whether what a call produces belongs to no message any more that the conversation has: the user edited the question, or asked
 * for another answer.
 *
 * @param branches - the branches of the session, as `branches` of the memory lists them: the branch in force first
 *
 * @example
 * ```ts
 * import { isLeft } from "@memfold/codec"
 *
 * const first = { id: 0, parent: null, from: 0, total: 1, leftAt: 0 }
 * const edited = { id: 2, parent: 0, from: 0, total: 1, leftAt: null }
 * console.log(isLeft([edited, first], { branch: 0, total: 1 })) // true
 * ```
 */
export const isLeft = (
  branches: ReadonlyArray<Memory.BranchInfo>,
  { branch, total }: PlaceOfCall,
): boolean => {
  let [at] = branches
  while (at !== undefined && at.id !== branch && at.from >= total) {
    const { parent } = at
    at = branches.find(({ id }) => id === parent)
  }
  return at?.id !== branch
}
