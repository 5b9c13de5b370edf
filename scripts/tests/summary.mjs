/** The last lines of `npm test`: what each group came to, and how many of its tests the cache answered for. */

const none = { passed: 0, failed: 0, skipped: 0, cached: 0 }

const sum = (one, other) => Object.fromEntries(Object.keys(none).map((key) => [key, one[key] + other[key]]))

/**
 * The lines about some test files, and how many tests failed.
 *
 * @param results - the group and the counts of each file; `cached` is how many of its tests ran before
 * @param others - the number of failures outside of test files
 */
export const summary = (results, others) => {
  const byGroup = new Map()
  for (const { group, counts } of results)
    byGroup.set(group, sum(byGroup.get(group) ?? none, { ...none, ...counts }))
  const total = [...byGroup.values()].reduce(sum, { ...none, failed: others })
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
