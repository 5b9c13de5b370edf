/** Each option of each command, mistyped by one letter, is refused with what was meant, and so is each word too many or too few. */
import { describe, expect, it } from "vitest"
import { commands, first, groups } from "../command/table.js"
import { usagesOf } from "../program.js"
import { separated } from "./arguments.js"
import { examples } from "./help.js"
import { mayBeEmpty, optionsIn, wrongCall } from "./wrongCall.js"

/** Every command, and every command within one, with its usage. */
const all = (
  await Promise.all(
    [...commands].map(async ([name, { load }]) =>
      [...usagesOf(await load())].map(([inner, usage]): readonly [string, string] => [
        inner === name ? `memfold ${name}` : `memfold ${name} ${inner}`,
        usage,
      ]),
    ),
  )
).flat()

/** The words of an example behind the name of its command, as a shell reads them. */
const wordsOf = (example: string, full: string): ReadonlyArray<string> =>
  separated(
    Array.from(example.matchAll(/'([^']*)'|(\S+)/gu), ([, quoted, plain]) => quoted ?? plain ?? ""),
  ).slice(full.split(" ").length - 1)

describe.each(all)("%s", (full, usage) => {
  const known = optionsIn(usage)
  const wrong = (...args: ReadonlyArray<string>) => wrongCall(full, args, usage, undefined)

  it("guesses every option, and says whether it is given twice or lacks its value", () => {
    for (const [option, { hasValue, isRepeated, choices }] of known) {
      for (let at = 2; at < option.length; at++) {
        const left = option.slice(0, at) + option.slice(at + 1)
        const doubled = option.slice(0, at) + option.slice(at - 1)
        for (const typed of [left, doubled].filter((one) => !known.has(one) && /^--[a-z]/u.test(one))) {
          const said = wrong(typed, "x") ?? ""
          expect(said).toContain(`has no option ${typed}`)
          const guess = /did you mean "(--[a-z-]+)"/u.exec(said)?.[1]
          // Of two options that are as near, either may have been meant.
          expect(guess === option || known.has(guess ?? "") || guess === "--help").toBe(true)
        }
      }
      if (hasValue) {
        expect(wrong(option)).toBe(`${option} lacks its value`)
        const empty = `${option} has an empty value; give it one, or leave it out`
        if (mayBeEmpty.has(option)) expect(wrong(option, "")).not.toBe(empty)
        else expect(wrong(option, "")).toBe(empty)
      }
      const [value = "x"] = choices
      const twice = hasValue ? [option, value, option, value] : [option, option]
      if (!isRepeated) expect(wrong(...twice)).toBe(`${option} is given twice`)
      else expect(wrong(...twice) ?? "").not.toContain("twice")
    }
    expect(wrong("--help", "--nonsense")).toBeUndefined()
  })

  it("has examples, and each is a call of it", () => {
    const said = (examples[full] ?? []).map((example) => [example, wrong(...wordsOf(example, full))])
    expect(said).not.toEqual([])
    expect(said.filter(([, problem]) => problem !== undefined)).toEqual([])
  })

  it("says which values an option has, where it has a few", () => {
    for (const [option, { choices }] of known)
      if (choices.length > 0)
        expect(wrong(option, `${choices[0]}z`)).toBe(
          `${option} is one of ${choices.join(", ")}; did you mean "${choices[0]}"? "${choices[0]}z" is none`,
        )
  })

  it("says which word is one too many, and which is needed", () => {
    const required = [...known].flatMap(([option, { isRequired }]) => (isRequired ? [option, "x"] : []))
    const words = usage.match(/\[?<[^>]+>\]?(\.\.\.)?/gu) ?? []
    const needed = words.filter((word) => !/^\[|\.\.\.$/u.test(word))
    const typed = words.map((_, at) => `w${at}`)
    expect(wrong(...required, ...typed)).toBeUndefined()
    if (!words.some((word) => word.endsWith("..."))) {
      expect(wrong(...required, ...typed, "extra")).toContain('"extra" is one too many')
      expect(wrong(...required, "--", ...typed, "--extra")).toContain('"--extra" is one too many')
    }
    // What stands behind the name of a program is the program's.
    for (const [at, word] of (full === "memfold wrap" ? [] : words).entries()) {
      const named = word.replaceAll(/^\[?<|>\]?(?:\.\.\.)?$/gu, "")
      expect(wrong(...required, ...typed.slice(0, at), "")).toContain(`${named} of ${full} is empty`)
      expect(wrong(...typed.slice(0, at), "-", ...required)).toContain(`- stands where ${named} is expected`)
    }
    for (let given = 0; given < needed.length; given++)
      expect(wrong(...required, ...typed.slice(0, given))).toBe(
        `${full} needs ${needed[given]!.replaceAll(/[<>]/gu, "")}`,
      )
  })
})

it("every command is in one group, and the ones to begin with are commands", () => {
  const names = Object.values(groups).flatMap((group) => Object.keys(group.commands))
  expect(new Set(names).size).toBe(names.length)
  expect(first.filter((name) => !commands.has(name))).toEqual([])
})
