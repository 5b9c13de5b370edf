/** Calls of `memfold lab` that are wrong. */
import { describe, expect, it } from "vitest"
import { labFiles } from "./labFiles.js"

const { memfold, file, small, mine } = labFiles("lab-refusals")

describe("is refused in one line that says what is allowed:", () => {
  const broken = file("broken.jsonl", '{"role":"user","content":"secret"}\n{"role":')
  const wrong = file("wrong.json", [{ conversation: { session_1: [{}] }, qa: [] }])
  const noPolicy = file("none.mjs", "export default 42")
  const throwing = file("throwing.mjs", "throw new RangeError()")
  it.each<[string, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["a file that is not there", ["absent.json"], ["absent.json", "no such file"]],
    ["a broken file", [broken], [`${broken}:2`, "not JSON"]],
    ["a broken data set", [wrong], [wrong, "LoCoMo", "conversation 0"]],
    ["an unknown policy", [small, "--policy", "best"], ['"best"', "sliding-window, rounds"]],
    ["an unknown setting", [small, "--policy", "rounds:tail=4"], ['"tail"', "fullContextTurns"]],
    ["an unknown shared setting", [small, "--set", "nothing=1"], ['"nothing"', "bufferSize"]],
    ["settings that are none", [small, "--policy", "rounds:many"], ["--policy rounds:many", "key=value"]],
    ["a module that is not there", [small, "--policy", "./absent.mjs"], ["./absent.mjs", "no such file"]],
    ["a module without a strategy", [small, "--policy", noPolicy], [noPolicy, "Strategy.make"]],
    ["a module that throws", [small, "--policy", throwing], [throwing, "RangeError"]],
    ["an unknown policy of a module", [small, "--policy", `${mine}#long`], ['"long"', "rounds, short"]],
    ["unknown prices", [small, "--prices", "gold"], ['"gold"', "claude-sonnet-5.5", "JSON"]],
    ["a file that has no prices", [small, "--prices", small], [small, "cacheMinutes"]],
    ["a module without a summarizer", [small, "--summarizer", noPolicy], [noPolicy, "{ system, user }"]],
    ["an unknown summarizer", [small, "--summarizer", "magic"], ["extractive, echo"]],
    ["no worker", [small, "--workers", "0"], ["--workers 0", "from 1"]],
    ["nothing to recall", [small, "--recall", "0"], ["--recall 0", "from 1"]],
    ["no tokens for automatic recall", [small, "--auto-recall", "0"], ["--auto-recall 0", "from 1"]],
    ["a conversation that is not there", [small, "--pick", "1"], [small, "allowed: 0"]],
    [
      "a page that cannot be written",
      [small, "--policy", "rounds", "--page", "absent/x.html"],
      ["absent/x.html"],
    ],
  ])("%s", async (_, args, parts) => {
    const { code, out, err } = await memfold("lab", ...args)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err.trimEnd().split("\n")).toHaveLength(1)
    for (const part of parts) expect(err).toContain(part)
    expect(err).not.toContain("secret")
  })
})
