import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { writeLines } from "./writeLines.js"
import { run } from "../../test/movedLogs.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-move-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("a file of lines", () => {
  const folderOf = () => mkdtempSync(join(folder, "lines-"))

  it("is there as a whole, and never in place of another", () =>
    run(
      Effect.gen(function* () {
        const inside = folderOf()
        const file = join(inside, "a.jsonl")
        yield* writeLines(file, Stream.make("one", "𝕊", "three"))
        expect(readFileSync(file, "utf8")).toBe("one\n𝕊\nthree\n")
        // Conversations are for the eyes of their owner.
        expect(statSync(file).mode & 0o777).toBe(0o600)
        expect(yield* Effect.flip(writeLines(file, Stream.make("other")))).toMatchObject({
          _tag: "NotWritten",
          message: `${file} exists already`,
        })
        const meanwhile = join(inside, "b.jsonl")
        const late = Stream.tap(Stream.make("mine"), () =>
          Effect.sync(() => writeFileSync(meanwhile, "theirs")),
        )
        expect(yield* Effect.flip(writeLines(meanwhile, late))).toMatchObject({ _tag: "NotWritten" })
        expect(readFileSync(meanwhile, "utf8")).toBe("theirs")
        writeFileSync(join(inside, "c.jsonl.partial"), "theirs")
        const taken = yield* Effect.flip(writeLines(join(inside, "c.jsonl"), Stream.make("mine")))
        expect(taken.message).toContain("c.jsonl.partial exists already")
        expect(readdirSync(inside).toSorted()).toEqual(["a.jsonl", "b.jsonl", "c.jsonl.partial"])
        const nowhere = yield* Effect.flip(writeLines(join(inside, "no", "d.jsonl"), Stream.make("mine")))
        expect(nowhere.message).toContain("cannot be written")
      }),
    ))

  it("is not there when its lines fail, die or are interrupted, and each stays what it was", () =>
    run(
      Effect.gen(function* () {
        const inside = folderOf()
        const file = join(inside, "a.jsonl")
        const before = Stream.make("one")
        const failing = Stream.concat(before, Stream.fail("failed" as const))
        expect(yield* Effect.exit(writeLines(file, failing))).toEqual(Exit.fail("failed"))
        const dying = Stream.concat(before, Stream.die("died"))
        expect(yield* Effect.exit(writeLines(file, dying))).toEqual(Exit.die("died"))
        const reached = yield* Deferred.make<void>()
        const waiting = Stream.concat(
          before,
          Stream.fromEffect(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never)),
        )
        const fiber = yield* Effect.fork(writeLines(file, waiting))
        yield* Deferred.await(reached)
        expect(existsSync(`${file}.partial`)).toBe(true)
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
        expect(readdirSync(inside)).toEqual([])
      }),
    ))
})
