/** What commands read has an end: devices, pipes, folders, and files beyond the limit are one line that says why. */
import { execFile } from "node:child_process"
import { truncateSync } from "node:fs"
import { basename, join } from "node:path"
import { expect, it } from "vitest"
import { inFolder, program, sample } from "@memfold/harness/program"

const { folder, memfold, file } = inFolder("inputs")

const talk = Array.from({ length: 4 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: `message ${at}`,
}))
const chat = file("chat.json", talk)
const state = file("state.json", { messages: talk, last_consolidated: 2 })

/** Every way to name a file that is read, with the file in place of `FILE`. */
const calls: ReadonlyArray<ReadonlyArray<string>> = [
  ["replay", "FILE"],
  ["replay", chat, "FILE"],
  ["replay", chat, "--settings", "FILE"],
  ["lab", "FILE"],
  ["lab", chat, "--settings", "FILE"],
  ["lab", chat, "--prices", "FILE"],
  ["lab", chat, "--policy", "FILE"],
  ["lab", chat, "--summarizer", "FILE"],
  ["import", "FILE"],
  ["import", "--from", "sliding-window", "FILE"],
  ["import", "--from", "sliding-window", state, "--summary", "FILE"],
  ["import", "--from", "split-turn", "FILE"],
  ["import", "--from", "rolling", "FILE"],
  ["import", "--from", "rolling", sample("old-rolling.json"), "--messages", "FILE"],
]

it.each(calls.map((call) => [call.map((one) => basename(one)).join(" "), call] as const))(
  "%s",
  async (_, call) => {
    for (const [what, why] of [
      ["/dev/zero", /device, not a file|no such file/],
      [folder, /folder|no such file/],
    ] as const) {
      const { code, out, err } = await memfold(...call.map((one) => (one === "FILE" ? what : one)))
      expect([code, out]).toEqual([2, ""])
      expect(err).toMatch(why)
      expect(err.trimEnd().split("\n")).toHaveLength(1)
    }
  },
)

it("stops at the limit, which --input-limit raises", async () => {
  const large = file("large.json", `${JSON.stringify(talk)}${" ".repeat(2 ** 20)}`)
  for (const command of [["replay"], ["lab", "--policy", "window"], ["import", "--from", "sliding-window"]]) {
    const given = command[0] === "import" ? state : chat
    const padded =
      command[0] === "import"
        ? file(
            "padded.json",
            `${JSON.stringify({ messages: talk, last_consolidated: 2 })}${" ".repeat(2 ** 20)}`,
          )
        : large
    expect((await memfold(...command, given, "--input-limit", "1")).code).toBe(0)
    const refused = await memfold(...command, padded, "--input-limit", "1")
    expect([refused.code, refused.out]).toEqual([2, ""])
    expect(refused.err).toMatch(/larger than 1 MiB; --input-limit N/)
    expect((await memfold(...command, padded, "--input-limit", "2")).code).toBe(0)
    expect((await memfold(...command, padded)).code).toBe(0)
    for (const wrong of ["0", "512", "-1"]) {
      const { code, err } = await memfold(...command, given, `--input-limit=${wrong}`)
      expect([code, err]).toEqual([2, expect.stringContaining("from 1 to 511")])
    }
  }
  // Larger than the memory of most machines.
  truncateSync(large, 2 ** 42)
  expect(await memfold("replay", large)).toMatchObject({
    code: 2,
    err: expect.stringContaining("larger than 400 MiB"),
  })
  const endless = file("endless.jsonl", "")
  truncateSync(endless, 2 ** 42)
  expect(await memfold("import", endless, "--input-limit", "2")).toMatchObject({
    code: 2,
    err: expect.stringContaining("a line is too long: it is larger than 2 MiB"),
  })
})

it("reads standard input and pipes, up to the limit", async () => {
  const shell = (script: string): Promise<{ code: number; err: string }> =>
    new Promise((resolve) => {
      const given = ["-c", script, "bash", process.execPath, program, chat]
      execFile("bash", given, { cwd: folder }, (error, _out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), err }),
      )
    })
  const limit = "--input-limit 2"
  expect(await shell(`"$1" "$2" replay /dev/stdin ${limit} < "$3"`)).toEqual({ code: 0, err: "" })
  expect(await shell(`cat "$3" | "$1" "$2" replay /dev/stdin ${limit}`)).toEqual({ code: 0, err: "" })
  expect(await shell(`"$1" "$2" replay <(cat "$3") ${limit}`)).toEqual({ code: 0, err: "" })
  for (const endless of [
    `cat /dev/zero | "$1" "$2" replay /dev/stdin ${limit}`,
    `"$1" "$2" replay <(cat /dev/zero) ${limit}`,
    `"$1" "$2" lab <(yes) ${limit}`,
    `"$1" "$2" import --from rolling <(yes) ${limit}`,
  ]) {
    const { code, err } = await shell(endless)
    expect([endless, code]).toEqual([endless, 2])
    expect(err).toContain("larger than 2 MiB")
  }
  const { code, err } = await shell(`"$1" "$2" replay /dev/stdin < /dev/zero`)
  expect([code, err]).toEqual([2, expect.stringContaining("it is a device")])
  expect((await shell(`"$1" "$2" import <(cat "$3")`)).err).toContain(
    "it is not a file; write it to one first",
  )
})

it("opens no device or pipe as a store", async () => {
  for (const store of ["/dev/zero", folder, join(folder, "no", "store.db")]) {
    for (const command of [["sessions"], ["replay", chat]]) {
      const { code, err } = await memfold(...command, "--store", `sqlite:${store}`)
      expect(code).not.toBe(0)
      expect(err.trimEnd().split("\n")).toHaveLength(1)
    }
  }
})
