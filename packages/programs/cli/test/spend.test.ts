/** `memfold spend`, and commands under a cap: what waits says so. */
import { createMemory } from "memfold"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { inFolder, lines } from "@memfold/harness/program"
import { talk } from "@memfold/harness/workers"

const { folder, memfold, file } = inFolder("spend")
const store = "sqlite:chats.db"

beforeAll(async () => {
  file("summarizer.mjs", `export default async () => "they talked about orders"\n`)
  await using memory = createMemory({
    store: `sqlite:${join(folder, "chats.db")}`,
    compaction: { mode: "off" },
  })
  for (const session of ["first", "second"]) await memory.append(session, talk(16), { owner: "ann" })
})

/** `memfold compact` under a cap, by a summarizer that asks no model. */
const compactAlone = (session: string, ...more: ReadonlyArray<string>) =>
  memfold(
    "compact",
    session,
    "--store",
    store,
    "--strategy",
    "rolling-buffer",
    "--set",
    "bufferSize=4",
    "--spend",
    "owner=1",
    ...more,
  )

const compact = (session: string, ...more: ReadonlyArray<string>) =>
  compactAlone(session, "--summarizer", "./summarizer.mjs", ...more)

describe("memfold spend", () => {
  it("says that nothing was counted, until a process has caps", async () => {
    expect(await memfold("spend", "--store", store)).toMatchObject({
      code: 0,
      out: "nothing was counted: no process of this store had caps (--spend)\n",
    })
  })

  it("shows what was spent, and which cap was reached; memfold compact says that the work waits", async () => {
    const [done] = lines((await compact("first", "--json")).out)
    expect(done).toMatchObject({ type: "compaction", session: "first", outcome: "Committed" })
    // The call that crosses the cap was made; the next one waits.
    expect(lines((await compact("second", "--json")).out)).toEqual([
      { type: "compaction", session: "second", outcome: "Idle", reason: "spend-reached" },
    ])
    expect(await compact("second")).toMatchObject({
      code: 0,
      err: "",
      out: "the compaction waits: the spend of the day has reached its cap; memfold spend shows it\n",
    })
    const { code, out } = await memfold("spend", "--store", store, "--owner", "ann", "--json")
    expect(code).toBe(0)
    const [spent, ...others] = lines(out)
    expect(others).toEqual([])
    expect(spent).toMatchObject({
      type: "spend",
      log: "memfold:spend:owner:ann",
      capTokens: 1,
      heldTokens: 0,
    })
    expect(spent?.["tokens"]).toBeGreaterThan(1)
    expect(spent?.["reached"]).toMatch(/^\d{4}-\d\d-\d\dT/)
    const shown = (await memfold("spend", "--store", store)).out.split("\n")
    expect(shown[0]).toMatch(/^whose +day +tokens +dollars +held +cap reached$/)
    expect(shown.filter((line) => line.startsWith("owner:ann"))).toEqual([expect.stringMatching(/ UTC$/)])
  })

  it("has no say where no model is asked", async () => {
    const { out } = await compactAlone("second", "--json")
    expect(lines(out)).toMatchObject([{ outcome: "Committed" }])
  })

  it("refuses a cap that is none", async () => {
    for (const [cap, problem] of [
      ["day=1", "--spend day=1: it is session, owner, total with an amount"],
      ["total=0", "--spend total=0"],
      ["total=$1", "--spend in dollars needs --spend-prices"],
    ] as const) {
      const { code, err } = await compact("second", "--spend", cap)
      expect([code, err]).toEqual([2, expect.stringContaining(problem)])
    }
  })
})
