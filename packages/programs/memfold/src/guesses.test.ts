/** Names that are mistyped by one letter: each is refused with a typed error that says what was meant. */
import { strategies } from "@memfold/catalog"
import { Memory } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMemory, InvalidOption, SettingsError, UnknownName } from "./index.js"

/** A name with one letter left out, doubled, replaced, or exchanged with the next one. */
const typosOf = (name: string): ReadonlyArray<string> =>
  [...name].flatMap((letter, at) => [
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + letter + name.slice(at),
    `${name.slice(0, at)}q${name.slice(at + 1)}`,
    name.slice(0, at) + (name[at + 1] ?? "") + letter + name.slice(at + 2),
  ])

const typo = (names: ReadonlyArray<string>) =>
  fc
    .constantFrom(...names)
    .chain((name) =>
      fc
        .constantFrom(...typosOf(name).filter((one) => one !== "" && !names.includes(one)))
        .map((typed) => ({ name, typed })),
    )

/** What a message guesses. */
const guessed = (error: unknown): string | undefined =>
  error instanceof Error ? /did you mean "([^"]+)"/u.exec(error.message)?.[1] : undefined

/** Checks that a call with a mistyped name is refused: the guess is the name, or another one that is as near. */
const isGuessed = async (
  names: ReadonlyArray<string>,
  kind: new (...given: never) => Error,
  call: (typed: string) => unknown,
  { prefix = "", isLoop = false } = {},
) =>
  fc.assert(
    fc.asyncProperty(typo(names), async ({ name, typed }) => {
      const error = await Promise.resolve()
        .then(() => call(typed))
        .then(
          () => "it was taken",
          (thrown: unknown) => thrown,
        )
      expect(error).toBeInstanceOf(kind)
      const guess = guessed(error)?.slice(prefix.length) ?? ""
      if (guess !== name) expect(typosOf(guess).some((one) => one === typed) || isLoop).toBe(true)
      expect(names).toContain(guess)
    }),
    { numRuns: 40 },
  )

const operations = Object.entries(Memory.operations).flatMap(([name, { options }]) =>
  options === undefined ? [] : [{ name: name as keyof typeof Memory.operations, ...options }],
)

describe("a mistyped name is guessed", () => {
  it.each(operations)("in the options of $name", async ({ name, at, names }) => {
    await using memory = createMemory({ store: "memory:" })
    const call = (memory as unknown as Record<string, (...given: ReadonlyArray<unknown>) => unknown>)[name]!
    const further = names.includes("strategy") ? ["settings"] : []
    const formats = name === "context" ? ["model", "summaries", "cacheControl", "extraFields"] : []
    await isGuessed([...names, ...further, ...formats], InvalidOption, (typed) =>
      call(...Array.from({ length: at }, () => "s"), { [typed]: 1 }),
    )
  })

  it("in the options of createMemory, and within them", async () => {
    const names = [
      "store",
      "strategy",
      "summarizer",
      "format",
      "compaction",
      "budget",
      "recall",
      "logger",
      "layers",
    ]
    await isGuessed(names, InvalidOption, (typed) => createMemory({ store: "memory:", [typed]: 1 } as never))
    await isGuessed(
      Object.keys(Memory.compactionOptions),
      InvalidOption,
      (typed) => createMemory({ store: "memory:", compaction: { [typed]: 1 } } as never),
      { prefix: "compaction." },
    )
  })

  it.each([...strategies])("in the settings of %s", async (strategy, { defaults }) => {
    await isGuessed(Object.keys(defaults), SettingsError, async (typed) => {
      await using memory = createMemory({ store: "memory:", strategy })
      await memory.context("s", { settings: { [typed]: 1 } })
    })
  })

  it("of a strategy, and of the scheme of a store", async () => {
    await isGuessed([...strategies.keys()], UnknownName, async (typed) => {
      await using memory = createMemory({ store: "memory:", strategy: typed })
      await memory.context("s")
    })
    const schemes = ["sqlite", "redis", "postgres", "libsql"]
    for (const scheme of schemes)
      for (const typed of typosOf(scheme).filter((one) => ![...schemes, "rediss"].includes(one)))
        expect(() => createMemory({ store: `${typed}://host/name` as "memory:" })).toThrow(
          new RegExp(`did you mean "(${schemes.join("|")}|rediss)://`, "u"),
        )
  })

  it("of a file without its scheme; and the error has the name of its class", () => {
    const opened = (store: string) => () => createMemory({ store })
    expect(opened("chats.db")).toThrow('did you mean "sqlite:chats.db"?')
    expect(opened("/var/chats.db")).toThrow('did you mean "sqlite:/var/chats.db"?')
    expect(opened("memory")).toThrow('did you mean "memory:"?')
    expect(opened("mysql://me:SECRET@h/d")).not.toThrow(/SECRET|did you mean/u)
    try {
      opened("chats.db")()
    } catch (error) {
      expect(error).toMatchObject({ name: "UnknownName", given: "chats.db", guess: "sqlite:chats.db" })
    }
  })
})

// A compiler refuses what a program has in it; what is known when it runs is checked then.
export const typed = (url: string) => {
  // @ts-expect-error -- a file needs its scheme
  createMemory({ store: "chats.db" })
  // @ts-expect-error -- there is no such store
  createMemory({ store: "mysql://x" })
  // @ts-expect-error -- there is no such strategy
  createMemory({ store: "memory:", strategy: "roundz" })
  createMemory({ store: `sqlite:${url}`, strategy: "rounds" })
  createMemory({ store: url, strategy: url })
}
