/**
 * Random compositions of the parts of a strategy. The name of each lists its parts, to read in a counterexample.
 */
import { SummaryMode, Keep, ToolNotes, Pin, Prune, Split, Strategy, BatchSize, Trigger } from "@memfold/core"
import * as fc from "fast-check"
import { onceIn } from "./onceIn.js"

const upTo = (max: number) => fc.integer({ min: 1, max })

const amount: fc.Arbitrary<Trigger.Amount> = fc.oneof(
  fc.record({ messages: fc.integer({ min: 1, max: 10 }) }),
  fc.record({ tokens: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ turns: fc.integer({ min: 1, max: 4 }) }),
)

/** A part of a strategy with the text that stands for it in a counterexample. */
export type Named<A> = readonly [name: string, value: A]

const triggerLeaf: fc.Arbitrary<Named<Trigger.Trigger>> = fc.oneof(
  amount.map((amount): Named<Trigger.Trigger> => [
    `backlog ${JSON.stringify(amount)}`,
    Trigger.backlog(amount),
  ]),
  amount.map((amount): Named<Trigger.Trigger> => [
    `raw ${JSON.stringify(amount)}`,
    Trigger.uncovered(amount),
  ]),
  fc
    .integer({ min: 0, max: 400 })
    .map((tokens): Named<Trigger.Trigger> => [`contextAbove ${tokens}`, Trigger.contextAbove(tokens)]),
  fc.constantFrom<Named<Trigger.Trigger>>(
    ["cooldown", Trigger.cooldown("15 minutes")],
    ["idle", Trigger.idle("15 minutes")],
    ["callsAnswered", Trigger.callsAnswered],
    ["never", Trigger.never],
  ),
)

const combined = (name: string, combine: (...triggers: ReadonlyArray<Trigger.Trigger>) => Trigger.Trigger) =>
  fc
    .array(triggerLeaf, { maxLength: 3 })
    .map((list): Named<Trigger.Trigger> => [
      `${name}(${list.map(([leaf]) => leaf).join()})`,
      combine(...list.map(([, one]) => one)),
    ])

const trigger: fc.Arbitrary<Named<Trigger.Trigger>> = fc.oneof(
  { weight: 3, arbitrary: triggerLeaf },
  { weight: 2, arbitrary: combined("any", Trigger.any) },
  { weight: 1, arbitrary: combined("all", Trigger.all) },
)

const keepLeaf: fc.Arbitrary<Named<Keep.Keep>> = fc
  .oneof(
    fc.integer({ min: 0, max: 8 }).map(Keep.lastMessages),
    fc.integer({ min: 0, max: 200 }).map(Keep.lastTokens),
    fc.integer({ min: 0, max: 3 }).map(Keep.lastTurns),
    fc.constant(Keep.currentTurn),
  )
  .map((keep) => [keep.describe, keep])

/** A rule of what a strategy keeps. */
export const keep: fc.Arbitrary<Named<Keep.Keep>> = fc.oneof(
  { weight: 4, arbitrary: keepLeaf },
  {
    weight: 1,
    arbitrary: fc.tuple(keepLeaf, keepLeaf).map(([[, one], [, other]]): Named<Keep.Keep> => {
      const both = Keep.all(one, other)
      return [both.describe, both]
    }),
  },
)

const take: fc.Arbitrary<Named<BatchSize.BatchSize>> = fc.oneof(
  fc.constant<Named<BatchSize.BatchSize>>(["all", BatchSize.all]),
  fc
    .integer({ min: 1, max: 6 })
    .map((count): Named<BatchSize.BatchSize> => [`${count} messages`, BatchSize.messages(count)]),
  fc
    .integer({ min: 1, max: 3 })
    .map((count): Named<BatchSize.BatchSize> => [`${count} rounds`, BatchSize.turns(count)]),
)

const split: fc.Arbitrary<Split.Split | undefined> = onceIn(
  3,
  fc
    .record({ above: fc.integer({ min: 0, max: 200 }), prefix: fc.integer({ min: 0, max: 200 }) })
    .map(({ above, prefix }) => Split.tailAbove(above, { prefix })),
)

/** A rule of pruning. */
export const prune: fc.Arbitrary<Named<Prune.Prune>> = fc
  .record({
    kept: keepLeaf,
    above: fc.nat({ max: 200 }),
    ends: fc.option(fc.record({ head: fc.nat({ max: 60 }), tail: fc.nat({ max: 60 }) }), { nil: null }),
  })
  .map(({ kept: [name, keep], above, ends }) =>
    ends === null
      ? [`clear above ${above} but ${name}`, Prune.hardClear({ keep, above })]
      : [
          `trim above ${above} to ${ends.head} and ${ends.tail} but ${name}`,
          Prune.softTrim({ keep, above, ...ends }),
        ],
  )

const rules: fc.Arbitrary<ReadonlyArray<Named<Prune.Prune>>> = fc.array(prune, {
  minLength: 1,
  maxLength: 2,
})

const notes: fc.Arbitrary<ToolNotes.ToolNotes | undefined> = onceIn(
  3,
  fc.record(
    {
      failures: fc.record({ maxFailures: upTo(3), maxCharacters: fc.integer({ min: 1, max: 60 }) }),
      files: fc.constant(ToolNotes.commonFileTools),
    },
    { requiredKeys: [] },
  ),
)

const parts = {
  when: trigger,
  keep,
  batchSize: take,
  fold: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(SummaryMode.rolling, SummaryMode.blocks, SummaryMode.drop) },
    { weight: 1, arbitrary: fc.constant(SummaryMode.none) },
  ),
  split,
  prune: fc.oneof(fc.constant<ReadonlyArray<Named<Prune.Prune>>>([]), rules),
  notes,
  pin: onceIn(5, fc.constant(Pin.firstUserMessage)),
  maxMessages: onceIn(5, fc.integer({ min: 1, max: 20 })),
}

/** A strategy of these parts. Its name says what it is made of. */
const composed = ({
  when,
  keep,
  batchSize,
  fold,
  split,
  prune,
  notes,
  pin,
  maxMessages,
}: {
  readonly [Part in keyof typeof parts]: (typeof parts)[Part] extends fc.Arbitrary<infer A> ? A : never
}): Strategy.Strategy =>
  Strategy.make({
    name: [
      `when ${when[0]}`,
      `keep ${keep[0]}`,
      `take ${batchSize[0]}`,
      fold,
      ...(split === undefined
        ? []
        : [`split above ${split.above}, prefix ${split.prefix({ messages: 1, tokens: 1 })}`]),
      ...prune.map(([name]) => name),
      ...(notes === undefined ? [] : [`notes ${JSON.stringify(notes)}`]),
      ...(pin === undefined ? [] : ["pin the first user message"]),
      ...(maxMessages === undefined ? [] : [`at most ${maxMessages}`]),
    ].join("; "),
    when: when[1],
    keep: keep[1],
    batchSize: batchSize[1],
    summaryMode: fold,
    prune: prune.map(([, rule]) => rule),
    ...(split === undefined ? {} : { split }),
    ...(notes === undefined ? {} : { toolNotes: notes }),
    ...(pin === undefined ? {} : { pin }),
    ...(maxMessages === undefined ? {} : { context: { maxMessages } }),
  })

/** Any composition of the combinators, with small numbers. */
export const strategy: fc.Arbitrary<Strategy.Strategy> = fc.record(parts).map(composed)

/** A strategy that prunes more: it is often due, keeps many messages, and shortens most outputs. */
export const pruningStrategy: fc.Arbitrary<Strategy.Strategy> = fc
  .record({
    ...parts,
    when: upTo(4).map((messages): Named<Trigger.Trigger> => [
      `backlog of ${messages}`,
      Trigger.any(Trigger.backlog({ messages }), Trigger.uncovered({ messages: messages + 8 })),
    ]),
    keep: fc
      .integer({ min: 2, max: 12 })
      .map((count): Named<Keep.Keep> => [`${count} messages`, Keep.lastMessages(count)]),
    batchSize: fc.constant<Named<BatchSize.BatchSize>>(["all", BatchSize.all]),
    prune: rules,
  })
  .map(composed)
