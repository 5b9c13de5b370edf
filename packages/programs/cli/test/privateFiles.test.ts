/** Every file that the command line writes is for its owner alone, also where a link to nowhere stands in its place. */
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { inFolder } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("private")
const chat = file("chat.json", [
  { role: "user", content: "Hello" },
  { role: "assistant", content: "Hi" },
])
const store = `sqlite:${join(folder, "chats.db")}`

beforeAll(async () => {
  expect((await memfold("replay", chat, "--store", store)).code).toBe(0)
})

/** The commands that write a file, with its name in place of `FILE`. */
const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["replay", chat, "--store", "sqlite:FILE"],
  ["tour", "--file", "FILE"],
  ["copy", "--from", store, "--to", "sqlite:FILE"],
  [
    "import",
    "--from",
    "sliding-window",
    file("s.json", { messages: [{ role: "user", content: "Hello" }], last_consolidated: 0 }),
    "--store",
    "sqlite:FILE",
  ],
  ["export", "FILE", "--store", store],
  ["store", "backup", "--store", store, "--to", "FILE"],
  ["lab", chat, "--policy", "window", "--page", "FILE"],
]

/** The files of a folder that others than the owner can open. */
const open = (path: string): ReadonlyArray<string> =>
  readdirSync(path).filter((name) => {
    const at = join(path, name)
    return existsSync(at) && (statSync(at).mode & 0o077) !== 0
  })

describe.each(
  commands.map((command, at) => [command.slice(0, 2).join(" ").replaceAll(folder, ""), at, command] as const),
)("%s", (_, at, command) => {
  const run = (path: string) => memfold(...command.map((one) => one.replace("FILE", path)))

  it("writes it for its owner alone", async () => {
    const path = join(folder, `new-${at}`)
    mkdirSync(path)
    expect(await run(join(path, "file"))).toMatchObject({ code: 0, err: "" })
    expect(readdirSync(path)).toContain("file")
    expect(open(path)).toEqual([])
  })

  it("leaves nothing for others where a link to nowhere stands", async () => {
    const path = join(folder, `link-${at}`)
    mkdirSync(path)
    symlinkSync(join(path, "nowhere"), join(path, "file"))
    const { code, err } = await run(join(path, "file"))
    expect(open(path)).toEqual([])
    if (code !== 0) expect(err.trimEnd().split("\n")).toHaveLength(1)
  })
})
