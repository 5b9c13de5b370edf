/**
 * The tour, which is what a newcomer sees first: one screen, and every number of it is in the log or in a replay.
 */
import { readFileSync } from "node:fs"
import stringWidth from "string-width"
import { beforeAll, describe, expect, it } from "vitest"
import { deep } from "@memfold/harness/depth"
import { inFolder, lines, type CallResult, sample } from "@memfold/harness/program"

const { memfold, file } = inFolder("tour")
const store = ["--store", "sqlite:.memfold/tour.db"]
const names = ["coding-agent", "support-zh"] as const

/** Numbers as the tour prints them. */
const count = (value: unknown): string => Number(value).toLocaleString("en-US")

type Line = Readonly<Record<string, unknown>>

const json = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<Line>> => {
  const { code, out } = await memfold(...args, "--json")
  expect(code).toBe(0)
  return lines(out)
}

/** The data of a session's events of a type. */
const events = async (session: string) => {
  const all = await json("events", session, ...store)
  return {
    all,
    of: (type: string) => all.filter((event) => event["type"] === type).map(({ data }) => data as Line),
  }
}

/** The words of the line that begins with a word, with the frame taken off. */
const row = (screen: ReadonlyArray<string>, first: string): ReadonlyArray<string> => {
  const found = screen.filter((line) => line.trim().split(/\s+/)[0] === first)
  expect({ first, rows: found.length }).toEqual({ first, rows: 1 })
  return (found[0] ?? "").trim().split(/\s{2,}/)
}

/** The tour of each sample; the first sample is the default. */
const tours = new Map<string, CallResult>()
beforeAll(async () => {
  for (const name of names) {
    tours.set(name, await memfold("tour", ...(name === names[0] ? [] : ["--sample", name])))
  }
})

const toured = (name: string): CallResult => tours.get(name) ?? { code: -1, out: "", err: "" }

describe.each(names)("the tour of %s", (name) => {
  it("is one screen of plain text", () => {
    const ran = toured(name)
    expect(ran).toMatchObject({ code: 0, err: "" })
    const screen = ran.out.trimEnd().split("\n")
    expect(screen.length).toBeLessThanOrEqual(60)
    expect(screen.length).toBeGreaterThan(30)
    expect(screen.filter((line) => stringWidth(line) > 80)).toEqual([])
    // oxlint-disable-next-line no-control-regex -- a program that reads it must not find any
    expect(ran.out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/)
  })

  it("reports the compactions and the context that the log has", async () => {
    const { out } = toured(name)
    const screen = out.split("\n")
    const { all, of } = await events(name)
    const messages = of("MessageAppended")
    expect(out).toContain(`${count(messages.length)} messages in `)
    expect(out).toContain(`a log of ${count(all.length)} events`)

    const commits = of("SummaryCommitted")
    expect(commits.length).toBeGreaterThan(0)
    const started = of("CompactionStarted")
    const rows = screen.filter((line) => line.includes(" → "))
    expect(rows).toHaveLength(commits.length)
    commits.forEach((commit, index) => {
      const at = all.findIndex(({ data }) => data === commit)
      const before = all.slice(0, at).filter(({ type }) => type === "MessageAppended").length
      const { reason } = started.find(({ compaction }) => compaction === commit["compaction"]) ?? {}
      const [said, covered, why, tokens, bar = ""] = (rows[index] ?? "").trim().split(/\s{2,}/)
      expect([said, covered, why, tokens]).toEqual([
        count(before),
        count(commit["coveredTo"]),
        reason,
        `${count(commit["tokensBefore"])} → ${count(commit["tokensAfter"])}`,
      ])
      // The bar is the whole conversation: covered, verbatim, and to come, in proportion.
      const [, ...parts] = /^(▒+)(█*)(·*)$/.exec(bar) ?? []
      const shares = [
        Number(commit["coveredTo"]),
        before - Number(commit["coveredTo"]),
        messages.length - before,
      ]
      parts.forEach((part, index) => {
        const exact = ((shares[index] ?? 0) / messages.length) * bar.length
        expect(Math.abs(part.length - exact)).toBeLessThanOrEqual(1.5)
      })
      expect(parts).toHaveLength(3)
    })
    for (const { reason } of started)
      expect(out).toMatch(new RegExp(`^ {2}${String(reason)}: (?!a reason)`, "m"))

    const [context = {}] = await json("context", name, ...store)
    expect(out).toContain(`What the model gets now: ${count(context["tokens"])} tokens instead of `)
    for (const { section, from, to, tokens } of context["layout"] as ReadonlyArray<Line>) {
      const range = Number(to) - Number(from) === 1 ? String(from) : `${from} to ${Number(to) - 1}`
      expect(row(screen, String(section)).slice(0, 3)).toEqual([section, range, count(tokens)])
    }
    const sent = (context["messages"] as ReadonlyArray<unknown>).length
    expect(out).toContain(`✓ a new process read the same ${count(sent)} messages`)
  })

  it("reports the costs that `lab` finds", async () => {
    const { out } = toured(name)
    const options = ["--set", "context_limit=16000", "--prices", "claude-sonnet-5.5"]
    // Replaying all policies takes several seconds: a quick run replays only one policy of the second sample.
    const whole = deep || name === names[0]
    const asked = whole ? [] : ["--policy", "sliding-window"]
    const records = await json("lab", sample(`${name}.jsonl`), ...options, ...asked)
    const policies = records.filter(({ type }) => type === "policy")
    expect(policies).toHaveLength(whole ? 9 : 2)
    for (const one of policies) {
      const [{ share, cached }] = one["costs"] as [{ share: Record<string, number>; cached: number }]
      const { there, needed } = one["identifiers"] as { there: number; needed: number }
      const { total = 0, newInput = 0, summarizerOutput = 0 } = share
      const [first = ""] = String(one["policy"]).split(" ")
      expect(row(out.split("\n"), first)).toEqual([
        one["policy"],
        total.toFixed(0),
        (newInput + summarizerOutput).toFixed(0),
        `${(100 * cached).toFixed(0)} %`,
        count(one["compactions"]),
        count(Math.round(Number(one["meanContext"]))),
        count(one["largestContext"]),
        `${((100 * there) / needed).toFixed(0)} %`,
      ])
    }
  })
})

describe("the tour", () => {
  it("is the same each time, and names commands that work as they stand", async () => {
    const { out } = toured(names[0])
    expect((await memfold("tour")).out).toBe(out)
    const commands = [...out.matchAll(/^ {4}npx memfold (.+)$/gm)].map(([, args = ""]) => args.split(" "))
    expect(commands.length).toBeGreaterThanOrEqual(6)
    // The beginning of a shipped conversation stands in for the reader's own.
    const begin = readFileSync(sample("support-zh.jsonl"), "utf8").split("\n").slice(0, 40)
    const chat = file("my-chat.jsonl", begin.join("\n"))
    for (const args of commands.filter(([command]) => command !== "tour")) {
      const given = args.map((arg) => (arg === "my-chat.json" ? chat : arg))
      const ran = await memfold(...given)
      expect({ args, code: ran.code }).toEqual({ args, code: 0 })
    }
  })

  it("shows every step with --long, of all samples if none is named", async () => {
    // A quick run names one.
    const shown = deep ? names : names.slice(1)
    const { code, out } = await memfold("tour", "--long", ...(deep ? [] : ["--sample", ...shown]))
    expect(code).toBe(0)
    for (const name of names)
      expect(out.includes(`${name}.jsonl → session "${name}"`)).toBe(shown.includes(name))
    for (const part of ["Compressed: history ", "The context the model gets now", "✓ a new process"]) {
      expect(out.split(part).length).toBeGreaterThan(shown.length)
    }
  })

  it("says what is wrong with a sample's name and with a file", async () => {
    const named = await memfold("tour", "--sample", "nothing")
    expect(named).toMatchObject({ code: 2, out: "" })
    expect(named.err).toBe('memfold: there is no sample "nothing"; allowed: coding-agent, support-zh\n')
    const file = await memfold("tour", "--file", `${sample("support-zh.jsonl")}/tour.db`)
    expect(file).toMatchObject({ code: 2, out: "" })
    expect(file.err).toMatch(/^memfold: --file [^\n]+: its folder cannot be made\n$/)
  })
})
