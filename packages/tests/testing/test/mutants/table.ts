/** The page of mutants: each fault, and the law that finds it. */

export interface Row {
  readonly part: string
  readonly name: string
  readonly law: string
}

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const [head = [], ...body] = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

/** All that was found, a table for each kind of part. */
export const page = (rows: ReadonlyArray<Row>): string => {
  const kinds = [...new Set(rows.map(({ part }) => part))]
  const sections = kinds.map((kind) => {
    const mine = rows.filter(({ part }) => part === kind)
    const body = mine.map(({ name, law }) => [name, law])
    return `## ${kind[0]?.toUpperCase()}${kind.slice(1)} that …\n\n${table([["fault", "found by"], ...body])}\n`
  })
  return `# Faults, and the laws that find them

A law that nothing can break says nothing. Each of these ${rows.length} parts has one deliberate fault, and the law beside it finds
the fault in at most 200 runs, or 1,500 for rare ones. The engines are copies of the real one with one line changed; the
simulation finds their faults, and there a run is a seed; the laws of a memory find the faults of branches and of origins, and tests of the service and of the codecs those of a service and of an adapter, by their names. \`liveness\` means that something never ends.
\`packages/tests/testing/test/mutants\` writes this page and fails if a fault is not found.

${sections.join("\n")}`
}
