/** Recall finds what is in the log, within its budget, and an index is a projection of the log (L6, L15). */
import { Message, Recall, Structure } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { conversation } from "../../arbitrary/conversation.js"
import { batched } from "../../arbitrary/interleaving.js"
import { canonical, type Law, makeLaw, must, same } from "../../law/Law.js"
import { listOf, type MemoryKit, session } from "../input.js"
import { messageOf, textOf } from "../words.js"
import { inWorld } from "../world.js"

const words = ["alpha", "bravo", "KX-4471", "src/money.ts", "数据库备份", "deployed"]

/** Messages to search for, among the messages of a conversation. */
const spoken = messageOf(words)

const talk = fc.array(fc.array(spoken, { minLength: 1, maxLength: 6 }), { maxLength: 6 })

/** A text without the space that a transcript puts in front of a line that reads like another message. */
const unspaced = (text: string): string => text.replaceAll(/(?<=[^\P{Cc}\t]|[\u2028\u2029]) /gu, "")

const checkFound = (
  found: Recall.Recalled,
  messages: ReadonlyArray<Message.Message>,
  tokens: number,
): void => {
  must(found.tokens <= tokens, () => `recall of ${tokens} tokens returned ${found.tokens}`)
  for (const [position, { index, message, excerpt, text }] of found.messages.entries()) {
    must(index < messages.length, () => `message ${index} was found, and there are ${messages.length}`)
    must(
      position === 0 || found.messages[position - 1]!.index < index,
      () => `message ${index} is not in the order of the conversation`,
    )
    if (!excerpt) same(message, messages[index], () => `message ${index} is not as it is in the log`)
    must(
      !excerpt || [...Message.calls(message), ...Message.results(message)].length === 0,
      () => `an excerpt of message ${index} has tool calls or results`,
    )
    must(
      unspaced(found.text).includes(unspaced(text)),
      () => `the text of message ${index} is not in the whole text`,
    )
  }
  const shown = found.messages.filter(({ excerpt }) => !excerpt).map(({ message }) => message)
  const open = new Structure.OpenCalls()
  for (const message of shown) {
    for (const result of Message.results(message)) {
      const call = open.answer(result)
      must(call !== undefined, () => "a result is shown without its call")
    }
    const earlier = open.count
    for (const call of Message.calls(message)) open.add(call, earlier)
  }
  must(open.left.length === 0, () => "a call is shown without its result")
}

export const recallLaw = ({ options, strategies, numRuns }: MemoryKit): Law =>
  makeLaw({
    id: "L6",
    name: "recall finds what the log has, and an index built again finds the same",
    explanation:
      "Whatever is appended, redacted, cleared and compacted: recall returns messages of this session since the last\n" +
      "clear as they are in the log, in their order, within its budget. A memory that has searched all along finds what a\n" +
      "memory finds that was opened just now, with an index in the process or in the store, and none finds redacted words.",
    numRuns,
    arbitrary: fc.record({
      strategy: strategies,
      before: fc.oneof(talk, batched(conversation)),
      after: talk,
      which: fc.nat(),
      clears: fc.boolean(),
      query: textOf(words),
      tokens: fc.integer({ min: 0, max: 400 }),
    }),
    describe: ({ strategy, before, after, query, tokens, clears }) =>
      `${strategy.name}; "${query}" within ${tokens} tokens\n${listOf(before)}\n  ${clears ? "clear" : "--"}\n${listOf(after)}`,
    holds: ({ strategy, before, after, which, clears, query, tokens }) =>
      inWorld(options, async (world) => {
        const secret = "q7secret7q"
        const kept = await world.open({ strategy, compaction: { mode: "inline" } })
        let messages: Array<Message.Message> = []
        const appendAll = async (given: typeof before) => {
          for (const [position, batch] of given.entries()) {
            await world.run(kept.append(session, batch))
            messages.push(...batch)
            if (position % 3 === 0) await world.run(kept.recall(session, query, { tokens }))
          }
        }
        // Parts of a few messages, so that short conversations have several.
        const inStore = Recall.inStore(world.log.projections, { eventsPerPart: 4, largestPart: 10 })
        const checkAll = async () => {
          const indexed = await world.open({ strategy, compaction: { mode: "manual" }, index: inStore })
          const fresh = await world.open({
            strategy,
            compaction: { mode: "manual" },
            index: Recall.inProcess(),
          })
          const stored = await world.run(kept.messages(session, { limit: Math.max(messages.length, 1) }))
          for (const [text, searched] of [
            [query, "all"],
            [query, "outside-context"],
            [secret, "all"],
          ] as const) {
            const request = { tokens, messages: searched }
            const [one, ...others] = await world.run(
              Effect.all([
                kept.recall(session, text, request),
                fresh.recall(session, text, request),
                indexed.recall(session, text, request),
              ]),
            )
            checkFound(one, stored.messages, tokens)
            for (const other of others) {
              if (searched === "all") same(one, other, () => "an index built again finds something else")
              checkFound(other, stored.messages, tokens)
            }
          }
        }
        await appendAll(before)
        await world.run(kept.append(session, Message.user(`alpha ${secret} bravo`)))
        messages.push(Message.user(""))
        await appendAll(after)
        await checkAll()
        const hidden = clears ? messages.length : before.flat().length
        if (clears) {
          await world.run(kept.clear(session))
          messages = []
          await appendAll(before)
        } else {
          await world.run(kept.redact(session, hidden))
          if (which % 2 === 0) await appendAll(before)
        }
        await checkAll()
        const found = await world.run(kept.recall(session, `${secret} ${query}`, { tokens: 2_000 }))
        must(!canonical(found).includes(secret), () => "recall finds what was redacted or cleared")
      }),
  })
