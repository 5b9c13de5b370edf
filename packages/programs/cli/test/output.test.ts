/** What the command line prints where a text or the output is hostile. */
import { spawn } from "node:child_process"
import { closeSync, existsSync, openSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { inFolder, lines, program } from "@memfold/harness/program"
import { tamper } from "./databases.js"

const { folder, memfold, file } = inFolder("output")

const chat = (messages: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: messages }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `message ${index} says a little something`,
    ...extra(index),
  }))

describe("an id that would steer the terminal", () => {
  const id = "a\u001B[31m\nb\u0007\u007F\u009Bc"
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  const controls = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/

  it("is shown without its control characters, in text and in errors; JSON has it as it is", async () => {
    const path = join(folder, "steering.db")
    const store = ["--store", `sqlite:${path}`]
    await memfold("replay", file("steering.json", chat(60)), ...store, "--session", id)
    const shown = async (...args: ReadonlyArray<string>) => {
      const { out, err } = await memfold(...args, ...store)
      expect(out + err).not.toMatch(controls)
      return out + err
    }
    expect((await shown("sessions")).trimEnd().split("\n")).toHaveLength(3)
    expect(await shown("context", id)).toContain('Session "a [31m b c"')
    expect(await shown("context", `no ${id}`)).toMatch(
      /^memfold: there is no session "no a \[31m b c" in .*; it has: a \[31m b c\n$/,
    )
    await shown("summaries", id)
    expect(lines((await memfold("sessions", ...store, "--json")).out)).toMatchObject([{ session: id }])
    tamper(
      path,
      "INSERT INTO types VALUES (99, 'x' || char(27) || '[8m'); UPDATE events SET type = 99 WHERE version = 3; UPDATE events SET data = '{' WHERE version = 4",
    )
    expect(await shown("events", id)).toContain("x [8m")
    expect(await shown("verify")).toContain('session "a [31m b c", event 4: ')
    expect(await shown("repair")).toContain('session "a [31m b c", event 4: ')
  })

  it("or that is very long is cut in a table", async () => {
    const store = ["--store", `sqlite:${join(folder, "long-id.db")}`]
    const long = "x".repeat(300)
    await memfold("replay", file("long-id.json", chat(3)), ...store, "--session", long)
    expect((await memfold("sessions", ...store)).out).toMatch(/^x{59}…  /m)
    expect(lines((await memfold("sessions", ...store, "--json")).out)).toMatchObject([{ session: long }])
  })
})

describe.skipIf(!existsSync("/dev/full"))("standard output on a full disk", () => {
  it("is one line on standard error and exit code 2", async () => {
    const store = `sqlite:${join(folder, "full.db")}`
    await memfold("replay", file("full.json", chat(60)), "--store", store, "--session", "s")
    for (const args of [["events", "s"], ["export"], ["verify"]]) {
      const full = openSync("/dev/full", "w")
      const child = spawn(process.execPath, [program, ...args, "--store", store], {
        stdio: ["ignore", full, "pipe"],
      })
      closeSync(full)
      let err = ""
      child.stderr?.on("data", (data: Buffer) => {
        err += data.toString()
      })
      const code = await new Promise((resolve) => child.once("close", resolve))
      expect({ code, err }).toEqual({
        code: 2,
        err: "memfold: standard output cannot be written: no space left on device\n",
      })
    }
  })
})
