/** The last lines of every test run: the seed of its generated inputs; how many tests passed, failed and were skipped. */
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node"

export default class CountsReporter implements Reporter {
  private seed: unknown

  onInit(vitest: Vitest): void {
    this.seed = vitest.config.provide.seed
  }

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
    console.log(
      `\ngenerated inputs: seed ${String(this.seed)}; MEMFOLD_SEED=${String(this.seed)} repeats them`,
    )
    console.log(`tests: ${counts.passed} passed, ${counts.failed} failed, ${skipped} skipped`)
  }
}
