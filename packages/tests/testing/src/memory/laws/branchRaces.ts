/** Edits at once, and while a compaction runs: each is applied whole, one after another (L12), and nothing left is covered (L7). */
import type { Memory, Message } from "@memfold/core"
import { Chunk, Effect, Fiber, Stream } from "effect"
import * as fc from "fast-check"
import { type Law, makeLaw, must, same } from "../../law/Law.js"
import { readSession } from "../../oracle/session.js"
import { onlyShown, Page, repeating, shownOf } from "../branchWalk.js"
import { checkSession } from "../checkSession.js"
import { type MemoryKit, session } from "../input.js"
import { inWorld } from "../world.js"

/** What a client asks of a process, and after how many milliseconds. */
interface PlannedEdit {
  readonly who: 0 | 1
  readonly wait: number
  readonly act: "edit" | "append" | "regenerate" | "undo"
  readonly at: number
  readonly count: number
}

const asked: fc.Arbitrary<PlannedEdit> = fc.record({
  who: fc.constantFrom(0 as const, 1 as const),
  wait: fc.constantFrom(0, 0, 1_000, 6_000, 30_000),
  act: fc.constantFrom(
    "edit" as const,
    "edit" as const,
    "edit" as const,
    "append" as const,
    "append" as const,
    "regenerate" as const,
    "undo" as const,
  ),
  at: fc.nat({ max: 30 }),
  count: fc.integer({ min: 1, max: 3 }),
})

/** An answer to an edit or an append: where its messages are. */
interface Done {
  readonly version: number
  readonly from: number
  readonly messages: ReadonlyArray<Message.Message>
  readonly at: number | null
}

const ask = (
  memory: Memory.Service,
  page: Page,
  { act, at, count }: PlannedEdit,
): Effect.Effect<Done | null, unknown> =>
  Effect.gen(function* () {
    if (act === "undo") return yield* Effect.as(memory.undo(session, { pauseFor: 0 }), null)
    if (act === "regenerate") return yield* Effect.as(memory.regenerate(session), null)
    const messages = page.messages(count)
    const done =
      act === "append"
        ? memory.append(session, messages)
        : memory.edit(session, at, messages).pipe(
            // The message was gone by then.
            Effect.catchTag("UnknownMessage", () => Effect.succeed(null)),
          )
    return yield* Effect.map(done, (answer) =>
      answer === null
        ? null
        : { version: answer.version, from: answer.from, messages, at: act === "edit" ? at : null },
    )
  })

export const branchRacesLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L12",
    name: "two edits at once are applied one after the other, also while a compaction runs",
    explanation:
      "Two processes edit, append, ask for other answers and undo at once, and compact in the background with a slow summarizer that\n" +
      "repeats what it reads. Each edit is in the log as its answer says, right behind the messages that it keeps, and no\n" +
      "summary says a word of a message that was left.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      first: fc.integer({ min: 1, max: 12 }),
      all: fc.array(asked, { minLength: 2, maxLength: 10 }),
    }),
    describe: ({ strategy, first, all }) =>
      `${strategy.name}; ${first} messages\n${all.map((one) => JSON.stringify(one)).join("\n")}`,
    holds: ({ strategy, first, all }) =>
      inWorld(options, async (world) => {
        const page = new Page()
        const opening = {
          strategy,
          compaction: { mode: "background" },
          summarizer: {
            ...repeating,
            summarize: (request: Parameters<typeof repeating.summarize>[0]) =>
              Effect.delay(repeating.summarize(request), "5 seconds"),
          },
        } as const
        const memories = [await world.open(opening), await world.open(opening)] as const
        await world.run(memories[0].append(session, page.messages(first)))
        const answers = await world.watch(
          Effect.gen(function* () {
            const fibers: Array<Fiber.RuntimeFiber<Done | null, unknown>> = []
            // A compaction on demand: of the messages that are there, as many as can be.
            const compacting = yield* Effect.forkDaemon(memories[0].compact(session))
            for (const one of all) {
              // A client that does not wait asks at once.
              if (one.wait > 0) yield* world.time.advance(one.wait)
              fibers.push(yield* Effect.forkDaemon(ask(memories[one.who], page, one)))
            }
            const done = yield* world.time.through(Effect.forEach(fibers, Fiber.join))
            yield* world.time.through(Fiber.join(compacting))
            for (let minute = 0; minute < 5; minute++) yield* world.time.advance(60_000)
            return done
          }),
        )
        const { state, read } = await checkSession(world, memories[0], session)
        await checkSession(world, memories[1], session)
        const shown = read.messages.map(({ message }) => shownOf(message))
        for (const { to, text } of state.summary?.segments ?? [])
          onlyShown(`a segment up to message ${to}`, text, shown.slice(0, to))
        const events = Chunk.toReadonlyArray(await world.run(Stream.runCollect(memories[0].events(session))))
        for (const done of answers) {
          if (done === null) continue
          const { version, from, messages, at } = done
          must(at === null || at === from, () => `an edit of message ${at} was applied at ${from}`)
          const then = readSession(events.slice(0, version)).messages.map(({ message }) => shownOf(message))
          same(then.slice(from), messages.map(shownOf), () => `the messages behind ${from} at ${version}`)
          const first = version - messages.length
          const switched = at !== null && events[first - 1]?.event._tag === "BranchSwitched"
          const before = readSession(events.slice(0, switched ? first - 1 : first)).messages
          same(
            then.slice(0, from),
            before.slice(0, from).map(({ message }) => shownOf(message)),
            () => `the messages before ${from} at ${version}`,
          )
        }
      }),
  })
