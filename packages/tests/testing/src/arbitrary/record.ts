/** Records, batches and session ids: the input of an event log. */
import type { EventLog } from "@memfold/core"
import * as fc from "fast-check"
import { startOfTime } from "./conversation.js"

/** A batch: at least one record. */
export type Batch = readonly [EventLog.NewRecord, ...ReadonlyArray<EventLog.NewRecord>]

/** A number of records whose data counts up from `first`. */
export const numbered = (count: number, first = 1): Batch => {
  const one = (position: number): EventLog.NewRecord => ({
    time: startOfTime + first + position,
    type: "Noted",
    schemaVersion: 1,
    data: `{"n":${first + position}}`,
  })
  return [one(0), ...Array.from({ length: count - 1 }, (_, position) => one(position + 1))]
}

/** Texts that break stores. They contain no lone surrogates, because JSON escapes these. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      '{ "b": 1,\n "a":"\\u0000 单词 🎈 \\ud83d it\'s" , "n":1.0}',
      "'; DROP TABLE events;--",
      "\\",
      "%s %d _ %",
      "null",
      "1e400",
    ),
  },
)

/** Any record; a store keeps it unchanged. */
export const record: fc.Arbitrary<EventLog.NewRecord> = fc
  .record({
    time: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4_102_444_800_000 })),
    type: fc.oneof(
      fc.constantFrom("MessageAppended", "Noted", "Noted 🎈"),
      fc.stringMatching(/^[A-Z][a-z]{0,8}$/),
    ),
    schemaVersion: fc.integer({ min: 1, max: 9 }),
    data: text,
    checksum: fc.option(fc.integer({ min: 0, max: 0xffff_ffff }), { nil: undefined }),
  })
  .map(({ checksum, ...rest }) => (checksum === undefined ? rest : { ...rest, checksum }))

/** Any batch. */
export const batch: fc.Arbitrary<Batch> = fc
  .tuple(record, fc.array(record, { maxLength: 4 }))
  .map(([first, rest]): Batch => [first, ...rest])

/** Session ids that break stores: all different, many nearly equal. */
export const oddSessions: ReadonlyArray<string> = [
  "chat-1",
  "chat",
  "Chat",
  "chat ",
  " chat",
  "chát",
  "cha\u0301t",
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

/** Several sessions, odd ones among them. */
export const sessions: fc.Arbitrary<ReadonlyArray<string>> = fc.uniqueArray(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...oddSessions) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }) },
  ),
  { minLength: 2, maxLength: 6 },
)
