/** Each option of each command, mistyped by one letter, is refused with what was meant. */
import { describe, expect, it } from "vitest"
import { commands, first, groups } from "../command/table.js"
import { usageOf } from "../program.js"
import { optionsIn, wrongOption } from "./wrongCall.js"

describe.each([...commands])("memfold %s", (name, { load }) => {
  it("guesses every option, and says whether it is given twice or lacks its value", async () => {
    const usage = usageOf(await load())
    const known = optionsIn(usage)
    const wrong = (...args: ReadonlyArray<string>) => wrongOption(`memfold ${name}`, args, usage, undefined)
    for (const [option, { hasValue, isRepeated }] of known) {
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
      if (hasValue) expect(wrong(option)).toBe(`${option} lacks its value`)
      const twice = hasValue ? [option, "x", option, "y"] : [option, option]
      if (!isRepeated) expect(wrong(...twice)).toBe(`${option} is given twice`)
      else expect(wrong(...twice) ?? "").not.toContain("twice")
    }
    expect(wrong("--help", "--nonsense")).toBeUndefined()
  })
})

it("every command is in one group, and the ones to begin with are commands", () => {
  const names = Object.values(groups).flatMap((group) => Object.keys(group.commands))
  expect(new Set(names).size).toBe(names.length)
  expect(first.filter((name) => !commands.has(name))).toEqual([])
})
