/** Each operation with each argument replaced by each odd value: a typed error or an answer, and no write where there is an error. */
import { Memory } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { createMemory } from "../index.js"

const oddValues: ReadonlyArray<readonly [string, unknown]> = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 5],
  ["no number", Number.NaN],
  ["a boolean", true],
  ["an empty text", ""],
  ["a text", "nonsense"],
  ["an empty object", {}],
  ["an object", { nonsense: 1 }],
  ["a list", ["nonsense"]],
  ["a function", () => {}],
]

const turn = [
  { role: "user", content: "My code is 4711." },
  { role: "assistant", content: "I keep it." },
] as const

/** Arguments that are right, behind the ids. */
const rest: Partial<Record<Memory.OperationName, ReadonlyArray<unknown>>> = {
  append: [turn],
  edit: [0, turn[0]],
  rewrite: [() => turn],
  checkout: [0],
  recall: ["code"],
  recallOf: ["code"],
  trace: [{ text: "4711" }],
  traceMessage: [0],
  removeFact: [1],
  confirmFact: [1],
  revertFact: [1],
  describe: [{ title: "Codes" }],
  redact: [0],
  erase: [{ reason: "asked for" }],
  restore: [{ reason: "asked for" }],
  hold: ["asked for"],
  holdOf: ["asked for"],
}

/** Calls an operation, and drains what streams. */
const called = async (memory: object, name: Memory.OperationName, given: ReadonlyArray<unknown>) => {
  const operation = (memory as Record<string, (...given: ReadonlyArray<unknown>) => unknown>)[name]!
  const answer = operation(...given)
  if (Memory.operations[name].streams !== true) return await answer
  // Who subscribes waits for what is new.
  if (name === "subscribe") return
  for await (const _ of answer as AsyncIterable<unknown>) break
}

const names = Object.entries(Memory.operations).flatMap(([name, { effectsOnly, ids }]) =>
  effectsOnly === true || name === "consume" ? [] : [[name as Memory.OperationName, ids] as const],
)

describe.each(names)("%s", (name, ids) => {
  const right = [
    ...ids.map((kind, at) => (at === 0 ? (kind === "owner" ? "ann" : "s") : "other")),
    ...(rest[name] ?? []),
  ]
  const most = Math.max(right.length, (Memory.operations[name].options?.at ?? -1) + 1)

  it("answers or fails in words, and writes nothing where it fails, for each odd value of each argument", async () => {
    for (let at = 0; at < most; at++)
      for (const [what, odd] of oddValues) {
        await using memory = createMemory({ store: "memory:" })
        await memory.append("s", turn, { owner: "ann" })
        const { version } = await memory.state("s")
        const given = Array.from({ length: most }, (_, index) => (index === at ? odd : right[index]))
        const error: unknown = await called(memory, name, given).then(
          () => null,
          (problem: unknown) => problem,
        )
        if (error === null) continue
        expect([at, what, error]).toEqual([at, what, expect.objectContaining({ _tag: expect.any(String) })])
        expect((await memory.state("s")).version).toBe(version)
      }
  })
})
