/** `memfold lab`, as its users meet it: the built program, its threads, and files. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { chat, labFiles } from "./labFiles.js"
import { lines, type CallResult, sample } from "@memfold/harness/program"

const { folder, memfold, file, small, mine } = labFiles("lab")

interface Policy {
  readonly type: string
  readonly policy: string
  readonly compactions: number
  readonly failures: number
  readonly largestContext: number
  readonly costs: ReadonlyArray<{ readonly model: string; readonly share: Readonly<Record<string, number>> }>
  readonly identifiers: { readonly needed: number; readonly there: number }
  readonly evidence: Readonly<Record<string, number>> | null
  readonly answers: Readonly<Record<string, unknown>> | null
  readonly automaticRecall: number | null
}

const policiesOf = ({ out }: CallResult): ReadonlyArray<Policy> =>
  lines(out).filter(({ type }) => type === "policy") as unknown as ReadonlyArray<Policy>

describe("memfold lab", () => {
  it("reports every shipped strategy beside the full history, at two prices", async () => {
    const ran = await memfold("lab", small, "--json")
    expect(ran).toMatchObject({ code: 0, err: "" })
    const policies = policiesOf(ran)
    expect(policies.map(({ policy }) => policy)).toEqual([
      "full history",
      "sliding-window",
      "rounds",
      "split-turn",
      "rolling-buffer",
      "window",
      "token-buffer",
      "summary-buffer",
      "break-even",
    ])
    for (const { costs } of policies) {
      expect(costs.map(({ model }) => model)).toEqual(["Claude Sonnet 5.5", "GPT-6.2 Sol, up to 272K"])
      for (const { share } of costs) {
        const { total = 0, cached = 0, written = 0, newInput = 0, summarizerOutput = 0 } = share
        expect(cached + written + newInput + summarizerOutput).toBeCloseTo(total, 9)
      }
    }
    expect(policies[0]?.costs[0]?.share["total"]).toBeCloseTo(100, 9)
    const window = policies.find(({ policy }) => policy === "window")
    expect(window?.largestContext).toBeLessThan(policies[0]?.largestContext ?? 0)
    expect(window?.identifiers.there).toBeLessThan(window?.identifiers.needed ?? 0)
    const replays = lines(ran.out).filter(({ type }) => type === "replay")
    expect(replays).toHaveLength(9)
    expect(replays[0]).toMatchObject({ policy: "full history", conversation: small })
    expect(replays[0]?.["contexts"]).toHaveLength(30)
  })

  it("prints the same, byte for byte, with one thread and with two", async () => {
    const own = ["--policy", mine, "--policy", "rolling-buffer", "--policy", "break-even:block_tokens=200"]
    const shared = ["--set", "buffer_size=9", "--summarizer", "echo"]
    const call = ["lab", small, sample("support-zh.jsonl"), ...own, ...shared, "--json", "--workers"]
    const [one, two] = [await memfold(...call, "1"), await memfold(...call, "2")]
    expect(one).toMatchObject({ code: 0, err: "" })
    expect(policiesOf(one).filter(({ compactions }) => compactions > 0).length).toBeGreaterThan(2)
    expect(two).toEqual(one)
  })

  it("tries strategies of a module, strategies with settings, and prices of a file", async () => {
    const prices = {
      model: "mine",
      input: 1,
      cached: 1,
      cacheWrite: 1,
      output: 4,
      cacheMinutes: 5,
      cacheUnit: "token",
      asOf: "2026-01-01",
      source: "a test",
    }
    const settings = "rounds:full_context_turns=2,cached_context_turns=1"
    const own = ["--policy", mine, "--policy", `${mine}#short`, "--policy", settings]
    const ownPrices = ["--prices", file("prices.json", prices)]
    const policies = policiesOf(await memfold("lab", small, ...own, ...ownPrices, "--json"))
    expect(policies.map(({ policy }) => policy)).toEqual([
      "full history",
      "rounds",
      "short",
      "short 2",
      settings,
    ])
    const [, ofModule, short, again, named] = policies
    const { policy: _module, ...same } = ofModule!
    expect(named).toMatchObject(same)
    expect(short).toMatchObject({ compactions: again?.compactions, largestContext: again?.largestContext })
    // Where cached tokens cost as much as others and nobody writes a summary, only the sizes count.
    expect(short?.costs[0]?.share["total"]).toBeLessThan(100)
    expect(short?.costs[0]?.model).toBe("mine")
  })

  it("takes a summarizer of a module, and says on standard error where it fails", async () => {
    const writing = file("writing.mjs", "export default async ({ user }) => `${user.length} characters`")
    const failing = file("failing.mjs", 'export default async () => { throw new TypeError("secret") }')
    const call = ["lab", small, "--policy", "rolling-buffer", "--json", "--summarizer"]
    const written = await memfold(...call, writing)
    expect(written).toMatchObject({ code: 0, err: "" })
    expect(policiesOf(written)[1]?.failures).toBe(0)
    const failed = await memfold(...call, failing)
    expect(failed.code).toBe(0)
    expect(policiesOf(failed)[1]).toMatchObject({ compactions: 0 })
    expect(policiesOf(failed)[1]?.failures).toBeGreaterThan(0)
    expect(failed.err).toMatch(/^memfold: rolling-buffer: \d+ compactions failed.*TypeError\n$/)
    expect(failed.err).not.toContain("secret")
  })

  it("prints a plain table when piped, with what the columns mean", async () => {
    const { code, out, err } = await memfold(
      "lab",
      small,
      "--policy",
      "rounds",
      "--prices",
      "gemini-3.8-flash",
    )
    expect({ code, err }).toEqual({ code: 0, err: "" })
    // oxlint-disable-next-line no-control-regex -- a program that reads it must not find any
    expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/)
    expect(out.split("\n").filter((line) => line.length > 100)).toEqual([])
    expect(out).toContain(`${small}: 60 messages, 30 calls, 1 day`)
    expect(out).toContain("cost: Gemini 3.8 Flash")
    expect(out).toMatch(/\nfull history +100 /)
    expect(out).toMatch(/\nrounds +\d+ /)
    expect(out.replace(/\s+/g, " ")).toContain("Gemini 3.8 Flash (2026-11-22)")
  })

  it("prints what docs/lab.md shows", async () => {
    const shown = readFileSync(new URL("../../../../docs/lab.md", import.meta.url), "utf8")
    const [, table = ""] = /```text\n([\s\S]*?)\n```/.exec(shown) ?? []
    const files = [sample("coding-agent.jsonl"), sample("support-zh.jsonl")]
    const { out } = await memfold("lab", ...files, "--prices", "claude-sonnet-5.5")
    const words = (text: string) => text.split(/\s+/).filter((word) => word !== "")
    const [documented, printed] = [words(table), words(out)]
    expect(printed).toHaveLength(documented.length)
    // Another version of Node may divide sentences in another way, so that a summary is a little different.
    const numberIn = (word: string) => (/^[\d,]+$/.test(word) ? Number(word.replaceAll(",", "")) : Number.NaN)
    const isNear = (one: number, other: number) => Math.abs(one - other) <= Math.max(2, 0.03 * other)
    const different = printed.filter((word, at) => {
      const other = documented[at] ?? ""
      return word !== other && !isNear(numberIn(word), numberIn(other))
    })
    expect(different).toEqual([])
  })

  it("writes a page that stands alone", async () => {
    const path = join(folder, "lab.html")
    const { code, out } = await memfold("lab", small, "--policy", mine, "--page", path)
    expect(code).toBe(0)
    expect(out).toMatch(/\nfull history +100 /)
    const html = readFileSync(path, "utf8")
    expect(html).toMatch(/^<!doctype html>/)
    expect(html).toContain(">short<")
    expect(html).not.toMatch(/<script|https?:/)
  })

  it("asks the questions of a data set", async () => {
    const said = (session: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        speaker: index % 2 === 0 ? "Ann" : "Bob",
        dia_id: `D${session}:${index + 1}`,
        text:
          session === 1 && index === 0
            ? "My boat is called Albatross."
            : `Message ${index} of day ${session}.`,
      }))
    const stored = {
      sample_id: "conv-1",
      conversation: {
        speaker_a: "Ann",
        speaker_b: "Bob",
        session_1_date_time: "1:56 pm on 8 May, 2023",
        session_1: said(1, 30),
        session_2_date_time: "1:56 pm on 9 May, 2023",
        session_2: said(2, 30),
      },
      qa: [{ question: "How is the boat called?", answer: "Albatross", category: 4, evidence: ["D1:1"] }],
    }
    const ran = await memfold("lab", file("locomo.json", [stored]), "--policy", mine, "--json")
    const [run] = lines(ran.out)
    expect(run?.["conversations"]).toMatchObject([
      { name: `${join(folder, "locomo.json")}#conv-1`, questions: 1 },
    ])
    const [full, , short] = policiesOf(ran)
    expect(full?.evidence).toMatchObject({ asked: 1, raw: 1, withRecall: 1 })
    expect(short?.evidence).toMatchObject({ asked: 1, raw: 0, inSummaries: 0, newest: 0, withRecall: 1 })
    expect(full?.answers).toMatchObject({ asked: 1, context: { words: 1 }, oracle: { words: 1 } })
    expect(short?.answers).toMatchObject({ context: { words: 0 }, summariesWithRecall: { words: 1 } })
    const again = ["lab", join(folder, "locomo.json"), "--policy", `${mine}#short`, "--auto-recall", "200"]
    const recalling = await memfold(...again, "--json", "--workers", "2")
    const [, alone, automatic] = policiesOf(recalling)
    expect([alone, automatic].map((one) => [one?.policy, one?.automaticRecall])).toEqual([
      ["short", null],
      ["short + recall", 200],
    ])
    expect(alone?.evidence).toMatchObject({ raw: 0, recalled: 0 })
    expect(automatic?.evidence).toMatchObject({ raw: 0, recalled: 1 })
    const { code, out } = await memfold(...again)
    expect(code).toBe(0)
    expect(out).toMatch(/raw +summary +recalled +\+1,000 on demand +newest/)
    expect(out).toMatch(/context +newest +summary +\+1,000 on demand +recall alone +oracle/)
    expect(out.replace(/\s+/g, " ")).toContain("at most 200 tokens of earlier messages")
    expect((await memfold(...again.slice(0, 4))).out).not.toMatch(/ recalled /)
  })

  it("replays every trajectory of a file of tau-bench, or only the picked one", async () => {
    const path = file("tau.json", [{ traj: chat(6) }, { traj: chat(8) }])
    const conversations = async (...pick: ReadonlyArray<string>) => {
      const { out } = await memfold("lab", path, "--policy", "rounds", "--json", ...pick)
      const [run = {}] = lines(out)
      return (run["conversations"] as ReadonlyArray<{ name: string; messages: number }>).map(
        ({ name, messages }) => `${name.slice(path.length)} ${messages}`,
      )
    }
    expect(await conversations()).toEqual(["#0 6", "#1 8"])
    expect(await conversations("--pick", "1")).toEqual(["#1 8"])
  })
})

it("a thread that ends too early is an error, and not an endless wait", async () => {
  const leaving = file(
    "leaving.mjs",
    `import { isMainThread } from "node:worker_threads"
     import { Rounds } from "memfold"
     if (!isMainThread) process.exit(3)
     export default Rounds()`,
  )
  const { code, out, err } = await memfold("lab", small, "--policy", leaving, "--workers", "2")
  expect({ code, out }).toEqual({ code: 2, out: "" })
  expect(err).toBe("memfold: a worker thread of the lab failed: it stopped with exit code 3\n")
})
