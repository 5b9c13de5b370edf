/** L23 over files: in whatever encoding one comes, and however it is taken apart, it says the same, or it is refused with what to do. */
import { describe, expect, it } from "@effect/vitest"
import { often } from "@memfold/harness/depth"
import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, vi } from "vitest"
import { conversations } from "../../test/conserving/model.js"
import { writers } from "../../test/conserving/writers.js"
import { InputLimit } from "../input/Input.js"
import { readSource, type Source } from "../transcript/source.js"
import { parseEachOf } from "../transcript/Transcript.js"
import { openExport } from "../move/exported.js"
import { sourcesOf } from "./sources.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-sources-"))
beforeAll(() => {
  // How far a large file is read is told on standard error.
  vi.spyOn(console, "error").mockImplementation(() => undefined)
})
afterAll(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})
const file = join(folder, "f")

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le")
const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a mark": (text) => Buffer.from(`\uFEFF${text}`),
  "UTF-16 of PowerShell": (text) => utf16(`\uFEFF${text}`),
  "UTF-16 without a mark": utf16,
  "UTF-16, big end first": (text) => utf16(`\uFEFF${text}`).swap16(),
  "UTF-16, big end first, without a mark": (text) => utf16(text).swap16(),
}

const packings: Readonly<Record<string, readonly [pack: (text: string) => Buffer, hint: string]>> = {
  gzip: [gzipSync, "compressed with gzip; unpack it first (gunzip -k)"],
  ZIP: [(text) => Buffer.from(`PK\u0003\u0004${text}`), "a ZIP archive; unpack it first (unzip), and name"],
  Zstandard: [(text) => Buffer.concat([Buffer.from("28b52ffd", "hex"), Buffer.from(text)]), "(unzstd)"],
  xz: [(text) => Buffer.concat([Buffer.from("fd377a585a00", "hex"), Buffer.from(text)]), "(unxz -k)"],
  bzip2: [(text) => Buffer.from(`BZh9${text}`), "(bunzip2 -k)"],
}

const said = (sources: ReadonlyArray<Source>): unknown =>
  sources.map((source) =>
    Either.getOrThrow(parseEachOf(source, { file: "f" })).map(({ transcript }) => transcript),
  )

/** What is said in a file, read with a limit in MiB. */
const read = (bytes: Buffer, limit?: number) =>
  Effect.gen(function* () {
    writeFileSync(file, bytes)
    const { sources } = yield* sourcesOf(file, { format: "auto", skips: false })
    return said((yield* Stream.runCollect(sources)).pipe((all) => [...all]).map(({ source }) => source))
  }).pipe(limit === undefined ? (effect) => effect : Effect.provideService(InputLimit, limit))

const conversation = (seed: number) => fc.sample(conversations, { seed, numRuns: 1 })[0]!

describe.each(writers)("L23: a file of $format", ({ write, has }) => {
  it.effect("says the same in each encoding, at once and line by line", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= often(3, 30); seed++) {
        const text = write(conversation(seed))
        const expected = said([Either.getOrThrow(readSource(text))])
        for (const encode of Object.values(encodings)) {
          expect(yield* read(encode(text))).toEqual(expected)
          if (!has.includes("lines") || !text.includes("\n")) continue
          const longest = Math.max(...text.split("\n").map(({ length }) => length))
          for (const end of ["\n", "\r\n", "\r"])
            expect(yield* read(encode(text.replaceAll("\n", end)), (longest + 1) / 2 ** 20)).toEqual(expected)
        }
      }
    }),
  )
})

describe.each(Object.entries(packings))("a file in %s", (_, [pack, hint]) => {
  it.effect("is refused, with what to do, at once and piece by piece, and as an export", () =>
    Effect.gen(function* () {
      const bytes = pack(writers[0]!.write(conversation(1)))
      for (const limit of [undefined, bytes.length / 2 ** 21])
        expect((yield* Effect.flip(read(bytes, limit))).message).toContain(hint)
      expect((yield* Effect.flip(openExport(file))).message).toContain(hint)
    }),
  )
})

describe("one conversation, or one line, beyond the limit", () => {
  const list = (most: number) =>
    JSON.stringify(
      Array.from({ length: 5 }, (_, at) => ({
        conversations: [{ from: "human", value: at === 2 ? "long ".repeat(most) : `question ${at}` }],
      })),
    )

  it.effect("is named with its place; --skip-damaged reads the others", () =>
    Effect.gen(function* () {
      const limit = 0.001
      const rows = Array.from({ length: 5 }, (_, at) =>
        JSON.stringify({ role: "user", content: at === 2 ? "long ".repeat(1_000) : `question ${at}` }),
      )
      for (const [text, place, others] of [
        [list(1_000), "element 2: it is larger than", 4],
        [rows.join("\n"), "3: a line is too long", 1],
      ] as const) {
        expect((yield* Effect.flip(read(Buffer.from(text), limit))).message).toContain(place)
        writeFileSync(file, text)
        const { sources } = yield* Effect.provideService(
          sourcesOf(file, { format: "auto", skips: true }),
          InputLimit,
          limit,
        )
        const all = [...(yield* Stream.runCollect(sources))].map(({ source }) => source)
        const whole = all.filter(({ rows: [first] }) => first !== undefined)
        expect(whole).toHaveLength(others)
        expect(all.flatMap(({ damaged }) => damaged)).toEqual([
          others === 4
            ? { problem: expect.stringContaining("element 2: it is larger than") }
            : { line: 3, problem: expect.stringContaining("larger than") },
        ])
      }
    }),
  )

  it.effect("of a list that was cut off, names the cut wherever it is, and reads what stands before", () =>
    Effect.gen(function* () {
      const text = list(1)
      const firstEnd = text.indexOf("question 1")
      for (let end = firstEnd; end < text.length; end++) {
        const cut = text.slice(0, end)
        const limit = 90 / 2 ** 20
        expect((yield* Effect.flip(read(Buffer.from(cut), limit))).message).toContain(
          "not JSON (unexpected end)",
        )
        writeFileSync(file, cut)
        const { sources } = yield* Effect.provideService(
          sourcesOf(file, { format: "sharegpt", skips: true }),
          InputLimit,
          limit,
        )
        const all = [...(yield* Stream.runCollect(sources))].map(({ source }) => source)
        expect(all.flatMap(({ damaged }) => damaged)).toEqual([{ problem: "not JSON (unexpected end)" }])
        const values = JSON.stringify(all.map(({ document }) => document))
        for (const question of cut.match(/question \d(?="\})/g) ?? []) expect(values).toContain(question)
      }
    }),
  )
})
