/** Who did what: told by the events and the trails, without a word of what was said. */
import { describe, expect, it } from "@effect/vitest"
import { pairs, withMemory } from "@memfold/harness/engine"
import { often } from "@memfold/harness/depth"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { Audit, EventLog, InMemoryEventLog, Memory, Message } from "../index.js"

const canary = "KANARIENVOGEL"
const ann: Audit.Actor = { id: "ann", via: "web" }
const dpo: Audit.Actor = { id: "dpo", onBehalfOf: "ann" }

const run = <A, E>(
  use: (memory: Memory.Service, log: EventLog.Service) => Effect.Effect<A, E>,
  options?: Partial<Memory.Options>,
) =>
  Effect.gen(function* () {
    return yield* use(yield* Memory.Memory, yield* EventLog.EventLog)
  }).pipe(
    Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" }, ...options })),
    Effect.runPromise,
  )

/** What may be done with a session, each with a canary where a text can be. */
const steps: Readonly<Record<string, (memory: Memory.Service) => Effect.Effect<unknown, Error>>> = {
  append: (memory) => memory.append("chat", [Message.user(canary), Message.assistant(canary)]),
  call: (memory) =>
    memory.append("chat", [
      Message.user(canary),
      {
        role: "assistant",
        parts: [{ type: "tool-call", id: "c", name: canary, arguments: `{"a":"${canary}"}` }],
      },
      {
        role: "tool",
        parts: [{ type: "tool-result", id: "c", name: canary, output: canary, isError: false }],
      },
      Message.assistant(canary),
    ]),
  edit: (memory) => memory.edit("chat", 0, Message.user(canary)),
  describe: (memory) => memory.describe("chat", { title: canary }),
  compact: (memory) => memory.compact("chat"),
  redact: (memory) => memory.redact("chat", 0),
  recall: (memory) => memory.recall("chat", canary),
  context: (memory) => memory.context("chat"),
  clear: (memory) => memory.clear("chat"),
  revert: (memory) => memory.revert("chat"),
  export: (memory) => Stream.runDrain(memory.eventsOf("ann")),
  fork: (memory) => memory.fork("chat", "other"),
  delete: (memory) => memory.delete("chat"),
}

describe("the audit", () => {
  it("never has a text of a conversation, and its trails hold", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(steps)), { minLength: 1, maxLength: 12 }),
        (names) =>
          run(
            (memory, log) =>
              Effect.gen(function* () {
                yield* memory.append("chat", Message.user(canary), { owner: "ann", title: canary })
                for (const name of names) yield* Effect.ignore(Audit.as(ann)(steps[name]!(memory)))
                const reports = [yield* memory.audit("chat"), yield* memory.auditOf("ann")]
                expect(JSON.stringify(reports)).not.toContain(canary)
                for (const { trails } of reports)
                  for (const { brokenAt } of trails) expect(brokenAt).toBeNull()
                for (const subject of [{ session: "chat" }, { owner: "ann" }]) {
                  const records = yield* Stream.runCollect(EventLog.records(log, Audit.trailOf(subject)))
                  expect(JSON.stringify([...records])).not.toContain(canary)
                }
              }),
            { audit: { reads: true } },
          ),
      ),
      { numRuns: often(15, 200) },
    ))

  it("tells of a session that was deleted, to who asks for it and to who asks for its owner", () =>
    run(
      (memory) =>
        Effect.gen(function* () {
          for (const session of ["chat", "other", "third"])
            yield* memory.append(session, Message.user("q"), { owner: "ann" })
          yield* memory.delete("chat").pipe(Audit.as(dpo))
          const deletions = (report: Audit.AuditReport) =>
            report.entries
              .filter(({ act }) => act === "delete")
              .map(({ session, actor, operation }) => [session, actor?.id, operation])
          expect(deletions(yield* memory.audit("chat"))).toEqual([["chat", "dpo", "delete"]])
          expect(deletions(yield* memory.auditOf("ann"))).toEqual([["chat", "dpo", "delete"]])
          expect(deletions(yield* memory.audit("other"))).toEqual([["chat", "dpo", "delete"]])
          yield* memory.deleteOf("ann").pipe(Audit.as(dpo))
          for (const session of ["other", "third"])
            expect(deletions(yield* memory.audit(session))).toEqual([[session, "dpo", "deleteOf"]])
          expect(deletions(yield* memory.auditOf("ann"))).toEqual([
            ["chat", "dpo", "delete"],
            [null, "dpo", "deleteOf"],
          ])
        }),
      { audit: {} },
    ))

  it("tells what was done, by whom, and leaves the work of the memory itself without an actor", () =>
    run(
      (memory) =>
        Effect.gen(function* () {
          const said = [1, 2, 3, 4].flatMap(() => [Message.user("q"), Message.assistant("a")])
          yield* memory.append("chat", said, { owner: "ann" }).pipe(Audit.as(ann))
          yield* memory.edit("chat", 7, Message.assistant("b")).pipe(Audit.as(dpo))
          yield* memory.redact("chat", 0).pipe(Audit.as(dpo))
          yield* memory.context("chat").pipe(Audit.as(ann))
          yield* Stream.runDrain(memory.eventsOf("ann")).pipe(Audit.as(dpo))
          const { entries, totals } = yield* memory.audit("chat")
          expect(totals).toMatchObject({
            "append user": 4,
            "append assistant": 5,
            describe: 1,
            edit: 1,
            redact: 1,
            read: 1,
            export: 1,
          })
          const by = (act: string) => entries.filter((one) => one.act === act).map(({ actor }) => actor)
          expect(by("edit")).toEqual([dpo])
          expect(by("redact")).toEqual([dpo])
          expect(by("read")).toEqual([ann])
          expect(by("export")).toEqual([dpo])
          expect(new Set(by("append").map((actor) => actor?.id))).toEqual(new Set(["ann", "dpo"]))
          const written = entries.filter(({ act }) => act === "summary")
          expect(written.length).toBeGreaterThan(0)
          for (const { actor, summarizer } of written) {
            expect(actor).toBeNull()
            expect(summarizer).toBe("echo")
          }
        }),
      { audit: { reads: true }, compaction: { mode: "inline" } },
    ))

  it("names who asked for a compaction, and nobody for one that came due in the background", () =>
    run(
      (memory) =>
        Effect.gen(function* () {
          const said = [1, 2, 3, 4].flatMap(() => [Message.user("q"), Message.assistant("a")])
          yield* memory.append("asked", said).pipe(Audit.as(ann))
          yield* memory.compact("asked", { which: "due" }).pipe(Audit.as(dpo))
          const { entries } = yield* memory.audit("asked")
          expect(entries.filter(({ act }) => act === "summary").map(({ actor }) => actor)).toContainEqual(dpo)
        }),
      {},
    ))

  it("has an entry of whoever calls an operation, whatever the operation", () =>
    run(
      (memory) =>
        Effect.gen(function* () {
          const said = [1, 2, 3, 4].flatMap(() => [Message.user("q"), Message.assistant("a")])
          const calls: Readonly<Partial<Record<Memory.OperationName, Effect.Effect<unknown, Error>>>> = {
            append: memory.append("chat", said),
            context: memory.context("chat"),
            messages: memory.messages("chat"),
            edit: memory.edit("chat", 7, Message.assistant("b")),
            regenerate: memory.regenerate("chat"),
            rewrite: memory.rewrite("chat", (all) => all.slice(0, -2)),
            checkout: memory.checkout("chat", 0),
            recall: memory.recall("chat", "q"),
            recallOf: memory.recallOf("ann", "q"),
            trace: memory.trace("chat", "q"),
            traceMessage: memory.traceMessage("chat", 0),
            facts: memory.facts("chat"),
            factsOf: memory.factsOf("ann"),
            compact: memory.compact("chat"),
            preview: memory.preview("chat"),
            summaries: memory.summaries("chat"),
            revert: memory.revert("chat"),
            state: memory.state("chat"),
            events: Stream.runDrain(memory.events("chat")),
            eventsOf: Stream.runDrain(memory.eventsOf("ann")),
            describe: memory.describe("chat", { title: "About q" }),
            fork: memory.fork("chat", "other"),
            redact: memory.redact("chat", 0),
            clear: memory.clear("chat"),
            delete: memory.delete("other"),
          }
          yield* memory.append("chat", said, { owner: "ann" })
          for (const [name, call] of Object.entries(calls)) {
            const id = `who-${name}`
            const done = yield* Effect.either(call.pipe(Audit.as({ id })))
            const entries = [
              ...(yield* memory.auditOf("ann")).entries,
              ...(yield* memory.audit("other")).entries,
            ]
            expect({ name, failed: done._tag === "Left" ? done.left.message : null }).toEqual({
              name,
              failed: null,
            })
            expect({ name, told: entries.some(({ actor }) => actor?.id === id) }).toEqual({
              name,
              told: true,
            })
          }
        }),
      { audit: { reads: true } },
    ))

  it("keeps an actor through a redaction, a fork and another process", () =>
    run((memory, log) =>
      Effect.gen(function* () {
        yield* memory.append("chat", [Message.user("q"), Message.assistant("a")]).pipe(Audit.as(ann))
        yield* memory.redact("chat", 0)
        yield* memory.fork("chat", "other").pipe(Audit.as(dpo))
        const actors = yield* Effect.map(Stream.runCollect(memory.events("other")), (events) =>
          [...events].map(({ actor }) => actor?.id),
        )
        expect(actors.slice(0, 2)).toEqual(["ann", "ann"])
        expect((yield* memory.audit("chat")).trails.map(({ entries }) => entries)).toEqual([0])
        expect(yield* log.head(Audit.trailOf({ session: "chat" }))).toBeNull()
      }),
    ))

  it("fails at the record that was altered, taken out or put in", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 8 }),
        fc.nat(),
        fc.constantFrom("altered", "taken", "forged" as const),
        (count, which, how) =>
          run((_memory, log) =>
            Effect.gen(function* () {
              for (let at = 0; at < count; at++)
                yield* Audit.note(log, { act: "hold", owner: "ann", reason: `case ${at}` })
              const name = Audit.trailOf({ owner: "ann" })
              const records = [...(yield* Stream.runCollect(EventLog.records(log, name)))]
              expect((yield* Audit.readTrail(log, { owner: "ann" })).trail).toMatchObject({
                entries: count,
                brokenAt: null,
              })
              const at = which % count
              const changed = records.flatMap((record, place) => {
                if (place !== at) return [record]
                if (how === "taken") return []
                const { checksum: _checksum, ...rest } = record
                // Who alters a row may leave its checksum out.
                const data = record.data.replace("case", "CASE")
                return how === "altered" && at < count - 1 ? [{ ...rest, data }] : [{ ...record, data }]
              })
              if (how === "taken" && at === count - 1) return
              const forged = yield* InMemoryEventLog.make
              for (const [place, { session, version: _version, batchId, ...rest }] of changed.entries())
                yield* forged.append(session, [rest], { expectedVersion: place, batchId })
              const { trail } = yield* Audit.readTrail(forged, { owner: "ann" })
              expect(trail.brokenAt).not.toBeNull()
            }),
          ),
      ),
      { numRuns: often(30, 300) },
    ))

  it("notes whatever two processes do at once", () =>
    run((_memory, log) =>
      Effect.gen(function* () {
        yield* Effect.forEach(
          Array.from({ length: 40 }, (_, at) => at),
          (at) => Audit.note(log, { act: "read", session: "chat", operation: `${at}` }),
          { concurrency: "unbounded" },
        )
        const { trail, noted } = yield* Audit.readTrail(log, { session: "chat" })
        expect(trail).toMatchObject({ entries: 40, brokenAt: null })
        expect(new Set(noted.map(({ event }) => event.operation)).size).toBe(40)
      }),
    ))
})
