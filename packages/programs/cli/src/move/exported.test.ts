import { EventLog, InMemoryEventLog, Message, Repair, Verify } from "@memfold/core"
import { Effect, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { copySession } from "@memfold/archive"
import { exportLines, openExport } from "./exported.js"
import { damaged, memoryOver, filled, read, run } from "../../test/movedLogs.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-move-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("an export", () => {
  const exported = (log: EventLog.Service) =>
    Effect.map(
      Stream.runCollect(
        exportLines(
          log,
          Stream.map(EventLog.sessions(log), ({ session }) => session),
        ),
      ),
      (lines) => [...lines],
    )

  let files = 0
  const fileOf = (lines: ReadonlyArray<string>) => {
    const path = join(folder, `${files++}.jsonl`)
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""))
    return path
  }

  it("has everything, and a store made of it is the same", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* filled, yield* InMemoryEventLog.make]
        const file = yield* openExport(fileOf(yield* exported(from)))
        expect(file.sessions).toEqual(["one", 'two\n"2"'])
        for (const session of file.sessions) {
          yield* copySession(file, to, session)
          expect(yield* read(to, session)).toEqual(yield* read(from, session))
        }
        expect(yield* exported(to)).toEqual(yield* exported(from))
      }),
    ))

  it("has a damaged message that is set aside as it is, and no other one", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [damaged(yield* filled, 4, "changed"), yield* InMemoryEventLog.make]
        expect(yield* Effect.flip(exported(from))).toHaveProperty(
          "reason",
          expect.stringContaining("event 4 is damaged"),
        )
        for (const session of ["one", 'two\n"2"']) yield* Repair.repair(from, session)
        yield* copySession(yield* openExport(fileOf(yield* exported(from))), to, "one")
        expect(yield* read(to, "one")).toEqual(yield* read(from, "one"))
        expect(yield* Verify.session(to, "one")).toEqual([])
      }),
    ))

  it("does not count a session that was deleted since it was listed, and may have a byte order mark", () =>
    run(
      Effect.gen(function* () {
        const from = yield* filled
        const listed = Stream.make("one", "deleted", 'two\n"2"')
        const lines = [...(yield* Stream.runCollect(exportLines(from, listed)))]
        expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ memfold: "end", sessions: 2 })
        expect((yield* openExport(fileOf(lines))).sessions).toEqual(["one", 'two\n"2"'])
        // Some programs that write a file anew begin it with a byte order mark.
        const marked = lines.map((line, at) => (at === 0 ? `\uFEFF${line}` : line))
        expect((yield* openExport(fileOf(marked))).sessions).toHaveLength(2)
      }),
    ))

  it("has lines of any length, whatever the chunks they are read in", () =>
    run(
      Effect.gen(function* () {
        const [from, to] = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
        const memory = yield* memoryOver(from)
        // Of three bytes each, so that no power of two is between two of them.
        for (const length of [10, 21_845, 100_000, 1, 300_000]) {
          yield* memory.append("long", Message.user("你".repeat(length)))
        }
        yield* memory.append("next", Message.user("short"))
        const file = yield* openExport(fileOf(yield* exported(from)))
        for (const session of ["next", "long"]) {
          yield* copySession(file, to, session)
          expect(yield* read(to, session)).toEqual(yield* read(from, session))
        }
      }),
    ))

  it("that was cut off, changed or shuffled is refused before anything is written, by file and line", () =>
    run(
      Effect.gen(function* () {
        const lines = yield* exported(yield* filled)
        const refused = (changed: ReadonlyArray<string>) =>
          Effect.map(Effect.flip(openExport(fileOf(changed))), ({ message }) =>
            message.slice(folder.length + 1).replace(/^\d+/u, "X"),
          )
        expect(yield* refused(lines.slice(0, -1))).toMatch(/^X.jsonl: it was cut off/)
        expect(yield* refused([...lines.slice(0, 3), (lines[3] ?? "").slice(0, 40)])).toMatch(
          /^X.jsonl:4: this line is not a record/,
        )
        const changed = lines.map((line) => line.replace("said 4", "says 4"))
        expect(yield* refused(changed)).toMatch(/^X.jsonl: its sums are wrong/)
        const [head = "", first = "", second = "", ...rest] = lines
        expect(yield* refused([head, second, first, ...rest])).toMatch(/^X.jsonl:2: event 2 .* out of order/)
        expect(yield* refused([...lines, first])).toMatch(/after the end/)
        expect(yield* refused(lines.slice(1))).toMatch(/^X.jsonl:1: it is not an export/)
        const newer = (fields: object) =>
          refused([JSON.stringify({ ...JSON.parse(head), version: 2, ...fields }), ...lines.slice(1)])
        const form = "in form 2, and this one reads form 1; update to"
        expect(yield* newer({ writer: "7.0.0" })).toBe(
          `X.jsonl:1: it was exported by memfold 7.0.0, ${form} memfold 7.0.0`,
        )
        expect(yield* newer({ writer: undefined })).toContain(`a newer memfold, ${form} a newer memfold`)
        expect(yield* refused([])).toMatch(/cut off/)
        expect((yield* Effect.flip(openExport(join(folder, "nowhere")))).message).toMatch(
          /there is no such file/,
        )
      }),
    ))
})
