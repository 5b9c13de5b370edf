/** Whatever a command is given to read, the read ends, within its limit and with a reason. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { firstBytes, InputLimit, readText, requireText } from "./Input.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-input-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)

const problem = (file: string, limit = 1): Effect.Effect<string> =>
  readText(file).pipe(
    Effect.provideService(InputLimit, limit),
    Effect.match({ onFailure: (error) => error.message, onSuccess: (text) => `read ${text.length}` }),
  )

describe("what a command reads", () => {
  it.effect("is text up to the limit, and no byte more", () =>
    Effect.gen(function* () {
      for (const [size, expected] of [
        [0, "read 0"],
        [2 ** 20, `read ${2 ** 20}`],
        [
          2 ** 20 + 1,
          `${at("text")}: it is larger than 1 MiB; --input-limit N reads up to N MiB, at most 511`,
        ],
      ] as const) {
        writeFileSync(at("text"), "x".repeat(size))
        expect(yield* problem(at("text"))).toBe(expected)
      }
      expect(yield* problem(at("text"), 2)).toBe(`read ${2 ** 20 + 1}`)
      // A file with a hole has a size, and no blocks.
      writeFileSync(at("sparse"), "")
      truncateSync(at("sparse"), 2 ** 40)
      expect(yield* problem(at("sparse"), 511)).toBe(`${at("sparse")}: it is larger than 511 MiB`)
    }),
  )

  it.effect("is no device, folder, broken link, or other encoding", () =>
    Effect.gen(function* () {
      mkdirSync(at("folder"))
      symlinkSync("/dev/zero", at("link"))
      symlinkSync(at("nowhere"), at("dangling"))
      writeFileSync(at("latin"), Buffer.from([0xe9]))
      for (const [file, expected] of [
        ["/dev/zero", /it is a device, not a file$/],
        ["/dev/urandom", /it is a device, not a file$/],
        [at("link"), /it is a device, not a file$/],
        [at("folder"), /it is a folder$/],
        [at("dangling"), /there is no such file$/],
        [at("latin"), /it is neither UTF-8 nor UTF-16 text/],
      ] as const) {
        expect(yield* problem(file)).toMatch(expected)
        if (file === at("latin")) continue
        expect((yield* Effect.flip(requireText(file))).message).toMatch(expected)
        expect((yield* Effect.flip(firstBytes(file, 16))).message).toMatch(expected)
      }
    }),
  )

  it.live("may be a pipe, which is read to its end or to the limit", () =>
    Effect.gen(function* () {
      execFileSync("mkfifo", [at("pipe")])
      for (const [count, expected] of [
        [1_000, /^read 1000$/],
        [2 ** 20, /^read 1048576$/],
        [2 ** 33, /it is larger than 1 MiB/],
      ] as const) {
        const writer = spawn("sh", ["-c", `head -c ${count} /dev/zero > "${at("pipe")}"`])
        const ended = once(writer, "close")
        expect(yield* problem(at("pipe"))).toMatch(expected)
        yield* Effect.promise(() => ended)
      }
      const writer = spawn("sh", ["-c", `echo text > "${at("pipe")}"`])
      const ended = once(writer, "close")
      expect((yield* Effect.flip(requireText(at("pipe")))).message).toMatch(/it is not a file/)
      yield* Effect.promise(() => ended)
    }),
  )
})
