/** Parts of a policy refuse what they cannot be made of: with `NaN`, a policy would never compact, or compact at every turn. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { BatchSize, Keep, OptionGroup, Prune, Split, Strategy, SummaryMode, Trigger } from "../index.js"

const keep = Keep.lastTurns(2)
const noNumber = [undefined, null, Number.NaN, -1, "5", {}]
const noCount = [...noNumber, 1.5]
const noDuration = [undefined, null, Number.NaN, -1, "soon", {}]
const noAmount = [
  undefined,
  null,
  5,
  { message: 5 },
  ...noNumber.slice(1).flatMap((number) => [{ messages: number }, { tokens: number, turns: 1 }]),
]
const noObject = [undefined, null, 5, {}]
const noPart = [undefined, null, {}, 5, () => null]
const whole = {
  name: "whole",
  when: Trigger.never,
  keep,
  summaryMode: SummaryMode.rolling,
} as const

/** What is tried with each function that makes a part: calls that have to be refused. */
const wrong: Readonly<Record<string, ReadonlyArray<ReadonlyArray<unknown>>>> = {
  "Trigger.backlog": noAmount.map((amount) => [amount]),
  "Trigger.uncovered": noAmount.map((amount) => [amount]),
  "Trigger.contextAbove": noNumber.map((tokens) => [tokens]),
  "Trigger.cooldown": noDuration.map((duration) => [duration]),
  "Trigger.idle": noDuration.map((duration) => [duration]),
  "Trigger.any": noPart.map((part) => [Trigger.never, part]),
  "Trigger.all": noPart.map((part) => [Trigger.never, part]),
  "Keep.lastMessages": noCount.map((count) => [count]),
  "Keep.lastTokens": noNumber.map((tokens) => [tokens]),
  "Keep.lastTurns": noCount.map((count) => [count]),
  "Keep.all": noPart.map((part) => [keep, part]),
  "BatchSize.messages": [...noCount, 0].map((count) => [count]),
  "BatchSize.turns": [...noCount, 0].map((count) => [count]),
  "Prune.softTrim": [
    ...noObject,
    ...["above", "head", "tail"].flatMap((name) =>
      noNumber.slice(1).map((number) => ({ keep, [name]: number })),
    ),
    { keep, abov: 5 },
    { above: 5 },
  ].map((options) => [options]),
  "Prune.hardClear": [
    ...noObject,
    ...noNumber.slice(1).map((above) => ({ keep, above })),
    { keep, head: 5 },
    { keep: 2 },
  ].map((options) => [options]),
  "Split.tailAbove": [
    ...noNumber.map((above) => [above, { prefix: 5 }]),
    ...[...noObject, { prefix: Number.NaN }, { prefix: 5, above: 5 }].map((options) => [5, options]),
  ],
  "Strategy.make": [
    ...noObject,
    ...Object.keys(whole).map((name) => ({ ...whole, [name]: undefined })),
    { ...whole, name: 5 },
    { ...whole, when: keep },
    { ...whole, keep: Trigger.never },
    { ...whole, summaryMode: "merge" },
    { ...whole, batchsize: BatchSize.all },
    { ...whole, batchSize: 5 },
    { ...whole, summarySize: { share: 1, maxTokens: 100 } },
    { ...whole, mergeBlocks: { above: 100 } },
    { ...whole, recallBlocks: { maxTokens: Number.NaN } },
    { ...whole, split: { above: 100 } },
    { ...whole, split: { above: Number.NaN, prefix: () => 1 } },
    { ...whole, pin: () => true },
    { ...whole, prune: Prune.hardClear({ keep }) },
    { ...whole, prune: [{ ...Prune.hardClear({ keep }), above: Number.NaN }] },
    { ...whole, toolNotes: { failures: { maxFailures: "8", maxCharacters: 240 } } },
    { ...whole, contextLimit: Number.NaN },
    { ...whole, context: "short" },
    { ...whole, context: { maxMessages: 0 } },
    { ...whole, context: { maxMessage: 40 } },
    { ...whole, context: { wording: {} } },
  ].map((options) => [options]),
}

const makers = Object.entries({ Trigger, Keep, BatchSize, Prune, Split, Strategy }).flatMap(
  ([part, module]) =>
    Object.entries<unknown>(module as Readonly<Record<string, unknown>>).flatMap(([name, make]) =>
      typeof make === "function" && Object.hasOwn(wrong, `${part}.${name}`)
        ? [[`${part}.${name}`, make as (...given: ReadonlyArray<unknown>) => unknown] as const]
        : [],
    ),
)

describe("a part of a policy", () => {
  it("is tried with every function that makes one", () => {
    const others = new Set([
      "Prune.note",
      "Prune.planPruning",
      "Strategy.define",
      "Strategy.setting",
      "Strategy.wordingOf",
    ])
    const all = Object.entries({ Trigger, Keep, BatchSize, Prune, Split, Strategy }).flatMap(
      ([part, module]) =>
        Object.entries(module)
          .filter(([name, make]) => typeof make === "function" && !/^[A-Z]/u.test(name))
          .map(([name]) => `${part}.${name}`),
    )
    expect(all.filter((name) => !others.has(name)).toSorted()).toEqual(Object.keys(wrong).toSorted())
  })

  it.each(makers)("%s refuses what it cannot be made of, and says what it takes", (name, make) => {
    for (const given of wrong[name]!) {
      let error: unknown
      try {
        make(...given)
      } catch (thrown) {
        error = thrown
      }
      expect(error, `${name}(${JSON.stringify(given)})`).toBeInstanceOf(OptionGroup.InvalidOption)
      expect((error as Error).message).toContain(name)
    }
  })

  it.each(Object.entries({ Trigger, Keep, BatchSize, SummaryMode }))(
    "%s is in the table of docs/compose.md",
    (part, module) => {
      const page = readFileSync(new URL("../../../../docs/compose.md", import.meta.url), "utf8")
      const [row = ""] = new RegExp(`^\\| .*\`${part}\\..*$`, "m").exec(page) ?? []
      const named = [...row.replace(/^.*\?/u, "").matchAll(/`(?:\w+\.)?(\w+)`/gu)].map(([, name]) => name)
      expect(named.toSorted()).toEqual(Object.keys(module).toSorted())
    },
  )

  it("takes every number that its documentation allows", () => {
    expect(() => [
      Keep.lastMessages(0),
      Keep.lastTurns(Number.POSITIVE_INFINITY),
      Keep.lastTokens(0.5),
      BatchSize.messages(1),
      Trigger.backlog({ tokens: Number.POSITIVE_INFINITY, turns: 0 }),
      Trigger.any(),
      Prune.softTrim({ keep, above: 10.5, head: 0, tail: 0 }),
      Split.tailAbove(5, { prefix: ({ tokens }) => tokens / 2 }),
      Strategy.make({ ...whole, contextLimit: 0.5, context: {} }),
    ]).not.toThrow()
  })
})
