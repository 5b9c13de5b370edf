/** The operations of a memory, as commands of a model-based test. */
import type { Memory, Message } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { oneMessage } from "../arbitrary/conversation.js"
import { canonical, same } from "../law/Law.js"
import { said } from "../strategy/picture.js"
import { compare, ExpectedMemory } from "./ExpectedMemory.js"
import type { World } from "./world.js"

/** The memory under test, in its world. */
export interface RealMemory {
  readonly world: World
  memory: Memory.Service
  /** Opens another memory over the same log, as after a restart. */
  readonly reopen: () => Promise<Memory.Service>
}

/** One operation of a memory. */
export type MemoryCommand = fc.AsyncCommand<ExpectedMemory, RealMemory>

const session = fc.constantFrom("s", "t")

const command = (
  text: string,
  at: string,
  run: (model: ExpectedMemory, real: RealMemory) => Promise<void>,
): MemoryCommand => ({
  check: () => true,
  run: async (model, real) => {
    await run(model, real)
    await compare(real.world, real.memory, model, at)
  },
  toString: () => text,
})

const append = fc
  .record({
    session,
    messages: fc.array(oneMessage, { minLength: 1, maxLength: 4 }),
    commit: fc.nat({ max: 40 }),
  })
  .map(({ session, messages, commit }) =>
    command(
      `append to ${session} as c${commit}: ${messages.map((one: Message.Message) => `${one.role} ${said(one)}`).join("; ")}`,
      session,
      async (model, { world, memory }) => {
        const expected = model.append(session, messages, `c${commit}`)
        const answer = await world.run(
          memory.append(session, messages, { idempotencyKey: `c${commit}` }).pipe(
            Effect.map(({ from, to, duplicate }) => ({ from, to, duplicate })),
            Effect.catchTag("IdempotencyKeyReused", () => Effect.succeed("refused" as const)),
          ),
        )
        const isDuplicate = answer !== "refused" && answer.duplicate
        if (expected === "either" && (isDuplicate || answer === "refused")) return
        if (typeof expected === "object" && expected.duplicate && isDuplicate) return
        same(answer, expected, () => `appending to ${session}`)
      },
    ),
  )

const others = [
  session.map((session) =>
    command(`settle ${session}`, session, async (_model, { world, memory }) => {
      await world.run(memory.compact(session, { which: "due" }))
      same(
        await world.run(memory.compact(session, { which: "due" })),
        [],
        () => `compacting ${session} again without a new message (L9)`,
      )
    }),
  ),
  fc.record({ session, hold: fc.nat({ max: 3 }) }).map(({ session, hold: pauseFor }) =>
    command(`revert ${session}, paused for ${pauseFor}`, session, async (_model, { world, memory }) => {
      await world.run(memory.revert(session, { pauseFor }))
    }),
  ),
  session.map((session) =>
    command(`compact ${session} by hand`, session, async (_model, { world, memory }) => {
      await world.run(memory.compact(session))
    }),
  ),
  fc.record({ session, which: fc.nat() }).map(({ session, which }) =>
    command(`redact a message of ${session} (${which})`, session, async (model, { world, memory }) => {
      const known = model.of(session)
      if (known.messages.length === 0) return
      const index = which % known.messages.length
      await world.run(memory.redact(session, index))
      known.messages[index]!.redacted = true
      // The redacted text is gone from contexts of the past, too.
      known.contexts.clear()
    }),
  ),
  fc.record({ session, which: fc.nat() }).map(({ session, which }) =>
    command(`look back in ${session} (${which})`, session, async (model, { world, memory }) => {
      const then = [...model.of(session).contexts]
      const [at, context] = then[which % Math.max(then.length, 1)] ?? []
      if (at === undefined) return
      const again = await world.run(memory.context(session, { atVersion: at }))
      same(
        canonical(again),
        context,
        () => `the context of ${session} at version ${at} is another one now (L10)`,
      )
    }),
  ),
  session.map((session) =>
    command(`clear ${session}`, session, async (model, { world, memory }) => {
      await world.run(memory.clear(session))
      model.clear(session)
    }),
  ),
  session.map((session) =>
    command(`delete ${session}`, session, async (model, { world, memory }) => {
      const existed = (await world.run(world.log.head(session))) !== null
      same(await world.run(memory.delete(session)), existed, () => `deleting ${session}`)
      model.delete(session)
    }),
  ),
  fc.constant(
    command("restart", "s", async (_model, real) => {
      real.memory = await real.reopen()
    }),
  ),
  fc.record({ session, millis: fc.integer({ min: 1, max: 3_600_000 }) }).map(({ session, millis }) =>
    command(`${millis} ms pass`, session, async (_model, { world }) => {
      await world.watch(world.time.advance(millis))
    }),
  ),
]

/** Sequences of all operations of a memory, compared with {@link ExpectedMemory}. */
export const memoryCommands = (maxCommands = 25): fc.Arbitrary<Iterable<MemoryCommand>> =>
  fc.commands<ExpectedMemory, RealMemory, false>(
    // Appends come more often: all else needs something to work on.
    [append, append, append, append, ...others],
    { maxCommands, size: "max" },
  )

/** Runs commands against a model of their own. */
export const runCommands = async (commands: Iterable<MemoryCommand>, real: RealMemory): Promise<void> => {
  await fc.asyncModelRun(() => ({ model: new ExpectedMemory(), real }), commands)
}
