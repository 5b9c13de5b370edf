import { type Console, Effect, Exit, Option } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { chosenStrategy } from "./options.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-options-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Chooses a strategy with a settings file; returns what its tail keeps, and what is printed to standard error. */
const chosen = async (name: string, settings: object) => {
  const path = join(folder, "settings.json")
  writeFileSync(path, JSON.stringify(settings))
  const warnings: Array<string> = []
  const exit = await Effect.runPromiseExit(
    Effect.consoleWith((console) =>
      chosenStrategy(name, { set: [], settings: Option.some(path), environmentPrefix: "MEMFOLD_" }).pipe(
        Effect.withConsole({
          ...console,
          error: (line: unknown) => Effect.sync(() => void warnings.push(String(line))),
        } as Console.Console),
      ),
    ),
  )
  return {
    keep: Exit.isSuccess(exit) ? exit.value.keep.describe : null,
    warnings: warnings.map((line) => line.replace(path, "FILE")),
  }
}

it("what no strategy knows in a settings file is a warning", async () => {
  expect(await chosen("sliding-window", { tail_keep_size: 9, memory_window: 50, theme: "dark" })).toEqual({
    keep: "the last 9 messages",
    warnings: ['memfold: --settings FILE: no strategy has a setting "memory_window", "theme"; ignored'],
  })
  // A mistyped setting is refused, as `createMemory` refuses it.
  expect(await chosen("sliding-window", { tail_keep_sise: 8, theme: "dark" })).toEqual({
    keep: null,
    warnings: ['memfold: --settings FILE: no strategy has a setting "theme"; ignored'],
  })
  expect(await chosen("sliding-window", { tail_keep_size: 9, bufferSize: 8 })).toMatchObject({ warnings: [] })
  const file = { theme: "dark", agent: { name: "a", contextWindow: { fullContextTurns: 2, turns: 3 } } }
  expect(await chosen("rounds", file)).toEqual({
    keep: "the last 2 rounds",
    warnings: ['memfold: --settings FILE: no strategy has a setting "turns"; ignored'],
  })
})

it("the rolling strategy has the name under which its states are imported, too", async () => {
  expect((await chosen("rolling", { buffer_size: 3 })).keep).toBe("the last 3 messages")
})
