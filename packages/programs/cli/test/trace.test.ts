/** What a compaction would do, and what a summary rests on, as the users of the command line see it. */
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { inFolder, lines, sample } from "@memfold/harness/program"

const { folder, memfold } = inFolder("trace")
const store = `sqlite:${join(folder, "kept.db")}`
const where = ["--store", store]

beforeAll(async () => {
  const replayed = await memfold("replay", sample("coding-agent.jsonl"), ...where, "--session", "work")
  expect(replayed.code).toBe(0)
})

describe("memfold compact --dry-run", () => {
  it("says what compact then does, and writes nothing", async () => {
    const events = async () => lines((await memfold("events", "work", ...where, "--json")).out).length
    const before = await events()
    const options = ["compact", "work", ...where, "--set", "tail_keep_size=4"]
    const [preview] = lines((await memfold(...options, "--dry-run", "--json")).out)
    expect(preview).toMatchObject({ type: "preview", outcome: "Committed", reason: "demand" })
    const shown = await memfold(...options, "--dry-run")
    expect(shown.out).toContain("replaces")
    expect(shown.out).toContain("nothing was written")
    expect(await events()).toBe(before)
    const [done] = lines((await memfold(...options, "--json")).out)
    expect(done).toMatchObject({ outcome: "Committed", reason: "demand" })
    const [context] = lines((await memfold("context", "work", ...where, "--json")).out)
    expect(context?.["tokens"]).toBe(preview?.["tokensAfter"])
    expect(await events()).toBeGreaterThan(before)
  })
})

describe("memfold trace", () => {
  it("shows the messages of each sentence of the active summary, and where a message lives on", async () => {
    const traced = await memfold("trace", "work", ...where, "--json")
    const sentences = lines(traced.out)
    expect(sentences.length).toBeGreaterThan(5)
    const supported = sentences.filter((one) => one["supported"] === true)
    expect(supported.length / sentences.length).toBeGreaterThan(0.8)
    expect(traced.code).toBe(supported.length === sentences.length ? 0 : 1)
    const [first] = supported as unknown as ReadonlyArray<{
      text: string
      messages: ReadonlyArray<{ index: number }>
    }>
    const living = await memfold("trace", "work", ...where, "--message", `${first!.messages[0]!.index}`)
    expect(living).toMatchObject({ code: 0, err: "" })
    expect(living.out).toContain(first!.text.slice(0, 20))
  })

  it("marks what nobody said, and exits with 1", async () => {
    const invented = await memfold("trace", "work", ...where, "--text", "Deploy ticket QZ-99812 is done.")
    expect(invented.code).toBe(1)
    expect(invented.out).toContain("no message has QZ-99812")
    const wrong = await memfold("trace", "work", ...where, "--text", "a", "--message", "1")
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("name one of them") })
  })
})
