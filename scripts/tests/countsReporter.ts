/**
 * The last lines of a run of Vitest: the seed of its generated inputs; how many tests passed, failed and were skipped. `npm test` asks for
 * the counts of each file in the file that `MEMFOLD_TEST_COUNTS` names, and prints lines of its own.
 */
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import type { Reporter, TestModule, TestRunEndReason, Vitest } from "vitest/node"

const countsOf = (module: TestModule) => {
  const states = { passed: 0, failed: 0, skipped: 0, pending: 0 }
  for (const test of module.children.allTests()) states[test.result().state]++
  // A file that cannot be loaded, or a set-up that fails: none of its tests ran, and that is a failure as well.
  for (const suite of [module, ...module.children.allSuites()]) {
    if (suite.errors().length > 0) states.failed++
  }
  const { passed, failed, skipped, pending } = states
  return { passed, failed, skipped: skipped + pending }
}

export default class CountsReporter implements Reporter {
  private vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<unknown>,
    reason: TestRunEndReason,
  ): void {
    const { root = "", provide = { seed: undefined } } = this.vitest?.config ?? {}
    const files = modules.map((module) => ({
      file: relative(root, module.moduleId),
      counts: countsOf(module),
    }))
    const sum = (state: "passed" | "failed" | "skipped") =>
      files.reduce((total, { counts }) => total + counts[state], 0)
    const others =
      reason === "failed" && sum("failed") === 0 ? Math.max(1, unhandled.length) : unhandled.length
    const report = process.env["MEMFOLD_TEST_COUNTS"]
    if (report !== undefined) {
      writeFileSync(report, JSON.stringify({ files, others }))
      return
    }
    const seed = String(provide.seed)
    console.log(`\ngenerated inputs: seed ${seed}; MEMFOLD_SEED=${seed} repeats them`)
    console.log(`tests: ${sum("passed")} passed, ${sum("failed") + others} failed, ${sum("skipped")} skipped`)
  }
}
