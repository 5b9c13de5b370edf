/** The prompts of a session, call by call: what a cache could reuse, and what was new. */
import { useMemo } from "preact/hooks"
import { count, short } from "../format.js"
import type { Call } from "../session/calls.js"

const [width, height] = [1_000, 180]
/** The most columns; of calls that share one, the sum counts. */
const mostColumns = 240

interface Column {
  readonly reused: number
  readonly fresh: number
  readonly first: Call
  readonly last: Call
}

/** The calls in columns: of several in one, the means. */
const columnsOf = (calls: ReadonlyArray<Call>): ReadonlyArray<Column> => {
  const step = Math.ceil(calls.length / mostColumns)
  const columns: Array<Column> = []
  for (let at = 0; at < calls.length; at += step) {
    const some = calls.slice(at, at + step)
    const reused = some.reduce((sum, call) => sum + call.reused, 0) / some.length
    const tokens = some.reduce((sum, call) => sum + call.tokens, 0) / some.length
    columns.push({ reused, fresh: tokens - reused, first: some[0]!, last: some.at(-1)! })
  }
  return columns
}

export const CallChart = ({
  calls,
  version,
  choose,
}: {
  readonly calls: ReadonlyArray<Call>
  readonly version: number
  readonly choose: (version: number) => void
}) => {
  const columns = useMemo(() => columnsOf(calls), [calls])
  const most = Math.max(1, ...columns.map(({ reused, fresh }) => reused + fresh))
  const size = width / columns.length
  const up = (tokens: number) => (tokens / most) * height
  const total = calls.reduce((sum, { tokens }) => sum + tokens, 0)
  const reused = calls.reduce((sum, { reused }) => sum + reused, 0)
  return (
    <figure class="chart">
      <figcaption>
        <ul class="legend">
          <li>
            <i class="reused" /> reusable
          </li>
          <li>
            <i class="fresh" /> new
          </li>
          <li class="soft">largest prompt: {short(most)} tokens</li>
        </ul>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${count(calls.length)} calls with ${count(total)} prompt tokens, ${count(reused)} of them reusable`}
        onClick={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect()
          const column = columns[Math.floor(((event.clientX - left) / width) * columns.length)]
          if (column !== undefined) choose(column.last.version)
        }}
      >
        {columns.map(({ reused, fresh, first, last }, at) => (
          <g key={first.version} class={first.version <= version && version <= last.version ? "chosen" : ""}>
            <rect
              class="reused"
              x={at * size}
              width={size * 0.86}
              y={height - up(reused)}
              height={up(reused)}
            />
            <rect
              class="fresh"
              x={at * size}
              width={size * 0.86}
              y={height - up(reused + fresh)}
              height={up(fresh)}
            />
          </g>
        ))}
      </svg>
    </figure>
  )
}
