/** The other versions of a message: what an edit or another answer has left behind on a branch. */

/** A branch of the conversation, as `memory.branches` lists it. */
export interface Branch {
  readonly id: number
  readonly parent: number | null
  /** The index of the message at which it left its parent. */
  readonly from: number
  /** How many messages it has, from the first one on. */
  readonly total: number
  /** `null` for the branch in force. */
  readonly leftAt: number | null
}

/** The versions of a message: the branch to open for each, and which of them is shown. */
export interface Versions {
  readonly branches: ReadonlyArray<number>
  readonly shown: number
}

/** The versions of the message at an index of the branch in force. */
export const versionsOf = (all: ReadonlyArray<Branch>, index: number): Versions => {
  const byId = new Map(all.map((branch) => [branch.id, branch]))
  /** The branch on which a branch has its message at an index: itself, or one that it comes from. */
  const origin = (branch: Branch, at: number): number => {
    const parent = branch.parent === null ? undefined : byId.get(branch.parent)
    return at >= branch.from || parent === undefined ? branch.id : origin(parent, at)
  }
  const current = all.find(({ leftAt }) => leftAt === null)
  if (current === undefined) return { branches: [], shown: 0 }
  // Newest first: of each version, the branch that was used last.
  const newest = new Map<number, number>([[origin(current, index), current.id]])
  for (const branch of all) {
    if (branch.total <= index || (index > 0 && origin(branch, index - 1) !== origin(current, index - 1)))
      continue
    const version = origin(branch, index)
    if (!newest.has(version)) newest.set(version, branch.id)
  }
  const versions = [...newest].toSorted(([one], [other]) => one - other)
  return {
    branches: versions.map(([, branch]) => branch),
    shown: versions.findIndex(([, branch]) => branch === current.id),
  }
}
