/**
 * The last lines of a run of Vitest: the seed of its generated inputs; how many tests passed, failed and were skipped. A task of turbo
 * keeps its counts in a file as well, from which `summary.mjs` makes the last lines of `npm test`.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node"

const [, task] = /^test:(.+)$/u.exec(process.env["npm_lifecycle_event"] ?? "") ?? []

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
    const { passed, failed } = counts
    const skipped = counts.skipped + counts.pending
    if (task === undefined) {
      console.log(
        `\ngenerated inputs: seed ${String(this.seed)}; MEMFOLD_SEED=${String(this.seed)} repeats them`,
      )
      console.log(`tests: ${passed} passed, ${failed} failed, ${skipped} skipped`)
    } else {
      // The folder of the task's package, in which turbo starts it.
      const file = `.turbo/tests/${task}.json`
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(
        file,
        JSON.stringify({ run: process.env["MEMFOLD_TEST_REPORT"], passed, failed, skipped }),
      )
    }
  }
}
