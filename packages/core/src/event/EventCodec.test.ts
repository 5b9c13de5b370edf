import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { byTag, event } from "@memfold/testing/arbitrary"
import type { EventLog } from "../index.js"
import { Message } from "../index.js"
import * as Event from "./Event.js"
import * as EventCodec from "./EventCodec.js"

const envelope = { session: "chat-1", version: 7, batchId: "commit", time: 1_700_000_000_000 }

const record = (type: string, version: number, data: string): EventLog.LogRecord => ({
  ...envelope,
  type,
  schemaVersion: version,
  data,
})

const decoded = (one: EventLog.LogRecord) => Either.getOrThrow(EventCodec.decode(one))

/** What is wrong with a record that has to be damaged. */
const damage = (one: EventLog.LogRecord, decode = EventCodec.decode): EventCodec.DamagedEvent =>
  Either.getOrThrow(Either.flip(decode(one)))

describe("what is encoded", () => {
  it.each(Object.entries(byTag))("comes back the same: %s", (tag, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<Event.Event>, (event) => {
        const stored = EventCodec.encode(event)
        expect(stored.type).toBe(tag)
        expect(stored.schemaVersion).toBe(Event.schemaVersions[event._tag])
        expect(decoded({ ...envelope, ...stored })).toEqual({
          session: "chat-1",
          version: 7,
          id: "commit.7",
          time: 1_700_000_000_000,
          event,
        })
      }),
    )
  })

  it("has who did it behind everything else, and without anybody the bytes of before", () => {
    const text = fc.string()
    const actor = fc.record({ id: text, via: text, onBehalfOf: text }, { requiredKeys: ["id"] })
    fc.assert(
      fc.property(event, actor, (event, actor) => {
        const [plain, done] = [EventCodec.encode(event), EventCodec.encode(event, actor)]
        const own = `"actor":${JSON.stringify(actor)}}`
        expect(done.data).toBe(plain.data === "{}" ? `{${own}` : `${plain.data.slice(0, -1)},${own}`)
        expect(decoded({ ...envelope, ...done })).toEqual({ ...decoded({ ...envelope, ...plain }), actor })
      }),
    )
    // What a later version writes there costs no event.
    const later = record("SessionCleared", 1, '{"actor":{"name":7}}')
    expect(decoded(later)).toMatchObject({ event: { _tag: "SessionCleared" } })
    expect(decoded(later)).not.toHaveProperty("actor")
  })

  it("has the tag in its type alone", () => {
    const { data } = EventCodec.encode({ _tag: "SessionCleared" })
    expect(data).toBe("{}")
  })

  it("is short for a message that is one text, and whole for any other", () => {
    const dataOf = (message: Message.Message) => {
      const appended: Event.Event = { _tag: "MessageAppended", index: 8, message, tokens: 5 }
      const stored = EventCodec.encode(appended)
      expect(decoded({ ...envelope, ...stored }).event).toEqual(appended)
      return stored.data
    }
    const hello = Message.user("Hello")
    expect(dataOf(hello)).toBe('{"index":8,"role":"user","text":"Hello","tokens":5}')
    const others: ReadonlyArray<Message.Message> = [
      { ...hello, pinned: true },
      { ...hello, name: "Ann" },
      { ...hello, parts: [] },
      { ...hello, parts: [...hello.parts, ...hello.parts] },
      { ...hello, parts: [{ type: "text", text: "Hello", providerData: { cache: true } }] },
      { ...hello, parts: [{ type: "reasoning", text: "Hello" }] },
    ]
    for (const other of others)
      expect(dataOf(other)).toBe(JSON.stringify({ index: 8, message: other, tokens: 5 }))
  })

  it("is read in its first form, which had no short one, and with its fields in any order", () => {
    const event = { _tag: "MessageAppended", index: 8, message: Message.user("Hello"), tokens: 5 }
    const first = JSON.stringify({ index: 8, message: event.message, tokens: 5 })
    expect(decoded(record("MessageAppended", 1, first)).event).toEqual(event)
    const turned = '{"tokens":5,"text":"Hello","role":"user","index":8}'
    expect(decoded(record("MessageAppended", 2, turned)).event).toEqual(event)
  })

  it("has the type of its record, whatever tag its data has", () => {
    const event = { _tag: "CompactionReleased", compaction: "k1" }
    const released = JSON.stringify(event)
    expect(decoded(record("CompactionReleased", 1, released)).event).toEqual(event)
    expect(damage(record("SummarySuperseded", 1, released)).detail).toBe(
      "SummarySuperseded does not fit its schema at summary",
    )
  })

  it("keeps what only a provider understands, and the exact text of arguments", () => {
    const odd: Message.Message = {
      role: "assistant",
      parts: [
        { type: "tool-call", id: "1", name: "t", arguments: '{ "b":1,\n"a": 2.0 }' },
        { type: "opaque", provider: "p", data: { nested: [null, { deep: true }] } },
      ],
      metadata: { trace: { id: 1 } },
    }
    const appended: Event.Event = { _tag: "MessageAppended", index: 0, message: odd, tokens: 3 }
    expect(decoded({ ...envelope, ...EventCodec.encode(appended) }).event).toEqual(appended)
  })
})

describe("an event of another memfold", () => {
  it("is kept by its name when its type is unknown, whatever its data", () => {
    for (const data of ["{}", "null", "not json"]) {
      expect(decoded(record("Dreamt", 4, data)).event).toEqual({
        _tag: "UnknownEvent",
        type: "Dreamt",
        schemaVersion: 4,
      })
    }
  })

  it("is kept by its name when its version is newer", () => {
    expect(decoded(record("SessionCleared", 2, '{"why":"?"}')).event).toEqual({
      _tag: "UnknownEvent",
      type: "SessionCleared",
      schemaVersion: 2,
    })
  })

  it("is unknown, too, when its name is a property that every object has", () => {
    for (const type of ["constructor", "__proto__", "toString"]) {
      expect(decoded(record(type, 1, "{}")).event).toEqual({ _tag: "UnknownEvent", type, schemaVersion: 1 })
    }
  })
})

describe("an old version", () => {
  /** In version 1 a summary was called a digest; in version 2 it had no reason for being superseded. */
  const decode = EventCodec.decodeWith(
    {
      SummarySuperseded: {
        1: (data) => {
          const { digest, ...rest } = data as { readonly digest: string }
          return { ...rest, summary: digest }
        },
        2: (data) => ({ by: "nobody", ...(data as object) }),
      },
    },
    { SummarySuperseded: 3, SessionCleared: 2 },
  )
  const event = (one: EventLog.LogRecord) => Either.getOrThrow(decode(one)).event

  it("is brought up step by step", () => {
    const now = { _tag: "SummarySuperseded", summary: "a", by: "b" }
    expect(event(record("SummarySuperseded", 1, '{"digest":"a","by":"b"}'))).toEqual(now)
    expect(event(record("SummarySuperseded", 1, '{"digest":"a"}'))).toEqual({ ...now, by: "nobody" })
    expect(event(record("SummarySuperseded", 2, '{"summary":"a"}'))).toEqual({ ...now, by: "nobody" })
    expect(event(record("SummarySuperseded", 3, '{"summary":"a","by":"b"}'))).toEqual(now)
  })

  it("is damaged where a step is missing", () => {
    expect(damage(record("SessionCleared", 1, "{}"), decode).detail).toContain("version 1 of SessionCleared")
    expect(damage(record("SummarySuperseded", 0, "{}"), decode).detail).toContain("version 0")
  })

  it("is damaged where a step cannot read it", () => {
    expect(damage(record("SummarySuperseded", 1, "null"), decode).detail).toContain("not readable")
  })
})

describe("damaged data", () => {
  const secret = "the patient's name"

  it.each([
    ["no JSON", `{"message": "${secret}`],
    ["no object", JSON.stringify(secret)],
    ["nothing", "null"],
    ["a field missing", JSON.stringify({ index: 0, message: Message.user(secret) })],
    ["a wrong type deep inside", JSON.stringify({ index: 0, message: Message.user(secret), tokens: secret })],
    [
      "an unknown part",
      JSON.stringify({ index: 0, message: { role: "user", parts: [{ type: secret }] }, tokens: 1 }),
    ],
    [
      "a role nobody has",
      JSON.stringify({ index: 0, message: { ...Message.user(secret), role: secret }, tokens: 1 }),
    ],
    [
      "a role nobody has, in the short form",
      JSON.stringify({ index: 0, role: secret, text: "a", tokens: 1 }),
    ],
    ["a text that is none", JSON.stringify({ index: 0, role: "user", text: [secret], tokens: 1 })],
    ["neither a message nor a text", JSON.stringify({ index: 0, role: "user", tokens: 1, word: secret })],
    ["a negative index", JSON.stringify({ index: -1, message: Message.user(secret), tokens: 1 })],
    ["half an index", JSON.stringify({ index: 0.5, message: Message.user(secret), tokens: 1 })],
  ])("of a message is no error, since the session goes on without it: %s", (_name, data) => {
    const { event, ...envelope } = decoded(record("MessageAppended", 1, data))
    expect(envelope).toEqual({ session: "chat-1", version: 7, id: "commit.7", time: 1_700_000_000_000 })
    expect(event).toEqual({ _tag: "DamagedMessage", detail: expect.stringMatching(/./) })
    expect(JSON.stringify(event)).not.toContain("patient")
  })

  it.each([
    ["no JSON", `{"by": "${secret}`],
    ["nothing", "null"],
    ["a field missing", JSON.stringify({ by: secret })],
    ["a wrong type", JSON.stringify({ by: secret, summary: { text: secret } })],
  ])("of any other event names the session and the event, never the contents: %s", (_name, data) => {
    const damaged = damage(record("SummarySuperseded", 1, data))
    expect(damaged).toMatchObject({ _tag: "DamagedEvent", session: "chat-1", version: 7 })
    expect(damaged.message).toContain('Event 7 of session "chat-1"')
    expect(damaged.message.length).toBeGreaterThan('Event 7 of session "chat-1" is damaged: '.length)
    expect(JSON.stringify(damaged) + damaged.message + String(damaged.stack)).not.toContain("patient")
  })

  it.each([
    ["no JSON", `{"text": "${secret}`],
    ["nothing", "null"],
    ["a field missing", JSON.stringify({ segments: [{ text: secret }] })],
    ["a wrong type deep inside", JSON.stringify({ compaction: secret, segments: [{ kind: secret }] })],
  ])("of a summary is no error, since it can be written anew: %s", (_name, data) => {
    const { event, ...envelope } = decoded(record("SummaryCommitted", 1, data))
    expect(envelope).toEqual({ session: "chat-1", version: 7, id: "commit.7", time: 1_700_000_000_000 })
    expect(event).toEqual({ _tag: "DamagedSummary", detail: expect.any(String) })
    expect(JSON.stringify(event)).not.toContain("patient")
  })

  it("of a summary that a newer memfold wrote is not looked at", () => {
    expect(decoded(record("SummaryCommitted", 99, "?")).event).toEqual({
      _tag: "UnknownEvent",
      type: "SummaryCommitted",
      schemaVersion: 99,
    })
  })

  it("says where it does not fit", () => {
    const wrong = JSON.stringify({
      index: 0,
      message: { role: "user", parts: [{ type: "text" }] },
      tokens: 1,
    })
    expect(decoded(record("MessageAppended", 1, wrong)).event).toEqual({
      _tag: "DamagedMessage",
      detail: expect.stringContaining("message.parts.0"),
    })
  })

  it("never throws, wherever a text was cut off", () => {
    fc.assert(
      fc.property(event, fc.nat(), (event, cut) => {
        const { data, ...stored } = EventCodec.encode(event)
        const half = data.slice(0, cut % data.length)
        const decoded = EventCodec.decode({ ...envelope, ...stored, data: half })
        // A summary can be written anew, and a session can go on without a message.
        expect(Either.isRight(decoded) && decoded.right.event._tag).toBe(
          stored.type === "SummaryCommitted"
            ? "DamagedSummary"
            : stored.type === "MessageAppended" && "DamagedMessage",
        )
      }),
    )
  })
})
