/**
 * The one walker of conversations that other programs recorded. A conversation is a log of entries, which branches where the
 * user went back. A format says what an entry is; the walker finds the branches, and reads what was said on each.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import type {
  Compacted,
  Compaction,
  EntryFormat,
  Log,
  Reader,
  Reading,
  StoredConversation,
  Unreadable,
} from "./EntryFormat.js"
import { leftOutOf } from "./leftOut.js"
import { isObject, type JsonObject, type Problem, type Row, rowsOf, type Source } from "./source.js"

interface Node<A> {
  row: Row<A>
  readonly parent: Node<A> | undefined
  /** What was said before it. */
  readonly before: Node<A> | undefined
  readonly order: number
  /** The first entry of its conversation beside the user's. */
  side?: Node<A> | undefined
  /** The first entry of its message. */
  message?: Node<A>
}

const wayTo = <A>(end: Node<A> | undefined): ReadonlyArray<Node<A>> => {
  const way: Array<Node<A>> = []
  for (let node = end; node !== undefined; node = node.parent) way.push(node)
  return way.toReversed()
}

const behindParents = <A>(
  rows: ReadonlyArray<Row<A>>,
  { id, parent }: EntryFormat<A>,
): ReadonlyArray<Row<A>> => {
  const byId = new Map(rows.toReversed().map((row) => [id?.(row.value), row]))
  const all = new Set<Row<A>>()
  for (const start of rows) {
    const way = new Set<Row<A>>()
    for (let row: Row<A> | undefined = start; row !== undefined && !all.has(row) && !way.has(row);) {
      way.add(row)
      const named: string | undefined = parent?.(row.value) ?? undefined
      row = named === undefined ? undefined : byId.get(named)
    }
    for (const row of [...way].toReversed()) all.add(row)
  }
  return [...all]
}

/**
 * The entries in their places. A parent stands earlier in the file, and not before a compaction, which covers what was said until then.
 * Where the named one does not, the log is damaged: the entry follows the one before it.
 */
const placed = <A>(
  rows: ReadonlyArray<Row<A>>,
  format: EntryFormat<A>,
): { readonly nodes: ReadonlyArray<Node<A>>; readonly end: Node<A> | undefined } => {
  const nodes: Array<Node<A>> = []
  const byId = new Map<string, Node<A>>()
  /** The newest entry of the user's conversation, and of each beside it. */
  const last = new Map<string | undefined, Node<A> | undefined>()
  /** The newest compaction that nobody goes back over. */
  let compacted = -1
  /** Where the conversation stands if the newest entries were taken back, and nothing was said since. */
  let end: Node<A> | undefined
  const parentOf = (side: string | undefined, named: string | null | undefined): Node<A> | undefined => {
    if (named === null) return undefined
    const found = named === undefined ? undefined : byId.get(named)
    if (found === undefined) return last.get(side)
    if (side !== undefined) return found.side === undefined ? undefined : found
    return found.side === undefined && found.order >= compacted ? found : last.get(undefined)
  }
  for (const row of format.isTree === true ? behindParents(rows, format) : rows) {
    const { value } = row
    const first = format.takesBack?.(value, () => wayTo(last.get(undefined)).map((node) => node.row.value))
    if (first !== undefined) {
      const way = wayTo(last.get(undefined))
      const kept = way.findIndex((node) => node.row.value === first)
      for (const node of way.slice(kept)) byId.delete(format.id?.(node.row.value) ?? "")
      end = way[kept - 1]
      last.set(undefined, end)
    }
    const id = format.id?.(value)
    const known = id === undefined ? undefined : byId.get(id)
    const again = known === undefined ? "other" : format.again?.(known.row.value, value)
    if (again === "newer") known!.row = row
    if (again === "newer" || again === "same") continue
    const side = format.side?.(value)
    const isMain = side === undefined
    const isCompaction = isMain && format.compaction?.(value, () => []) !== undefined
    const parent = parentOf(side, format.parent?.(value))
    const before = parent === undefined || isSaid(format, parent) ? parent : parent.before
    const joins =
      before !== undefined &&
      format.isSaid?.(value) !== false &&
      format.joins?.(before.row.value, value) === true
    const node: Node<A> = { row, parent, before, order: nodes.length }
    node.side = isMain ? undefined : (parent?.side ?? node)
    node.message = joins ? before.message! : node
    nodes.push(node)
    last.set(side, node)
    if (isMain && isSaid(format, node)) end = undefined
    if (id !== undefined) byId.set(id, node)
    if (isCompaction && format.goesBackOverCompactions !== true) compacted = node.order
  }
  return { nodes, end }
}

const isSaid = <A>({ isSaid = () => true }: EntryFormat<A>, { row }: Node<A>): boolean => isSaid(row.value)

/**
 * The ways through a conversation, each from its start to where it ends: first to where it stands, then those that were left,
 * the newest first. What goes on beside a way belongs to it, too.
 */
const waysOf = <A>(
  nodes: ReadonlyArray<Node<A>>,
  format: EntryFormat<A>,
  current: Node<A> | undefined,
): ReadonlyArray<ReadonlyArray<Node<A>>> => {
  const rest = new Set(nodes.filter((node) => isSaid(format, node)))
  const before = new Set<Node<A>>()
  for (const said of rest)
    for (let node: Node<A> | undefined = said; node !== undefined && !before.has(node); node = node.parent)
      before.add(node)
  const ends = [...rest].filter((node) => node !== current).toReversed()
  return (current === undefined ? ends : [current, ...ends]).flatMap((end) => {
    if (end !== current && !rest.has(end)) return []
    const way = new Set(wayTo(end))
    for (const node of nodes) {
      const goesOn = node.message !== node && way.has(node.message!)
      // Behind what was said last, as a compaction before the next prompt.
      const isLast = !before.has(node)
      const isBeside = goesOn || isLast || format.isBeside?.(node.row.value) === true
      if (isBeside && node.parent !== undefined && way.has(node.parent)) way.add(node)
    }
    for (const node of way) rest.delete(node)
    return [nodes.filter((node) => way.has(node))]
  })
}

/** What was said before a node, the newest first. */
function* saidBefore<A>({ before }: Node<A>): Generator<A, void, void> {
  for (let node = before; node !== undefined; node = node.before) yield node.row.value
}

/** The elements of a list by a key, in their order. */
export const groupedBy = <A, K>(list: ReadonlyArray<A>, key: (one: A) => K): Map<K, Array<A>> => {
  const groups = new Map<K, Array<A>>()
  for (const one of list) {
    const at = key(one)
    const group = groups.get(at)
    if (group === undefined) groups.set(at, [one])
    else group.push(one)
  }
  return groups
}

/** Reads a way, up to the first entry that cannot be read, or without those that cannot. */
const readWay = <A>(
  way: ReadonlyArray<Node<A>>,
  format: EntryFormat<A>,
  { broken, damaged: lines = [], skips }: Pick<Log<A>, "broken" | "damaged"> & { readonly skips: boolean },
): Reading => {
  const damaged = [...lines]
  const messages: Array<Message.Message> = []
  const compactions: Array<Compaction> = []
  const ofMessage = groupedBy(way, ({ message }) => message)
  /** How many messages there are before an entry, by its id and its index in the file. */
  const places = new Map<string | number | undefined, number>()
  /** The newest compaction, as long as its summary is still to come. */
  let open: Compacted | undefined
  for (const [at, node] of way.entries()) {
    const { value } = node.row
    const own = node.message === node ? (ofMessage.get(node) ?? []) : []
    for (const { row, order } of own) {
      places.set(order, messages.length)
      places.set(format.id?.(row.value), messages.length)
    }
    const compacted = format.compaction?.(value, () => way.slice(0, at).map(({ row }) => row.value))
    if (compacted !== undefined) {
      const announced = compacted.isRest === true ? open : undefined
      const { isRest: _, keeps = announced?.keeps, summary, ...rest } = compacted
      const to = keeps === undefined ? undefined : places.get(keeps)
      // Where what was kept is nowhere, nobody knows what the summary covers.
      const known = keeps === undefined || (to !== undefined && to > 0) ? summary : undefined
      const made = Object.entries({ to, summary: known, ...rest }).filter(([, one]) => one !== undefined)
      // A compaction that is in two entries, where it happened and what it wrote, is one.
      const [last] = announced === undefined ? [] : compactions.splice(-1)
      compactions.push({ after: messages.length, ...Object.fromEntries(made), ...last })
      open = summary === undefined ? compacted : undefined
    }
    if (own.length === 0 || !isSaid(format, node)) continue
    const said = format.says(
      own.map(({ row }) => row.value) as unknown as readonly [A, ...Array<A>],
      saidBefore(node),
    )
    if (Either.isRight(said)) {
      messages.push(...said.right)
      continue
    }
    const problem = problemAt(node.row, format, said.left)
    if (!skips) return { messages, broken: problem, compactions, damaged }
    damaged.push(problem)
  }
  return { messages, broken, compactions, damaged }
}

const problemAt = <A>(
  { line, index }: Row<A>,
  { noun = "message" }: EntryFormat<A>,
  { subject = index === undefined ? `the ${noun}` : `${noun} ${index}`, problem, allowed }: Unreadable,
): Problem => ({
  ...(line === undefined ? {} : { line }),
  problem: `${subject} ${problem}`,
  ...(allowed === undefined ? {} : { allowed }),
})

const nothing = (broken: Problem): Reading => ({ messages: [], broken })

/** A value that is made when it is first asked for. */
const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** The conversations of logs; the branches that were left behind all of them, so that numbers stay when one is left. */
export const conversationsOf = <A>(
  logs: ReadonlyArray<Log<A>>,
  format: EntryFormat<A>,
  { rows: all, skips, damaged }: Source,
): ReadonlyArray<StoredConversation> => {
  const found = logs.flatMap((one, at) => {
    const log = { damaged: at === 0 ? damaged : [], ...one }
    const { id, rows, current, raw = all } = log
    const { nodes, end } = placed(rows, format)
    const now = current === undefined ? end : nodes.find(({ row }) => format.id?.(row.value) === current)
    const sides = groupedBy(nodes, ({ side }) => side)
    const main = waysOf(sides.get(undefined) ?? [], format, now)
    sides.delete(undefined)
    const beside = [...sides.values()].map((side) => waysOf(side, format, undefined))
    const talks =
      main.length === 0 && beside.length > 0 ? beside : [main.length === 0 ? [[]] : main, ...beside]
    const read = talks.map((ways) => ways.map((way) => once(() => readWay(way, format, { ...log, skips }))))
    // What a log has beside its conversations belongs to the first of them.
    const leftOut = once(() =>
      leftOutOf(
        raw,
        read
          .flat()
          .flatMap((one) => [one().messages, (one().compactions ?? []).map(({ summary }) => summary)]),
        format.notSaid ?? [],
      ),
    )
    return read.map((ways, at) => ({
      ways,
      about: { leftOut: at === 0 ? leftOut : () => [], ...(id === undefined || at > 0 ? {} : { id }) },
    }))
  })
  return [
    ...found.map(({ ways, about }) => ({ ...about, read: ways[0]! })),
    ...found.flatMap(({ ways }, branchOf) =>
      ways.slice(1).map((read) => ({ branchOf, read, leftOut: () => [] })),
    ),
  ]
}

/**
 * A reader of a format.
 *
 * - `logs`: the logs of a file, or the problem with one that has none
 */
export const readerOf = <A>({
  logs,
  recognizes,
  ...format
}: EntryFormat<A> & {
  readonly recognizes: (source: Source) => boolean
  readonly logs: (source: Source) => Either.Either<ReadonlyArray<Log<A>>, Problem>
}): Reader => ({
  notSaid: format.notSaid ?? [],
  hasBranches: format.parent !== undefined || format.takesBack !== undefined,
  hasCompactions: format.compaction !== undefined,
  recognizes,
  find: (source) =>
    Either.match(logs(source), {
      onLeft: (problem) => [{ read: () => nothing(problem), leftOut: () => [] }],
      onRight: (found) => conversationsOf(found, format, source),
    }),
})

/** The logs of a file that has a whole conversation in each object. The line that is broken is one that nobody can read. */
export const wholeLogs = <A>(
  source: Source,
  logOf: (value: JsonObject) => Log<A> | undefined,
  none: Problem,
): Either.Either<ReadonlyArray<Log<A>>, Problem> => {
  // An object without a conversation has none that can be read: what it says is named as left out.
  const { document, rows } = source
  const found = Array.isArray(document) ? rowsOf(document) : rows
  const logs = found.flatMap((row) =>
    isObject(row.value) ? [{ raw: [row], ...(logOf(row.value) ?? { rows: [] }) }] : [],
  )
  if (logs.every(({ rows }) => rows.length === 0)) return Either.left(none)
  const { broken } = source
  return Either.right(broken === undefined ? logs : [...logs, { rows: [], raw: [], broken }])
}

/** The log of a file with an entry a line, up to a line that is none. */
export const linesIn = <A>(
  { rows, broken, skips, damaged }: Source,
  read: (value: unknown) => A,
  wrong: "has no type" | "is no object" = "has no type",
): Log<A> => {
  const isEntry = ({ value }: Row): boolean =>
    isObject(value) && (wrong === "is no object" || typeof value["type"] === "string")
  const wrongAt = ({ line = 1 }: Row): Problem => ({
    line,
    problem: `the entry ${wrong}`,
    allowed: 'an object with "type"',
  })
  const end = skips ? -1 : rows.findIndex((row) => !isEntry(row))
  return {
    rows: rows
      .slice(0, end === -1 ? rows.length : end)
      .filter(isEntry)
      .map((row) => ({ ...row, value: read(row.value) })),
    broken: end === -1 ? broken : wrongAt(rows[end]!),
    damaged: [...damaged, ...rows.filter((row) => skips && !isEntry(row)).map(wrongAt)],
  }
}
