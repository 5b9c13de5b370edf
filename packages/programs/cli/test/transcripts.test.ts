/** The transcripts that people have, as the built program reads them: replayed, compared in the lab, and imported. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder, lines } from "@memfold/harness/program"

const samples = fileURLToPath(new URL("transcripts", import.meta.url))
const names = readdirSync(samples)

/** How many messages each sample has, and the end of what its program had compacted into a summary. */
const shapes: Readonly<Record<string, readonly [messages: number, coveredTo: number]>> = {
  "ai-sdk-4.json": [12, 0],
  "chatgpt.json": [7, 0],
  "claude-code.jsonl": [10, 8],
  "claude.json": [6, 0],
  "codex-old.jsonl": [4, 0],
  "codex.jsonl": [11, 9],
  "gemini-cli.json": [4, 0],
  "gemini-cli.jsonl": [10, 0],
  "openai-responses.json": [4, 0],
  "opencode.json": [6, 4],
  "sharegpt.json": [5, 0],
}

describe("a sample of each format", () => {
  const { folder, memfold } = inFolder("transcripts")

  it("is replayed", async () => {
    expect(Object.keys(shapes)).toEqual(names.toSorted())
    for (const name of names) {
      const { code, out } = await memfold("replay", join(samples, name), "--json")
      expect([name, code, lines(out).at(-1)]).toMatchObject([name, 0, { messages: shapes[name]![0] }])
    }
  })

  it("is compared in the lab: all conversations of a file, without the branches that were left", async () => {
    const files = names.map((name) => join(samples, name))
    const { code, out } = await memfold("lab", ...files, "--policy", "window", "--json")
    expect(code).toBe(0)
    const replays = lines(out).filter(({ type, policy }) => type === "replay" && policy === "window")
    const of = (name: string) =>
      replays.map((one) => String(one["conversation"])).filter((one) => one.includes(`/${name}`))
    expect(of("chatgpt.json").map((one) => one.split("/").at(-1))).toEqual([
      "chatgpt.json#0",
      "chatgpt.json#1",
    ])
    expect(of("claude-code.jsonl")).toHaveLength(2)
    expect(of("codex.jsonl")).toHaveLength(1)
    const picked = await memfold(
      "lab",
      join(samples, "chatgpt.json"),
      "--policy",
      "window",
      "--pick",
      "3",
      "--json",
    )
    expect(
      lines(picked.out).filter(({ type, policy }) => type === "replay" && policy === "window"),
    ).toHaveLength(1)
  })

  it("is imported with the summaries of its program, and verifies clean", async () => {
    for (const name of names) {
      const store = `sqlite:${join(folder, `${name}.db`)}`
      const path = join(samples, name)
      const { code, out } = await memfold("import", "--from", "transcript", path, "--store", store, "--json")
      const [messages, coveredTo] = shapes[name]!
      expect([name, code, lines(out).at(-1)]).toMatchObject([name, 0, { messages, coveredTo }])
      expect(lines((await memfold("verify", "--store", store, "--json")).out)).toMatchObject([
        { findings: 0 },
      ])
    }
    const left = await memfold(
      "import",
      "--from",
      "transcript",
      join(samples, "chatgpt.json"),
      "--pick",
      "3",
      "--json",
    )
    expect(lines(left.out)).toMatchObject([{ session: "chatgpt-3", messages: 7 }])
  })

  it("is refused where it is asked for wrongly, with the way out", async () => {
    const path = join(samples, "chatgpt.json")
    const refused = async (...args: ReadonlyArray<string>) => {
      const { code, err } = await memfold(...args)
      expect(code).toBe(2)
      return err
    }
    expect(await refused("import", path)).toContain("for transcripts use --from transcript")
    expect(await refused("import", "--from", "transcript", "--all", "--pick", "1", path)).toContain("--pick")
    expect(await refused("import", "--from", "rolling", "--skip-damaged", path)).toContain("--skip-damaged")
    expect(await refused("import", "--from", "transcript", "--thread", "t", path)).toContain("--thread")
  })
})
