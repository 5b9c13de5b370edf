/** The last line of every test run: how many tests passed, failed and were skipped. */
import type { Reporter, TestModule, TestRunEndReason } from "vitest/node"

export default class CountsReporter implements Reporter {
  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<unknown>,
    reason: TestRunEndReason,
  ): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      // A file that cannot be loaded, or a set-up that fails: none of its tests ran, and that is a failure as well.
      for (const suite of [module, ...module.children.allSuites()]) {
        if (suite.errors().length > 0) counts.failed++
      }
    }
    if (reason === "failed" && counts.failed === 0) counts.failed = 1
    const skipped = counts.skipped + counts.pending
    console.log(`\ntests: ${counts.passed} passed, ${counts.failed} failed, ${skipped} skipped`)
  }
}
