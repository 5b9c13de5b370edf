import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { stateOf } from "@memfold/testing"
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "../index.js"
import { make as viewOf } from "./PolicyInput.js"

const Settings = Schema.Struct({
  tailKeepSize: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 4 }),
  contextSize: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => 10 }),
}).pipe(
  Schema.filter(({ tailKeepSize, contextSize }) =>
    tailKeepSize < contextSize ? true : "the tail has to be smaller than the context",
  ),
)

const Window = Strategy.define({
  name: "window",
  settings: Settings,
  aliases: { tail: "tailKeepSize", T: "tailKeepSize" },
  make: ({ tailKeepSize, contextSize }) =>
    Strategy.make({
      name: "window",
      when: Trigger.never,
      keep: Keep.lastMessages(tailKeepSize),
      summaryMode: SummaryMode.rolling,
      context: { maxMessages: contextSize },
    }),
})

const made = (settings: Readonly<Record<string, unknown>>) => {
  const strategy = Either.getOrThrow(Window.decode(settings))
  return [strategy.keep.describe, strategy.context.maxMessages]
}

const refused = (settings: Readonly<Record<string, unknown>>) => {
  const error = Either.getOrThrow(Either.flip(Window.decode(settings)))
  expect(error).toMatchObject({ _tag: "SettingsError", strategy: "window" })
  expect(error.message).toBe(`Strategy "window": ${error.detail}`)
  return error.detail
}

describe("a strategy", () => {
  it("takes all and is worded as a conversation summary, unless it says otherwise", () => {
    const plain = Strategy.make({
      name: "plain",
      when: Trigger.never,
      keep: Keep.currentTurn,
      summaryMode: SummaryMode.drop,
    })
    expect(plain.batchSize.to(viewOf(stateOf([]), 0), 17)).toBe(17)
    expect(plain.context).toEqual({ wording: Wording.conversationSummary })
    expect(plain.split).toBeUndefined()
    const other = Strategy.make({
      ...plain,
      batchSize: BatchSize.messages(1),
      context: { wording: Wording.sessionMemory, maxMessages: 3 },
    })
    expect(other.batchSize.to(viewOf(stateOf([]), 0), 17)).toBe(1)
    expect(other.context).toEqual({ wording: Wording.sessionMemory, maxMessages: 3 })
  })
})

describe("a family of strategies", () => {
  it("has a name and the defaults of its settings", () => {
    expect(Window.strategyName).toBe("window")
    expect(Window.defaults).toEqual({ tailKeepSize: 4, contextSize: 10 })
    expect(Window().keep.describe).toBe("the last 4 messages")
    expect(Window({ tailKeepSize: 2 }).keep.describe).toBe("the last 2 messages")
    expect(made({})).toEqual(["the last 4 messages", 10])
  })

  it("reads settings in camelCase, in snake_case, and by an alias", () => {
    const expected = ["the last 7 messages", 20]
    expect(made({ tailKeepSize: 7, contextSize: 20 })).toEqual(expected)
    expect(made({ tail_keep_size: 7, context_size: 20 })).toEqual(expected)
    expect(made({ tail: 7, context_size: 20 })).toEqual(expected)
    expect(made({ T: 7, contextSize: 20 })).toEqual(expected)
  })

  it("refuses a setting nobody knows, and says which there are", () => {
    for (const name of ["tail_size", "Tail", "constructor", "__proto__", "toString", ""]) {
      const settings = JSON.parse(`{${JSON.stringify(name)}: 3}`) as Readonly<Record<string, unknown>>
      expect(refused(settings)).toBe(`there is no setting "${name}"; allowed: tailKeepSize, contextSize`)
    }
  })

  it("refuses what is out of range, and says of which setting it is", () => {
    expect(refused({ contextSize: 0 })).toContain("contextSize: ")
    expect(refused({ context_size: 1.5 })).toContain("contextSize: ")
    expect(refused({ tail: -1 })).toContain("tailKeepSize: ")
    expect(refused({ tail_keep_size: "3" })).toContain("tailKeepSize: ")
    expect(refused({ tail_keep_size: Number.NaN })).toContain("tailKeepSize: ")
    expect(refused({ tail_keep_size: null })).toContain("tailKeepSize: ")
  })

  it("refuses settings that do not go together", () => {
    expect(refused({ tailKeepSize: 10 })).toBe("the tail has to be smaller than the context")
    expect(refused({ contextSize: 4 })).toBe("the tail has to be smaller than the context")
    expect(made({ contextSize: 5 })).toEqual(["the last 4 messages", 5])
  })

  it("throws the same error where a program gives the settings", () => {
    expect(() => Window({ contextSize: 0 })).toThrow(Strategy.SettingsError)
    expect(() => Window({ contextSize: 3 })).toThrow("the tail has to be smaller than the context")
  })

  it("goes by the request first, then the settings file, then the environment, then its defaults", () => {
    const Sized = Strategy.define({
      name: "sized",
      settings: Settings,
      section: ["agent", "memory"],
      environment: { TAIL: "tailKeepSize", CONTEXT: "contextSize" },
      make: ({ tailKeepSize, contextSize }) =>
        Strategy.make({
          name: "sized",
          when: Trigger.never,
          keep: Keep.lastMessages(tailKeepSize),
          summaryMode: SummaryMode.rolling,
          context: { maxMessages: contextSize },
        }),
    })
    const resolved = (sources: Strategy.Sources) => {
      const strategy = Either.getOrThrow(Sized.resolve(sources))
      return [strategy.keep.describe, strategy.context.maxMessages]
    }
    const request = { tail_keep_size: 1 }
    const file = { agent: { name: "a", memory: { tailKeepSize: 2, context_size: 20, colour: "blue" } } }
    const environment = { MEMFOLD_TAIL: "3", MEMFOLD_CONTEXT: "30", PATH: "x" }
    expect(resolved({ request, file, environment })).toEqual(["the last 1 messages", 20])
    expect(resolved({ file, environment })).toEqual(["the last 2 messages", 20])
    expect(resolved({ request, environment })).toEqual(["the last 1 messages", 30])
    expect(resolved({ environment: { MEMFOLD_TAIL: "3", MEMFOLD_CONTEXT: " " } })).toEqual([
      "the last 3 messages",
      10,
    ])
    expect(resolved({})).toEqual(["the last 4 messages", 10])
    // A file without the section holds the settings themselves, or none of them.
    expect(resolved({ file: { tailKeepSize: 5 } })).toEqual(["the last 5 messages", 10])
    expect(resolved({ file: { tailKeepSize: null }, environment })).toEqual(["the last 3 messages", 30])
    expect(resolved({ file: { agent: { memory: 7 }, other: 1 } })).toEqual(["the last 4 messages", 10])

    // Variables of another program count only if that is asked for.
    const others = { OTHER_TAIL: "6", TAIL: "8" }
    expect(resolved({ environment: others })).toEqual(["the last 4 messages", 10])
    expect(resolved({ environment: others, environmentPrefix: "OTHER_" })).toEqual([
      "the last 6 messages",
      10,
    ])
    expect(resolved({ environment: others, environmentPrefix: "" })).toEqual(["the last 8 messages", 10])
    expect(Sized.unknownIn(file)).toEqual({ inSection: true, names: ["colour"] })
    expect(Sized.unknownIn({ tail_keep_size: 5, size: 1 })).toEqual({ inSection: false, names: ["size"] })
    expect(Sized.unknownIn(7)).toEqual({ inSection: false, names: [] })

    const wrong = (sources: Strategy.Sources) => Either.getOrThrow(Either.flip(Sized.resolve(sources))).detail
    expect(wrong({ environment: { MEMFOLD_TAIL: "many" } })).toMatch(
      /^tailKeepSize: .*\(in the environment\)$/s,
    )
    expect(wrong({ file: { contextSize: 0 } })).toMatch(/^contextSize: .*\(in the settings file\)$/s)
    expect(wrong({ file, request: { contextSize: 0 } })).toMatch(/^contextSize: [^(]*$/s)
    expect(wrong({ file: [] })).toBe("a settings file must have a JSON object")
    expect(wrong({ request: { colour: "blue" }, file })).toContain('no setting "colour"')
    expect(wrong({ environment: { MEMFOLD_TAIL: "9", MEMFOLD_CONTEXT: "9" } })).toContain(
      "smaller than the context",
    )
  })

  it("cannot be defined without a default for every setting", () => {
    expect(() =>
      Strategy.define({
        name: "bad",
        settings: Schema.Struct({ size: Schema.Int }),
        make: () => Window(),
      }),
    ).toThrow("is missing")
  })
})
