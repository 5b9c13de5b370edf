/** The branches that a conversation has left: a model may still answer on one, and a page may still show one. */
import type { Memory, Message } from "@memfold/core"
import { Schema } from "effect"
import { pagesBack } from "./pagesBack.js"

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

/** How many messages of a branch the branch in force has, too. */
const sharedWith = (branches: ReadonlyArray<Memory.BranchInfo>, left: Memory.BranchInfo): number => {
  const parentOf = ({ parent }: Memory.BranchInfo) => branches.find(({ id }) => id === parent)
  /** How many messages the branch in force has of itself, and of those that it comes from. */
  const own = new Map<number, number>()
  let shared = Number.POSITIVE_INFINITY
  for (let at = branches[0]; at !== undefined; at = parentOf(at)) {
    own.set(at.id, shared)
    shared = Math.min(shared, at.from)
  }
  shared = left.total
  let at: Memory.BranchInfo | undefined = left
  for (; at !== undefined && !own.has(at.id); at = parentOf(at)) shared = Math.min(shared, at.from)
  return at === undefined ? 0 : Math.min(shared, own.get(at.id)!)
}

/** The newest left branch with a message that the branch in force does not have; `undefined` if no branch has the message. */
export const branchWith = async (
  memory: Pick<Memory.Neutral, "branches" | "messages">,
  session: string,
  isWanted: (message: Message.Message, index: number) => boolean,
): Promise<number | undefined> => {
  const branches = await memory.branches(session)
  for (const left of branches.slice(1)) {
    const shared = sharedWith(branches, left)
    for await (const { messages, from } of pagesBack(memory, session, { limit: 500, branch: left.id })) {
      if (messages.some((message, at) => from + at >= shared && isWanted(message, from + at))) return left.id
      if (from <= shared) break
    }
  }
  return undefined
}
