/** Recall over the sessions of an owner finds what is in them, and nothing of others. */
import { Message, Recall } from "@memfold/core"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { type Law, makeLaw, must, same } from "../../law/Law.js"
import type { MemoryKit } from "../input.js"
import { messageOf, textOf } from "../words.js"
import { inWorld } from "../world.js"

const words = ["alpha", "bravo", "KX-4471", "src/money.ts", "数据库备份"]
const owner = fc.constantFrom("ann", "bob", null)
const session = fc.constantFrom("a", "b", "c", "d")

const said = messageOf(words)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      session,
      messages: fc.array(said, { minLength: 1, maxLength: 5 }),
      owner: fc.option(fc.constantFrom("ann", "bob"), { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("describe" as const), session, owner }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("search" as const), session }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("clear" as const, "delete" as const), session }) },
)

interface OwnedConversation {
  owner: string | null
  messages: Array<Message.Message>
}

export const ownerRecallLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L6",
    name: "recall over an owner's sessions finds what is in them, whatever the index",
    explanation:
      "Sessions are appended to, change their owners, are cleared and deleted. An append under another owner than the\n" +
      "session's is refused: only describing a session changes its owner. A search over an owner's sessions returns\n" +
      "messages of these sessions alone, as they are in the log, within one budget, and with room enough all that have the\n" +
      "word. A memory that was opened just now finds the same, with an index in the process or in the store.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      steps: fc.array(step, { minLength: 3, maxLength: 20 }),
      query: textOf(words),
      tokens: fc.integer({ min: 0, max: 300 }),
    }),
    describe: ({ strategy, steps, query, tokens }) =>
      `${strategy.name}; "${query}" within ${tokens} tokens\n${steps.map((one) => JSON.stringify(one)).join("\n")}`,
    holds: ({ strategy, steps, query, tokens }) =>
      inWorld(options, async (world) => {
        const memory = await world.open({ strategy, compaction: { mode: "inline" } })
        const sessions = new Map<string, OwnedConversation>()
        for (const one of steps) {
          const kept = sessions.get(one.session)
          if (one.act === "append") {
            const { owner: whose = kept?.owner ?? null } = one
            const refused = (kept?.owner ?? whose) !== whose
            const appended = memory.append(one.session, one.messages, { owner: one.owner })
            const done = await world.run(Effect.either(appended))
            must(
              (Either.isLeft(done) ? done.left._tag : "none") === (refused ? "OwnerMismatch" : "none"),
              () => `an append of ${whose} to session ${one.session} of ${kept?.owner ?? "nobody"}`,
            )
            if (kept === undefined) sessions.set(one.session, { owner: whose, messages: [...one.messages] })
            else if (!refused) {
              kept.owner = whose
              kept.messages.push(...one.messages)
            }
          } else if (one.act === "describe") {
            await world.run(memory.describe(one.session, { owner: one.owner }))
            if (kept !== undefined) kept.owner = one.owner
            // A session may begin with its description.
            else if (one.owner !== null) sessions.set(one.session, { owner: one.owner, messages: [] })
          } else if (one.act === "search") {
            await world.run(memory.recallOf("ann", query, { tokens }))
          } else if (one.act === "clear") {
            await world.run(memory.clear(one.session))
            if (kept !== undefined) kept.messages = []
          } else {
            await world.run(memory.delete(one.session))
            sessions.delete(one.session)
          }
        }
        const indexed = await world.open({
          strategy,
          compaction: { mode: "manual" },
          index: Recall.inStore(world.log.projections, { eventsPerPart: 3, largestPart: 6 }),
        })
        const fresh = await world.open({
          strategy,
          compaction: { mode: "manual" },
          index: Recall.inProcess(),
        })
        for (const who of ["ann", "bob", "nobody"]) {
          const [found, ...others] = await world.run(
            Effect.all(
              [memory, fresh, indexed].map((one) => one.recallOf(who, query, { tokens })) as [
                ReturnType<typeof memory.recallOf>,
                ...Array<ReturnType<typeof memory.recallOf>>,
              ],
            ),
          )
          for (const other of others) same(other, found, () => `what another index finds for ${who}`)
          must(found.tokens <= tokens, () => `recall of ${tokens} tokens returned ${found.tokens}`)
          same(found.unreadable, [], () => "sessions that could not be read")
          for (const { session, index, message, excerpt } of found.messages) {
            const kept = sessions.get(session)
            must(kept?.owner === who, () => `a search for ${who} found a message of session ${session}`)
            if (!excerpt)
              same(
                message,
                kept?.messages[index],
                () => `message ${index} of ${session} is not as in the log`,
              )
          }
          const all = await world.run(memory.recallOf(who, "bravo", { tokens: 20_000 }))
          const having = (message: Message.Message) => Message.text(message).includes("bravo")
          same(
            all.messages
              .filter(({ message }) => having(message))
              .map(({ session, index }) => `${session} ${index}`)
              .toSorted(),
            [...sessions]
              .flatMap(([name, kept]) =>
                kept.owner === who
                  ? kept.messages.flatMap((message, index) => (having(message) ? [`${name} ${index}`] : []))
                  : [],
              )
              .toSorted(),
            () => `the messages of ${who} with the word "bravo"`,
          )
        }
      }),
  })
