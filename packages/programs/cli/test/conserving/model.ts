/** Conversations as a model of them: what each file of a format is written from. Every text is there once. */
import * as fc from "fast-check"

/** A call with what it says and what it is answered. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly input: string
  readonly output: string
}

/** A step of an answer. */
export interface Step {
  readonly reasoning: string | undefined
  readonly text: string | undefined
  readonly calls: ReadonlyArray<Call>
}

/** A turn: what the user said, and the steps of the answer. */
export interface Turn {
  readonly user: string
  /** Typed while the answer was written; in formats that have it. */
  readonly queued: string | undefined
  /** A file beside the prompt; in formats that have it. */
  readonly file: string | undefined
  readonly steps: ReadonlyArray<Step>
}

/** After so many turns, the program wrote a summary; it kept the last `keeps` of them as they were. */
export interface Compacted {
  readonly after: number
  readonly keeps: number
  readonly summary: string
}

/** A conversation: its turns, what was left, where it was compacted, and what stands in places that nobody knows. */
export interface Conversation {
  readonly system: string | undefined
  readonly turns: ReadonlyArray<Turn>
  /** Turns that the user went back over, and behind which turn they were said. */
  readonly left: { readonly after: number; readonly turns: ReadonlyArray<Turn> } | undefined
  /** What a sub-agent did for the first call: said among the entries of the conversation, and no part of it. */
  readonly beside: Turn | undefined
  readonly compacted: ReadonlyArray<Compacted>
  /** What comes behind a compaction names an entry before it as its parent, in programs that do so. */
  readonly isLoose: boolean
  /** Trees are written from their newest entry on. */
  readonly isReversed: boolean
  /** All answers have one id, as some gateways give it. */
  readonly hasOneId: boolean
  /** Texts in entries, blocks and fields of kinds that no reader knows. */
  readonly odd: ReadonlyArray<string>
}

const starts = [
  "",
  "<b>",
  "# ",
  "- ",
  '{"a":1} ',
  "[x] ",
  "/",
  "@",
  "<environment_context> ",
  "0",
  "你好 ",
  "🙂 ",
]

/** A text without a number, which stands within every other one. */
export const shortText = "once"

/** Texts, each with a number of its own, that begin with whatever a reader might take for a sign. */
const counted = () => {
  let count = 0
  return (start: string, what: string): string => `${start}${what} no ${(count += 1)}, said once`
}

const shapes = fc.record({
  system: fc.boolean(),
  turns: fc.array(
    fc.record({
      start: fc.constantFrom(...starts),
      isQueued: fc.boolean(),
      hasFile: fc.boolean(),
      steps: fc.array(
        fc.record({
          reasoning: fc.boolean(),
          text: fc.boolean(),
          calls: fc.nat(2),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  left: fc.option(fc.nat(3), { nil: undefined }),
  hasBeside: fc.boolean(),
  compacted: fc.array(fc.record({ after: fc.nat(3), keeps: fc.nat(2) }), { maxLength: 3 }),
  isLoose: fc.boolean(),
  isReversed: fc.boolean(),
  odd: fc.nat(3),
  hasOneId: fc.boolean(),
})

type Shape = typeof shapes extends fc.Arbitrary<infer A> ? A : never

const conversationOf = (shape: Shape): Conversation => {
  const say = counted()
  let calls = 0
  const turnOf = ({ start, isQueued, hasFile, steps }: Shape["turns"][number]): Turn => ({
    user: say(start, "question"),
    file: hasFile ? say("", "file") : undefined,
    queued: isQueued ? say(start, "queued") : undefined,
    steps: steps.map(({ reasoning, text, calls: count }, at) => {
      const isLast = at === steps.length - 1
      return {
        reasoning: reasoning ? say(start, "thought") : undefined,
        text: text || isLast || count === 0 ? say(start, "answer") : undefined,
        // An answer ends with what it says.
        calls: isLast
          ? []
          : Array.from({ length: Math.max(1, count) }, () => ({
              id: `call_${(calls += 1)}`,
              name: "look",
              input: say("", "input"),
              output: say(start, "output"),
            })),
      }
    }),
  })
  const turns = shape.turns.map(turnOf)
  const places = new Map(
    shape.compacted.map(({ after, keeps }) => [Math.min(turns.length, after + 1), keeps] as const),
  )
  const compactions = [...places].toSorted(([one], [other]) => one - other)
  return {
    system: shape.system ? say("", "instruction") : undefined,
    turns,
    left:
      shape.left === undefined
        ? undefined
        : { after: shape.left % turns.length, turns: shape.turns.slice(0, 1).map(turnOf) },
    beside:
      shape.hasBeside && calls > 0
        ? { ...turnOf(shape.turns.at(-1)!), queued: undefined, file: undefined }
        : undefined,
    compacted: compactions.map(([after, keeps], at) => ({
      after,
      keeps: Math.min(after - (compactions[at - 1]?.[0] ?? 1), keeps),
      summary: say("", "summary"),
    })),
    isLoose: shape.isLoose,
    isReversed: shape.isReversed,
    hasOneId: shape.hasOneId,
    odd: Array.from({ length: shape.odd }, (_, at) => (at === 1 ? shortText : say("", "odd"))),
  }
}

export const conversations: fc.Arbitrary<Conversation> = shapes.map(conversationOf)
