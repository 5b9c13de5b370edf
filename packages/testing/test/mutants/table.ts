/** The page of mutants: what was wrong, which law found it, and after how many runs. */

export interface Row {
  readonly part: string
  readonly name: string
  readonly law: string
  readonly runs: number
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
    const body = mine.map(({ name, law, runs }) => [name, law, String(runs)])
    return `## ${kind[0]?.toUpperCase()}${kind.slice(1)} that …\n\n${table([["fault", "found by", "runs"], ...body])}\n`
  })
  return `# Faults, and the laws that find them

A law that nothing can break says nothing. Each of these ${rows.length} parts has one fault, put in on purpose; each is found by the
law that names it, in at most 200 runs, or 1,500 for rare ones. The engines are this one with a line changed, found by
the simulation; there a run is a seed, and \`liveness\` is something that never ends. Written by
\`packages/testing/test/mutants\`; a mutant that is not found any more fails the tests.

${sections.join("\n")}`
}
