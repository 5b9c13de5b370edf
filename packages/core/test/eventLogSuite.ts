/**
 * What every event log has to keep, whatever it is made of. A store's own test calls {@link eventLogSuite} with a
 * way to make a fresh log.
 */
import { Cause, Chunk, Effect, Exit, type Layer, Option, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { EventLog } from "../src/index.js"

type Records = readonly [EventLog.NewRecord, ...ReadonlyArray<EventLog.NewRecord>]

/** So many records, numbered from `first` on. */
const records = (count: number, first = 1): Records => {
  const one = (position: number): EventLog.NewRecord => ({
    at: 1_700_000_000_000 + first + position,
    type: "Noted",
    version: 1,
    data: `{"n":${first + position}}`,
  })
  return [one(0), ...Array.from({ length: count - 1 }, (_, position) => one(position + 1))]
}

/** Session ids that stores have stumbled over. */
const oddIds = [
  "chat-1",
  " spaces inside ",
  "单词 🎈 é",
  'it\'s "quoted"; DROP TABLE events;--',
  "100% %s %d _ \\",
  "line\nbreak\ttab",
  "a:b",
  "{a}",
  "*",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "?[a-z]",
  "NULL",
  "0",
  "x".repeat(4_000),
]

/**
 * Registers the suite under a name. `makeLayer` is called for every test and gives a layer over a log that is
 * empty; what the layer acquires, it releases.
 */
export const eventLogSuite = (
  name: string,
  makeLayer: () => Layer.Layer<EventLog.EventLog, unknown>,
): void => {
  const run = <A, E>(program: (log: EventLog.Service) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.provide(Effect.flatMap(EventLog.EventLog, program), makeLayer()))

  /** A test over a fresh log. */
  const test = (title: string, program: (log: EventLog.Service) => Effect.Effect<unknown, unknown>) =>
    it(`${title}`, async () => {
      expect.hasAssertions()
      await run(program)
    })

  const read = (log: EventLog.Service, session: string, options?: EventLog.ReadOptions) =>
    Effect.map(Stream.runCollect(log.read(session, options)), Chunk.toReadonlyArray)

  const seqs = (log: EventLog.Service, session: string, options?: EventLog.ReadOptions) =>
    Effect.map(read(log, session, options), (found) => found.map(({ seq }) => seq))

  const sessions = (log: EventLog.Service) =>
    Effect.map(Stream.runCollect(log.sessions), Chunk.toReadonlyArray)

  describe(`${name}: an event log`, () => {
    describe("append", () => {
      test("answers where the batch stands, from 1 on without a hole", (log) =>
        Effect.gen(function* () {
          expect(yield* log.append("s", records(3), { expected: 0, commit: "a" })).toEqual({
            from: 1,
            version: 3,
            duplicate: false,
          })
          expect(yield* log.append("s", records(1, 4), { expected: 3, commit: "b" })).toEqual({
            from: 4,
            version: 4,
            duplicate: false,
          })
          expect(yield* log.version("s")).toBe(4)
        }))

      test("stores a record as it is, in its place and with its batch", (log) =>
        Effect.gen(function* () {
          const data = '{ "b": 1,\n "a":"\\u0000 单词 🎈 \\ud83d it\'s" , "n":1.0}'
          const odd: EventLog.NewRecord = { at: 1, type: "Noted 🎈", version: 7, data }
          yield* log.append("s", [odd, { ...odd, at: 0, data: "" }], { expected: 0, commit: "a b/c" })
          expect(yield* read(log, "s")).toEqual([
            { ...odd, session: "s", seq: 1, commit: "a b/c" },
            { ...odd, session: "s", seq: 2, commit: "a b/c", at: 0, data: "" },
          ])
        }))

      test("stores a record of a megabyte", (log) =>
        Effect.gen(function* () {
          const data = JSON.stringify("单🎈x".repeat(130_000))
          yield* log.append("s", [{ at: 0, type: "Noted", version: 1, data }], { expected: 0, commit: "a" })
          const [found] = yield* read(log, "s")
          expect(found?.data === data).toBe(true)
        }))

      test("gives back whatever text it was given", (log) =>
        Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(
              fc.uuid(),
              fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 }),
              async (session, texts) => {
                const all = texts.map((data) => ({ at: 0, type: "Noted", version: 1, data }))
                const [first, ...rest] = all
                const appended = log.append(session, [first!, ...rest], { expected: 0, commit: "c" })
                await Effect.runPromise(appended)
                const found = await Effect.runPromise(read(log, session))
                expect(found.map(({ data }) => data)).toEqual(texts)
              },
            ),
            { numRuns: 50 },
          ),
        ))

      test("refuses what was decided on another version, and writes nothing (L12)", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(2), { expected: 0, commit: "a" })
          for (const expected of [0, 1, 3, 99]) {
            const conflict = yield* Effect.flip(
              log.append("s", records(2), { expected, commit: `b${expected}` }),
            )
            expect(conflict).toMatchObject({ _tag: "VersionConflict", session: "s", expected, actual: 2 })
          }
          const early = yield* Effect.flip(log.append("new", records(1), { expected: 1, commit: "a" }))
          expect(early).toMatchObject({ _tag: "VersionConflict", session: "new", expected: 1, actual: 0 })
          expect(yield* log.version("s")).toBe(2)
          expect(yield* log.version("new")).toBe(0)
          expect(yield* seqs(log, "s")).toEqual([1, 2])
          expect((yield* sessions(log)).map(({ session }) => session)).toEqual(["s"])
        }))

      test("refuses what was decided on another log of the same length (L12)", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(2), { expected: 0, commit: "a" })
          yield* log.append("s", records(1, 3), { expected: 2, after: "a", commit: "b" })
          for (const after of ["a", "c", ""]) {
            const conflict = yield* Effect.flip(
              log.append("s", records(1, 4), { expected: 3, after, commit: "c" }),
            )
            expect(conflict).toMatchObject({ _tag: "VersionConflict", session: "s", expected: 3, actual: 3 })
          }
          const unborn = yield* Effect.flip(
            log.append("t", records(1), { expected: 0, after: "a", commit: "a" }),
          )
          expect(unborn).toMatchObject({ _tag: "VersionConflict", actual: 0 })
          const known = { expected: 3, after: "b", commit: "c" }
          expect(yield* log.append("s", records(1, 4), known)).toMatchObject({ version: 4, duplicate: false })
          expect(yield* log.append("s", records(1, 4), known)).toMatchObject({ version: 4, duplicate: true })
          const trusting = { expected: 4, after: undefined, commit: "d" }
          expect(yield* log.append("s", records(1, 5), trusting)).toMatchObject({ version: 5 })
        }))

      test("applies a commit id once, also when asked again with a version long gone (L12)", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(1), { expected: 0, commit: "a" })
          yield* log.append("s", records(3, 2), { expected: 1, commit: "b" })
          yield* log.append("s", records(1, 5), { expected: 4, commit: "c" })
          for (const expected of [1, 5, 0, 99]) {
            expect(yield* log.append("s", records(3, 2), { expected, commit: "b" })).toEqual({
              from: 2,
              version: 4,
              duplicate: true,
            })
          }
          expect(yield* log.version("s")).toBe(5)
          expect((yield* read(log, "s")).map(({ commit }) => commit)).toEqual(["a", "b", "b", "b", "c"])
        }))

      test("knows commit ids by session", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(1), { expected: 0, commit: "a" })
          const other = yield* log.append("t", records(1), { expected: 0, commit: "a" })
          expect(other).toEqual({ from: 1, version: 1, duplicate: false })
        }))

      test("does not remember the commit id of a batch it refused", (log) =>
        Effect.gen(function* () {
          const refused = yield* Effect.exit(log.append("s", records(1), { expected: 5, commit: "a" }))
          expect(Exit.isFailure(refused)).toBe(true)
          const again = yield* log.append("s", records(1), { expected: 0, commit: "a" })
          expect(again).toEqual({ from: 1, version: 1, duplicate: false })
        }))

      test("lets one of many writers win, and a reader never sees half a batch (L12)", (log) =>
        Effect.gen(function* () {
          const exits = yield* Effect.all(
            Array.from({ length: 8 }, (_, writer) =>
              Effect.exit(log.append("s", records(5), { expected: 0, commit: `w${writer}` })),
            ),
            { concurrency: "unbounded" },
          )
          const ends = exits.map(
            Exit.match({
              onSuccess: () => "won",
              onFailure: (cause) => Option.getOrThrow(Cause.failureOption(cause))._tag,
            }),
          )
          expect(ends.toSorted()).toEqual([...Array(7).fill("VersionConflict"), "won"])
          const winner = `w${ends.indexOf("won")}`
          expect((yield* read(log, "s")).map(({ commit }) => commit)).toEqual(Array(5).fill(winner))
        }))

      test("keeps what many writers wrote who read on and tried again (L12)", (log) =>
        Effect.gen(function* () {
          const write = (commit: string): Effect.Effect<unknown, EventLog.LogError> =>
            log.version("s").pipe(
              Effect.flatMap((expected) => log.append("s", records(2), { expected, commit })),
              Effect.catchTag("VersionConflict", () => write(commit)),
            )
          const writers = Array.from({ length: 6 }, (_, writer) =>
            Effect.forEach([0, 1, 2, 3], (batch) => write(`w${writer}-${batch}`)),
          )
          yield* Effect.all(writers, { concurrency: "unbounded" })
          const found = yield* read(log, "s")
          expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 48 }, (_, at) => at + 1))
          const commits = found.map(({ commit }) => commit)
          expect(new Set(commits).size).toBe(24)
          expect(commits.filter((_, at) => at % 2 === 0)).toEqual(commits.filter((_, at) => at % 2 === 1))
        }))
    })

    describe("read", () => {
      test("of a session that does not exist gives nothing", (log) =>
        Effect.gen(function* () {
          expect(yield* read(log, "nobody")).toEqual([])
          expect(yield* read(log, "nobody", { from: 1, to: 5, reverse: true })).toEqual([])
          expect(yield* log.version("nobody")).toBe(0)
        }))

      test("gives a range with both its ends, in both directions", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(5), { expected: 0, commit: "a" })
          const ranges: ReadonlyArray<readonly [EventLog.ReadOptions, ReadonlyArray<number>]> = [
            [{}, [1, 2, 3, 4, 5]],
            [{ from: 2 }, [2, 3, 4, 5]],
            [{ to: 3 }, [1, 2, 3]],
            [{ from: 2, to: 4 }, [2, 3, 4]],
            [{ from: 3, to: 3 }, [3]],
            [{ from: 4, to: 3 }, []],
            [{ from: 1, to: 0 }, []],
            [{ from: 0, to: 2 }, [1, 2]],
            [{ from: -7, to: 1 }, [1]],
            [{ from: -7, to: -2 }, []],
            [{ from: 5 }, [5]],
            [{ from: 6 }, []],
            [{ from: 6, to: 9 }, []],
            [{ from: 4, to: 9 }, [4, 5]],
          ]
          for (const [range, expected] of ranges) {
            expect(yield* seqs(log, "s", range)).toEqual(expected)
            expect(yield* seqs(log, "s", { ...range, reverse: true })).toEqual(expected.toReversed())
          }
        }))

      test("gives the newest first, of which a reader may take only some", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(9), { expected: 0, commit: "a" })
          const newest = yield* Stream.runCollect(Stream.take(log.read("s", { reverse: true }), 2))
          expect(Chunk.toReadonlyArray(newest).map(({ seq }) => seq)).toEqual([9, 8])
        }))

      test("gives 1,500 events whole and in order, from any place", (log) =>
        Effect.gen(function* () {
          const count = 1_500
          for (let from = 0; from < count; from += 300) {
            yield* log.append("s", records(300, from + 1), { expected: from, commit: `c${from}` })
          }
          const all = Array.from({ length: count }, (_, position) => position + 1)
          const found = yield* read(log, "s")
          expect(found.map(({ seq }) => seq)).toEqual(all)
          expect(found.map(({ data }) => data)).toEqual(all.map((n) => `{"n":${n}}`))
          expect(yield* seqs(log, "s", { reverse: true })).toEqual(all.toReversed())
          expect(yield* seqs(log, "s", { from: 400, to: 1_499 })).toEqual(all.slice(399, 1_499))
          expect(yield* seqs(log, "s", { from: 2, to: 1_025, reverse: true })).toEqual(
            all.slice(1, 1_025).toReversed(),
          )
        }))

      test("starts when it is run, and again each time", (log) =>
        Effect.gen(function* () {
          const stream = log.read("s")
          expect(yield* Stream.runCount(stream)).toBe(0)
          yield* log.append("s", records(2), { expected: 0, commit: "a" })
          expect(yield* Stream.runCount(stream)).toBe(2)
        }))
    })

    describe("rewrite (L15)", () => {
      const changed = { seq: 2, data: '{"n":"forgotten"}', checksum: 7 }

      test("puts other data in place of what stood there, and appends what says so, in one batch", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(3), { expected: 0, commit: "a" })
          yield* log.append("other", records(3), { expected: 0, commit: "a" })
          expect(yield* log.rewrite("s", [changed], records(2, 4), { expected: 3, commit: "b" })).toEqual({
            from: 4,
            version: 5,
            duplicate: false,
          })
          const found = yield* read(log, "s")
          expect(found.map(({ seq, commit, data }) => `${seq} ${commit} ${data}`)).toEqual([
            '1 a {"n":1}',
            '2 a {"n":"forgotten"}',
            '3 a {"n":3}',
            '4 b {"n":4}',
            '5 b {"n":5}',
          ])
          expect(found.map(({ checksum }) => checksum)).toEqual([
            undefined,
            7,
            undefined,
            undefined,
            undefined,
          ])
          expect((yield* read(log, "other")).map(({ data }) => data)).toEqual(
            [1, 2, 3].map((n) => `{"n":${n}}`),
          )
        }))

      test("takes the snapshot along", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(3), { expected: 0, commit: "a" })
          yield* log.saveSnapshot("s", { fold: 1, version: 3, commit: "a", data: "it has the words" })
          yield* log.rewrite("s", [changed], records(1, 4), { expected: 3, commit: "b" })
          expect(Option.isNone(yield* log.loadSnapshot("s"))).toBe(true)
        }))

      test("of another version than the expected changes nothing; of a commit applied before, nothing again", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(3), { expected: 0, commit: "a" })
          for (const options of [
            { expected: 2, commit: "b" },
            { expected: 3, after: "elsewhere", commit: "b" },
          ]) {
            expect(yield* Effect.flip(log.rewrite("s", [changed], records(1, 4), options))).toMatchObject({
              _tag: "VersionConflict",
            })
          }
          expect((yield* read(log, "s"))[1]?.data).toBe('{"n":2}')
          const options = { expected: 3, commit: "b" }
          yield* log.rewrite("s", [changed], records(1, 4), options)
          expect(yield* log.rewrite("s", [{ ...changed, data: "{}" }], records(1, 4), options)).toEqual({
            from: 4,
            version: 4,
            duplicate: true,
          })
          expect((yield* read(log, "s"))[1]?.data).toBe(changed.data)
        }))
    })

    describe("a checksum", () => {
      test("comes back with its record, and none with a record that has none", (log) =>
        Effect.gen(function* () {
          const [first, second] = records(2)
          yield* log.append("s", [{ ...first, checksum: 0xffff_ffff }, second!], { expected: 0, commit: "a" })
          const found = yield* read(log, "s")
          expect(found.map((record) => record.checksum)).toEqual([0xffff_ffff, undefined])
          expect("checksum" in found[1]!).toBe(false)
        }))
    })

    describe("sessions", () => {
      test("are kept apart, whatever their ids look like", (log) =>
        Effect.gen(function* () {
          for (const [position, id] of oddIds.entries()) {
            const version = 1 + (position % 3)
            yield* log.append(id, records(version, position * 10), { expected: 0, commit: "c" })
            yield* log.saveSnapshot(id, { fold: 1, version, commit: "c", data: `of ${position}` })
          }
          for (const [position, id] of oddIds.entries()) {
            const found = yield* read(log, id)
            expect(found.map(({ session }) => session)).toEqual(Array(1 + (position % 3)).fill(id))
            expect(found[0]?.data).toBe(`{"n":${position * 10}}`)
            expect(yield* log.version(id)).toBe(1 + (position % 3))
            expect(Option.getOrThrow(yield* log.loadSnapshot(id)).data).toBe(`of ${position}`)
          }
          const listed = (yield* sessions(log)).map(({ session }) => session)
          expect(new Set(listed)).toEqual(new Set(oddIds))
          expect(listed.length).toBe(oddIds.length)
          expect(yield* log.delete("*")).toBe(true)
          expect((yield* sessions(log)).length).toBe(oddIds.length - 1)
        }))

      test("that differ in nothing but case, blanks or accents are others", (log) =>
        Effect.gen(function* () {
          const ids = ["chat", "Chat", "chat ", " chat", "chát", "cha\u0301t"]
          for (const id of ids) yield* log.append(id, records(1), { expected: 0, commit: "c" })
          expect((yield* sessions(log)).length).toBe(ids.length)
        }))

      test("are listed by id, with their version and times", (log) =>
        Effect.gen(function* () {
          expect(yield* sessions(log)).toEqual([])
          const ids = ["b", "a", "B", "10", "9", "ab", "é"]
          for (const id of ids) yield* log.append(id, records(2), { expected: 0, commit: "c" })
          yield* log.append("a", records(1, 50), { expected: 2, commit: "d" })
          const listed = yield* sessions(log)
          expect(listed.map(({ session }) => session)).toEqual(["10", "9", "B", "a", "ab", "b", "é"])
          expect(listed[3]).toEqual({
            session: "a",
            version: 3,
            createdAt: 1_700_000_000_001,
            updatedAt: 1_700_000_000_050,
          })
          expect(listed[5]).toEqual({
            session: "b",
            version: 2,
            createdAt: 1_700_000_000_001,
            updatedAt: 1_700_000_000_002,
          })
        }))

      test("are listed when there are many", (log) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 600 }, (_, number) => `session-${String(number).padStart(4, "0")}`)
          for (const id of ids.toReversed()) yield* log.append(id, records(1), { expected: 0, commit: "c" })
          expect((yield* sessions(log)).map(({ session }) => session)).toEqual(ids)
        }))
    })

    describe("a snapshot", () => {
      const snapshot = (version: number, commit = "a", fold = 1): EventLog.Snapshot => ({
        fold,
        version,
        commit,
        data: `{"version": ${version}, "text": "单词 🎈 it's"}`,
      })

      test("is given back as it was, and replaced by a newer one", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(7), { expected: 0, commit: "a" })
          expect(yield* log.loadSnapshot("s")).toEqual(Option.none())
          for (const one of [snapshot(7), snapshot(7, "a", 2)]) {
            yield* log.saveSnapshot("s", one)
            expect(yield* log.loadSnapshot("s")).toEqual(Option.some(one))
          }
          yield* log.append("s", records(2, 8), { expected: 7, commit: "b" })
          yield* log.saveSnapshot("s", snapshot(9, "b"))
          expect(yield* log.loadSnapshot("s")).toEqual(Option.some(snapshot(9, "b")))
        }))

      test("of another log than there is now, or of a part of it, is ignored (L6, L15)", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(7), { expected: 0, commit: "a" })
          for (const one of [snapshot(6), snapshot(8), snapshot(7, "elsewhere"), snapshot(0)]) {
            yield* log.saveSnapshot("s", one)
            expect(yield* log.loadSnapshot("s")).toEqual(Option.none())
          }
          yield* log.saveSnapshot("s", snapshot(7))
          yield* log.delete("s")
          yield* log.append("s", records(7), { expected: 0, commit: "anew" })
          yield* log.saveSnapshot("s", snapshot(7))
          expect(yield* log.loadSnapshot("s")).toEqual(Option.none())
        }))

      test("of a session that does not exist is ignored, and makes none", (log) =>
        Effect.gen(function* () {
          yield* log.saveSnapshot("nobody", snapshot(1))
          expect(yield* log.loadSnapshot("nobody")).toEqual(Option.none())
          expect(yield* sessions(log)).toEqual([])
          yield* log.append("nobody", records(1), { expected: 0, commit: "a" })
          expect(yield* log.loadSnapshot("nobody")).toEqual(Option.none())
        }))

      test("is no event: the log stays as it was", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(2), { expected: 0, commit: "a" })
          yield* log.saveSnapshot("s", snapshot(2))
          expect(yield* log.version("s")).toBe(2)
          expect(yield* seqs(log, "s")).toEqual([1, 2])
        }))
    })

    describe("delete", () => {
      test("removes a session with everything it had, and no other", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(3), { expected: 0, commit: "a" })
          yield* log.append("t", records(2), { expected: 0, commit: "a" })
          yield* log.saveSnapshot("s", { fold: 1, version: 3, commit: "a", data: "{}" })
          yield* log.saveSnapshot("t", { fold: 1, version: 2, commit: "a", data: "{}" })
          expect(yield* log.delete("s")).toBe(true)
          expect(yield* log.delete("s")).toBe(false)
          expect(yield* log.delete("nobody")).toBe(false)
          expect(yield* read(log, "s")).toEqual([])
          expect(yield* log.version("s")).toBe(0)
          expect(yield* log.loadSnapshot("s")).toEqual(Option.none())
          expect((yield* sessions(log)).map(({ session }) => session)).toEqual(["t"])
          expect(yield* seqs(log, "t")).toEqual([1, 2])
          expect(Option.isSome(yield* log.loadSnapshot("t"))).toBe(true)
        }))

      test("lets a session begin anew, from 1 and without the commit ids of old", (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(3), { expected: 0, commit: "a" })
          yield* log.saveSnapshot("s", { fold: 1, version: 3, commit: "a", data: "{}" })
          yield* log.delete("s")
          const stale = yield* Effect.flip(log.append("s", records(1), { expected: 3, commit: "b" }))
          expect(stale).toMatchObject({ _tag: "VersionConflict", actual: 0 })
          const again = yield* log.append("s", records(1, 7), { expected: 0, commit: "a" })
          expect(again).toEqual({ from: 1, version: 1, duplicate: false })
          expect((yield* read(log, "s")).map(({ data }) => data)).toEqual(['{"n":7}'])
          expect(yield* log.loadSnapshot("s")).toEqual(Option.none())
        }))
    })
  })
}
