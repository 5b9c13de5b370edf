/** Conversations whose messages name the message before them, as exports of ChatGPT and Claude have. */

/** A message in a tree: its own id, and the id of the message before it. */
export interface Node<A> {
  readonly id: string
  readonly parent: string | undefined
  readonly value: A
}

/**
 * The ways through a tree, each from its root to a leaf: first the way to `current`, or to the last leaf where it is no
 * message; then those of the branches that were left, the newest first.
 */
export const waysOf = <A>(
  nodes: ReadonlyArray<Node<A>>,
  current: string | undefined,
): ReadonlyArray<ReadonlyArray<Node<A>>> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Set(nodes.map(({ parent }) => parent))
  const leaves = nodes.filter(({ id }) => !parents.has(id)).toReversed()
  const now = current === undefined ? undefined : byId.get(current)
  const ends = now === undefined ? leaves : [now, ...leaves.filter((leaf) => leaf !== now)]
  return ends.map((end) => {
    const way: Array<Node<A>> = []
    const here = new Set<Node<A>>()
    for (let node: Node<A> | undefined = end; node !== undefined && !here.has(node);) {
      way.push(node)
      here.add(node)
      node = node.parent === undefined ? undefined : byId.get(node.parent)
    }
    return way.toReversed()
  })
}
