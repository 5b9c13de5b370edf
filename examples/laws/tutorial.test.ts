/** `docs/testing.md` shows the strategies of this folder as they are, and what the laws say of them. */
import { check, examine, type Law, strategyProperties, title } from "@memfold/testing"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { atNight } from "./atNight.js"
import { firstTry } from "./firstTry.js"

const page = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8")

/** The first of the laws that does not hold, by its report. */
const reported = async (laws: ReadonlyArray<Law>, seed: number): Promise<string> => {
  for (const law of laws) {
    const verdict = await examine(law, { seed })
    if (verdict._tag === "Broken") return verdict.report
  }
  return "every law holds"
}

describe("the tutorial", () => {
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name !== "tutorial.test.ts")

  it.each(files)("shows %s as it is", (name) => {
    const code = readFileSync(new URL(`./${name}`, import.meta.url), "utf8").trim()
    expect(page).toContain(`\`\`\`ts\n${code}\n\`\`\``)
  })

  it("shows what the laws say of the first try", async () => {
    expect(page).toContain(await reported(strategyProperties(firstTry, { turns: 3 }), 17))
  })

  it("shows what they say of a strategy that goes by the clock on the wall", async () => {
    const law = strategyProperties(atNight).find((one) => title(one).startsWith("L6: decisions"))
    const report = await reported(law === undefined ? [] : [law], 7)
    // What it decided depends on the time of day; that it does is always the same.
    expect(page).toContain(report.split("\n").slice(0, 6).join("\n"))
  })

  it("finds the reported conversation again by its seed and path", async () => {
    const [, seed, path] = /MEMFOLD_SEED=(\d+):([\d:]+)/u.exec(page) ?? []
    const law = strategyProperties(firstTry, { turns: 3 }).find((one) => title(one).startsWith("L2: turns"))
    expect(law).toBeDefined()
    if (law === undefined) return
    await expect(check(law, { seed: Number(seed), path })).rejects.toThrow("2 complete turns stay")
  })
})
