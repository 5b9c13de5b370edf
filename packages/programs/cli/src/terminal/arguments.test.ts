import { expect, it } from "vitest"
import { separated } from "./arguments.js"

it("an option and its value are two arguments, however they were typed; what is behind -- stays as it is", () => {
  expect(
    separated(["worker", "--store=postgres://h/db?a=b", "--set=bufferSize=4", "--title=", "--json", "a=b"]),
  ).toEqual([
    "worker",
    "--store",
    "postgres://h/db?a=b",
    "--set",
    "bufferSize=4",
    "--title",
    "",
    "--json",
    "a=b",
  ])
  expect(separated(["wrap", "codex", "--proxy=http://h", "--", "exec", "--model=large", "--"])).toEqual([
    "wrap",
    "codex",
    "--proxy",
    "http://h",
    "--",
    "exec",
    "--model=large",
    "--",
  ])
})
