/** The runs of a program: without the proxy, wrapped, with a proxy that is killed, and with the program's own compaction. */
import { Prices } from "@memfold/prices"
import type { Answering, ProviderServer } from "@memfold/strict-providers"
import { join } from "node:path"
import { freePort } from "../freePort.js"
import { type Charged, tokensOf } from "../proxy/promptCache.js"
import { type Change, conversation, marksIn, marksOf, model, type Size } from "./model.js"
import type { Program } from "./programs.js"
import { type Ended, stage, startProxy } from "./stage.js"
import { type Stored, storedIn } from "./stored.js"

/** Where the runs find and write files. */
export interface Folders {
  /** The folder with the programs. */
  readonly programs: string
  /** A folder of a run that nobody else has. */
  readonly runs: string
}

/** What a run was. */
export interface Outcome extends Charged {
  readonly run: string
  readonly requests: number
  readonly output: number
  readonly dollars: number
  readonly stored: Stored | null
  /** What was wrong; empty if nothing was. */
  readonly faults: ReadonlyArray<string>
}

/** What the requests of a run cost, with its answers. */
const charged = ({ received }: ProviderServer, said: ReadonlyArray<number>, program: Program) => {
  const charge = program.cache()
  const prices = Prices.presets[program.prices]
  let [fresh, cached, written] = [0, 0, 0]
  for (const { body } of received) {
    const one = charge(body)
    fresh += one.fresh
    cached += one.cached
    written += one.written
  }
  const output = said.reduce((sum, tokens) => sum + tokens, 0)
  const dollars =
    (fresh * prices.input + cached * prices.cached + written * prices.cacheWrite + output * prices.output) /
    1e6
  return { requests: received.length, fresh, cached, written, output, dollars }
}

const refusals = ({ refused }: ProviderServer): ReadonlyArray<string> =>
  refused.map(
    ({ path, status, violations: [first] }) =>
      `${path} was refused with ${status}: ${first === undefined ? "" : `${first.rule} at ${first.path}`}`,
  )

const failures = (asked: ReadonlyArray<Ended>): ReadonlyArray<string> =>
  asked.flatMap(({ code, last }, task) =>
    code === 0 ? [] : [`task ${task} ended with ${code}: ${last.trim().split("\n").slice(-3).join(" / ")}`],
  )

/** How marks differ from those of the conversation. */
const differences = (marks: ReadonlyArray<string>, size: Size): ReadonlyArray<string> => {
  const expected = marksOf(size)
  const at = expected.findIndex((mark, index) => mark !== marks[index])
  return at === -1 && marks.length === expected.length
    ? []
    : [
        `the store has ${marks[at === -1 ? expected.length : at] ?? "nothing"} in place of ${expected[at] ?? "nothing"}`,
      ]
}

/** Reasons for which a request may pass as it came: it is about no conversation, or only counts tokens. */
const harmless = new Set(["no-session", "no-messages", "not-stored"])

/** Requests that a proxy did not follow, or that failed on their way, by its log. */
const complaints = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.flatMap((line) => {
    const { annotations = {} } = JSON.parse(line) as { annotations?: Readonly<Record<string, unknown>> }
    const { path, asItCame, status } = annotations
    if (typeof asItCame === "string" && !harmless.has(asItCame))
      return [`${String(path)} passed as it came: ${asItCame}`]
    return Number(status) >= 500 ? [`${String(path)} was answered with ${String(status)}`] : []
  })

/** A stage, and how much its model has said. */
const staged = async (
  program: Program,
  folder: string,
  programs: string,
  size: Size,
  { change, binding = "checked" }: { readonly change?: Change; readonly binding?: "checked" | "off" } = {},
) => {
  const said: Array<number> = []
  const given = model(size, program.call, () => place.provider.received, change)
  const answer: Answering = async (asked) => {
    const one = await given(asked)
    said.push(tokensOf(JSON.stringify(one)))
    return one
  }
  const place = await stage(program, { folder, programs, size, answer, binding })
  return { said, ...place }
}

/** Asks all questions. */
const askAll = async (
  { tasks }: Size,
  ask: (task: number) => Promise<Ended>,
): Promise<ReadonlyArray<Ended>> => {
  const ended = []
  for (let task = 0; task < tasks; task++) ended.push(await ask(task))
  return ended
}

/** Without a proxy. */
export const without = async (
  program: Program,
  { programs, runs }: Folders,
  size: Size,
): Promise<Outcome> => {
  const { provider, said, ask } = await staged(program, join(runs, "a"), programs, size)
  try {
    const ended = await askAll(size, (task) => ask(task, ["--proxy", provider.anthropicURL]))
    return {
      run: "without",
      ...charged(provider, said, program),
      stored: null,
      faults: [...failures(ended), ...refusals(provider)],
    }
  } finally {
    await provider.close()
  }
}

/** Wrapped: each question has a proxy of its own, on the same store. */
export const wrapped = async (
  program: Program,
  { programs, runs }: Folders,
  size: Size,
): Promise<Outcome> => {
  const { provider, said, ask, store } = await staged(program, join(runs, "b"), programs, size)
  try {
    const options = ["--store", store, "--upstream", provider.anthropicURL]
    const ended = await askAll(size, (task) => ask(task, options))
    const stored = await storedIn(store)
    return {
      run: "wrapped",
      ...charged(provider, said, program),
      stored,
      faults: [...failures(ended), ...refusals(provider), ...differences(stored.marks, size)],
    }
  } finally {
    await provider.close()
  }
}

/** A proxy beside the program, which is killed while it asks: before an answer, in the middle of a stream, at its end. */
export const killed = async (program: Program, { programs, runs }: Folders, size: Size): Promise<Outcome> => {
  const lines: Array<string> = []
  const port = await freePort()
  let restart = (): Promise<void> => Promise.resolve()
  const kills = new Map([
    ["0-3", "before"],
    ["0-6", 1],
    ["1-2", 4],
    [`1-${size.turns}`, 6],
    ["2-4", "before"],
    ["2-9", 3],
  ] as ReadonlyArray<[string, "before" | number]>)
  const kill: Change = async (task, turn, answer) => {
    const turnName = `${task}-${turn}`
    const when = kills.get(turnName)
    kills.delete(turnName)
    if (when === "before") await restart()
    return typeof when === "number" ? { ...answer, hold: { after: when, wait: restart } } : answer
  }
  const { provider, said, ask, store } = await staged(program, join(runs, "c"), programs, size, {
    change: kill,
  })
  const begin = () => startProxy({ store, upstream: provider.anthropicURL, port }, lines)
  let proxy = await begin()
  restart = async () => {
    await proxy.end("SIGKILL")
    proxy = await begin()
  }
  try {
    const ended = await askAll(size, (task) => ask(task, ["--proxy", `http://127.0.0.1:${port}`]))
    await proxy.end("SIGTERM")
    const stored = await storedIn(store)
    return {
      run: "killed",
      ...charged(provider, said, program),
      stored,
      faults: [
        ...failures(ended),
        ...refusals(provider),
        ...complaints(lines),
        ...differences(stored.marks, size),
        ...[...kills.keys()].map((turn) => `turn ${turn} never came, so nothing was killed`),
      ],
    }
  } finally {
    await proxy.end("SIGKILL")
    await provider.close()
  }
}

/** Each mark once, where it comes first. */
const firsts = (marks: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(marks)]

/** Marks without what follows itself: a message may say a thing in two forms. */
const apart = (marks: ReadonlyArray<string>): ReadonlyArray<string> =>
  marks.filter((mark, at) => mark !== marks[at - 1])

/** How the branch of a store differs from the newest request, which has the conversation that the program goes on with. */
const behind = (
  { marks }: Stored,
  { received }: ProviderServer,
  { tasks, turns }: Size,
): ReadonlyArray<string> => {
  const asked = marksIn(conversation(received.at(-1)?.body ?? {}))
  const expected = apart([...asked, `[said ${tasks - 1}-${turns}]`])
  return apart(marks).join() === expected.join()
    ? []
    : ["the store has another conversation than the program"]
}

/**
 * With a program that compacts by itself, behind a proxy. What its provider refuses without the proxy, too, is between the two: Claude
 * Code keeps thinking behind its summary, is refused, and sends the request again without.
 */
export const compacted = async (
  program: Program,
  { programs, runs }: Folders,
  size: Size,
): Promise<Outcome> => {
  const binding = program.knowsBinding ? "checked" : "off"
  const alone = await staged(program, join(runs, "d"), programs, size, { binding })
  await askAll(size, (task) => alone.ask(task, ["--proxy", alone.provider.anthropicURL], program.compactAt))
  await alone.provider.close()
  const refusedAnyway = refusals(alone.provider)

  const lines: Array<string> = []
  const port = await freePort()
  const { provider, said, ask, store } = await staged(program, join(runs, "e"), programs, size, { binding })
  const proxy = await startProxy({ store, upstream: provider.anthropicURL, port }, lines)
  try {
    const ended = await askAll(size, (task) =>
      ask(task, ["--proxy", `http://127.0.0.1:${port}`], program.compactAt),
    )
    await proxy.end("SIGTERM")
    const stored = await storedIn(store)
    return {
      run: "compacted",
      ...charged(provider, said, program),
      stored,
      faults: [
        ...failures(ended),
        ...refusals(provider).filter((refusal) => !refusedAnyway.includes(refusal)),
        ...complaints(lines),
        ...differences(firsts(stored.logged), size),
        ...behind(stored, provider, size),
        ...(stored.branches === 1 ? ["the program has not compacted"] : []),
      ],
    }
  } finally {
    await proxy.end("SIGKILL")
    await provider.close()
  }
}
