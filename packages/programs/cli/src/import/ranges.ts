/** Sets of message indexes as half-open ranges, sorted and merged. */

/** The indexes in `[from, to)`. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The union of ranges, which may overlap and be in any order. */
export const union = (...lists: ReadonlyArray<ReadonlyArray<Range>>): ReadonlyArray<Range> => {
  const found: Array<{ from: number; to: number }> = []
  for (const { from, to } of lists.flat().toSorted((one, other) => one.from - other.from)) {
    const last = found.at(-1)
    if (from >= to) continue
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else found.push({ from, to })
  }
  return found
}

/** The ranges of single indexes. */
export const rangesOf = (indices: Iterable<number>): ReadonlyArray<Range> =>
  union([...indices].map((index) => ({ from: index, to: index + 1 })))

/** The end of the range that contains an index; the index itself if there is none. */
export const runEnd = (ranges: ReadonlyArray<Range>, index: number): number =>
  ranges.find(({ from, to }) => from <= index && index < to)?.to ?? index

/** Whether every index of `inner` is one of `outer`. */
export const contains = (outer: ReadonlyArray<Range>, inner: ReadonlyArray<Range>): boolean =>
  inner.every(({ from, to }) => runEnd(outer, from) >= to)
