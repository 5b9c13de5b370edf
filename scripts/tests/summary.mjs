/** The last lines of `npm test`: what each group came to, and how many of its tests the cache answered for. */
import { existsSync, readFileSync } from "node:fs"

const none = { passed: 0, failed: 0, skipped: 0, cached: 0 }

const sum = (one, other) => Object.fromEntries(Object.keys(none).map((key) => [key, one[key] + other[key]]))

/** What a task came to. A task without counts has ended before its tests did, which is a failure. */
const outcomeOf = (file, run) => {
  if (!existsSync(file)) return { ...none, failed: 1 }
  const counts = JSON.parse(readFileSync(file, "utf8"))
  return { ...none, ...counts, cached: counts.run === run ? 0 : counts.passed }
}

/** The lines about the tasks of a run; the tests that failed. */
export const summary = (tasks, run) => {
  const byGroup = new Map()
  for (const { group, file } of tasks)
    byGroup.set(group, sum(byGroup.get(group) ?? none, outcomeOf(file, run)))
  const total = [...byGroup.values()].reduce(sum, none)
  const rows = [...byGroup].map(
    ([group, { passed, failed, cached }]) =>
      `  ${group.padEnd(11)}${String(passed).padStart(6)} passed${failed === 0 ? "" : `, ${failed} failed`}${
        cached === 0 ? "" : `, ${cached === passed ? "all" : cached} from the cache`
      }`,
  )
  const cached =
    total.cached === 0
      ? []
      : [
          `${total.cached} of these tests passed before, and nothing that they rest on has changed since; npm test -- --no-cache runs them`,
        ]
  return {
    failed: total.failed,
    lines: [
      ...rows,
      ...cached,
      `tests: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`,
    ],
  }
}
