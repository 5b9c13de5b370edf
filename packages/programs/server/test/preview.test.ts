/** What a compaction would do, over HTTP. */
import { createClient } from "@memfold/client"
import { describe, expect, it } from "vitest"
import { ask, started, turn } from "./services.js"

const settings = { fullContextTurns: 1, cachedContextTurns: 1 }

describe("a preview", () => {
  it("says what compact then does, writes nothing, and is for readers", async () => {
    const { url } = await started({ strategy: "rounds" })
    const memory = createClient({ url })
    for (const n of [1, 2, 3, 4]) await memory.append("s", turn(n))
    const { version } = await memory.session("s")
    const preview = await memory.preview("s", { ...settings, which: "due" })
    expect((await memory.session("s")).version).toBe(version)
    expect(preview).toMatchObject({ version, strategy: "rounds", summarizer: "extractive", idle: "not-due" })
    expect(preview.compactions.map(({ from, to, outcome }) => ({ from, to, outcome }))).toEqual([
      { from: 0, to: 2, outcome: "Committed" },
      { from: 2, to: 4, outcome: "Committed" },
      { from: 4, to: 6, outcome: "Committed" },
    ])
    expect(preview.compactions[0]?.segments[0]?.text).toContain("KX-4471")
    expect(preview.compactions[0]?.replaced.messages).toBe(2)

    const outcomes = await memory.compact("s", { ...settings, which: "due" })
    const size = ({ tokensBefore, tokensAfter }: (typeof preview.compactions)[number]) => ({
      tokensBefore,
      tokensAfter,
    })
    expect(outcomes).toMatchObject(preview.compactions.map(size))
    const { messages, tokens } = await memory.context("s", settings)
    expect({ messages, tokens }).toEqual({ messages: preview.after.messages, tokens: preview.after.tokens })
  })

  it("shows what another strategy would have made of the whole session", async () => {
    const memory = createClient({ url: (await started({ strategy: "rounds" })).url })
    for (const n of [1, 2, 3, 4]) await memory.append("s", turn(n))
    await memory.compact("s", settings)
    const anew = await memory.preview("s", {
      strategy: "sliding-window",
      settings: { tailKeepSize: 2, compressionWindowSize: 2 },
      which: "all",
    })
    expect(anew.compactions[0]).toMatchObject({ from: 0, replaced: { segments: [] } })
    expect(anew.after.layout.some(({ section }) => section === "summary")).toBe(true)
  })

  it("stands beside the timeline: every version, and every compaction with what became of it", async () => {
    const { url } = await started({ strategy: "rounds" })
    const memory = createClient({ url })
    for (const n of [1, 2, 3, 4]) await memory.append("s", turn(n))
    await memory.compact("s", { ...settings, which: "due" })
    const { versions, compactions, version } = await memory.timeline("s")
    expect(versions).toHaveLength(version)
    expect(compactions.map(({ outcome, status }) => [outcome, status])).toEqual([
      ["committed", "superseded"],
      ["committed", "superseded"],
      ["committed", "active"],
    ])
    for (const at of [1, compactions[0]!.startedAt, compactions[0]!.endedAt!, version]) {
      const { tokens } = await memory.context("s", { atVersion: at })
      expect(tokens).toBe(versions[at - 1]?.tokens)
    }
    const tag = { headers: { "if-none-match": `"${version}"` } }
    expect(await ask(`${url}/v1/sessions/s/timeline`, tag)).toMatchObject({ status: 304 })
    expect(await ask(`${url}/v1/sessions/other/timeline`)).toMatchObject({ status: 404 })
  })

  it("refuses what compact refuses", async () => {
    const { url } = await started()
    const wrong = await ask(`${url}/v1/sessions/s/preview`, { body: { which: "due", takeOver: true } })
    expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringContaining("takeOver") } })
  })
})
