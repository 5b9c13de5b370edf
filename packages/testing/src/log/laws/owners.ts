/** The store lists the sessions of an owner, the newest activity first, and keeps owners and titles through all else. */
import { EventLog } from "@memfold/core"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { numbered } from "../../arbitrary/record.js"
import { type Law, must, same } from "../../law/Law.js"
import { listed, type LogKit } from "../input.js"

const owner = fc.constantFrom("ann", "Ann", "ann:2", "单词 🎈", "it's {1}", "=")
const title = fc.constantFrom("Plans", "", '多 🎈 \\ "', "null")
const description: fc.Arbitrary<EventLog.Description> = fc.record({
  owner: fc.option(owner),
  title: fc.option(title),
})
const session = fc.constantFrom("s", "t", "u/1", "🎈", "￿")

const step = fc.oneof(
  fc.record({
    act: fc.constant("append" as const),
    session,
    description: fc.option(description, { nil: undefined }),
    /** Sessions are often active at the same time. */
    time: fc.integer({ min: 0, max: 3 }),
    count: fc.integer({ min: 1, max: 3 }),
    conflict: fc.boolean(),
  }),
  fc.record({ act: fc.constant("rewrite" as const), session }),
  fc.record({ act: fc.constant("delete" as const), session }),
  fc.record({ act: fc.constant("replace" as const), session, description }),
)

interface Kept extends EventLog.SessionInfo {
  readonly batchId: string
}

export const ownerLaws = ({ law }: LogKit): ReadonlyArray<Law> => [
  law({
    id: "L12",
    name: "the sessions of an owner are listed by their newest activity, in pages",
    explanation:
      "The owner and the title that come with an append are those of the session from then on: all with it, or none.\n" +
      "Appends and rewrites without them keep them, and deleting the session removes it from its owner's list.",
    arbitrary: fc.array(step, { minLength: 1, maxLength: 12 }),
    holds: (log, steps) =>
      Effect.gen(function* () {
        const kept = new Map<string, Kept>()
        for (const [position, one] of steps.entries()) {
          const before = kept.get(one.session)
          const expectedVersion = before?.version ?? 0
          const batchId = `c${position}`
          if (one.act === "delete") {
            same(yield* log.delete(one.session), kept.delete(one.session), () => "whether it was there")
          } else if (one.act === "replace") {
            const at = { version: expectedVersion, batchId: before?.batchId ?? "" }
            const late = yield* Effect.either(
              log.replaceDescription(one.session, one.description, { ...at, version: at.version + 1 }),
            )
            must(Either.isLeft(late), () => "a description of another version is refused")
            yield* log.replaceDescription(one.session, one.description, at)
            if (before !== undefined) {
              const { owner: _owner, title: _title, ...rest } = before
              kept.set(one.session, { ...rest, ...EventLog.described(one.description) })
            }
          } else if (one.act === "rewrite") {
            if (before === undefined) continue
            const [record] = numbered(1)
            yield* log.rewrite(
              one.session,
              [{ version: 1, schemaVersion: 1, data: "{}" }],
              [{ ...record, time: 9 }],
              {
                expectedVersion,
                batchId,
              },
            )
            kept.set(one.session, { ...before, version: expectedVersion + 1, updatedTime: 9, batchId })
          } else {
            const [first, ...rest] = numbered(one.count)
            const records = [first, ...rest].map((record) => ({ ...record, time: one.time }))
            const options = {
              expectedVersion,
              batchId,
              ...(one.description === undefined ? {} : { description: one.description }),
            }
            const batch = records as [EventLog.NewRecord, ...Array<EventLog.NewRecord>]
            if (one.conflict) {
              const lost = yield* Effect.either(
                log.append(one.session, batch, { ...options, expectedVersion: expectedVersion + 1 }),
              )
              must(Either.isLeft(lost), () => "an append at another version fails")
            }
            yield* log.append(one.session, batch, options)
            const { owner: ofBefore, title: titleBefore } = before ?? {}
            const described = EventLog.described(
              one.description ?? { owner: ofBefore ?? null, title: titleBefore ?? null },
            )
            kept.set(one.session, {
              session: one.session,
              version: expectedVersion + one.count,
              createdTime: before?.createdTime ?? one.time,
              updatedTime: one.time,
              batchId,
              ...described,
            })
          }
          const all = [...kept.values()].map(({ batchId: _batchId, ...info }): EventLog.SessionInfo => info)
          same(
            yield* listed(log),
            all.toSorted((a, b) => EventLog.compareSessionIds(a.session, b.session)),
            () => `all sessions after step ${position}`,
          )
          const expected = kept.get(one.session)
          same(
            yield* log.description(one.session),
            expected === undefined ? null : { owner: expected.owner ?? null, title: expected.title ?? null },
            () => `the description after step ${position}`,
          )
          const owners = new Set([
            "ann",
            "nobody",
            ...all.flatMap(({ owner }) => (owner === undefined ? [] : [owner])),
          ])
          for (const who of owners) {
            const theirs = all.filter(({ owner }) => owner === who).toSorted(EventLog.compareActivity)
            same(
              yield* log.owned(who, { limit: 10 }),
              theirs,
              () => `the sessions of ${who} after step ${position}`,
            )
            if (position < steps.length - 1) continue
            let after: EventLog.OwnedPlace | undefined
            for (const info of theirs) {
              same(
                yield* log.owned(who, { limit: 1, after }),
                [info],
                () => `the page after ${JSON.stringify(after)} of ${who}`,
              )
              after = info
            }
            if (after !== undefined)
              same(yield* log.owned(who, { limit: 1, after }), [], () => "the last page")
          }
        }
      }),
  }),
]
