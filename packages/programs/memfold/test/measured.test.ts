/** The tables of docs/runtimes.md are those of what was measured, for the versions that `scripts/runtimes` names now. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { measured, tables } from "../../../../scripts/release/measured.mjs"

const page = readFileSync(new URL("../../../../docs/runtimes.md", import.meta.url), "utf8")

/** The cells of each row of the table between two comments. */
const cellsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .trim()
    .split("\n")
    .filter((line) => !/^\|[\s|-]+\|$/u.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

it.each(Object.entries(tables()))("the table of %s is made of what was measured", (name, made) => {
  const [, inPage = ""] = page.split(new RegExp(`<!-- /?${name} -->`, "u"))
  expect(cellsOf(inPage)).toEqual(cellsOf(made))
})

it("the page names the oldest TypeScript, which a release is tried with", () => {
  const [major, minor] = measured().typescript.split(".")
  expect(page).toContain(`need **TypeScript ${major}.${minor}** or later`)
})

it("no runtime is listed that failed to run a block without a name for it", () => {
  for (const { failed, of } of measured().runtimes) expect(failed.length).toBeLessThan(of)
})

it("the page counts the packages of an installation as its table does", () => {
  const count = (name: string) =>
    measured().installs.find(({ names }) => names.join(" ") === name)!.npm.packages
  const [alone, onNode20] = [count("memfold"), count("memfold better-sqlite3")]
  const said = page.replaceAll(/\s+/gu, " ")
  expect(said).toContain(
    `beside \`memfold\`: ${alone} packages, no native code. In Node 20 it is ${onNode20} packages`,
  )
  expect(said).toContain(`the ${onNode20 - alone} more are`)
})
