/**
 * The model of a run: it goes by the newest thing that a request says, so a request that is sent again has the same answer. Each task
 * has turns with a tool, which reads a file of facts, and then a last word. What it, the user and the files say has a mark, by which
 * it is found again: `[asked 2]`, `[said 2-7]`, `[read 2-7]`.
 */
import type { Answer, AnsweredCall, Answering, ModelRequest, Received } from "@memfold/strict-providers"
import { prose, summaryRoom } from "../proxy/agents.js"

/** How long a conversation is. */
export interface Size {
  readonly tasks: number
  /** Turns with a tool in each task. */
  readonly turns: number
}

/** The file of facts of a turn. */
export const factsOf = (task: number, turn: number) => ({
  name: `facts-${task}-${turn}.txt`,
  text: `[read ${task}-${turn}] ${prose(task * 1_000 + turn, turn % 4 === 0 ? 9_000 : 1_200)}\n`,
})

/** What the user asks. */
export const question = (task: number): string => `[asked ${task}] ${prose(task, 300)}`

/** All marks of a conversation, in their order. */
export const marksOf = ({ tasks, turns }: Size): ReadonlyArray<string> =>
  Array.from({ length: tasks }, (_, task) => [
    `[asked ${task}]`,
    ...Array.from({ length: turns }, (__, turn) => [
      `[said ${task}-${turn}]`,
      `[read ${task}-${turn}]`,
    ]).flat(),
    `[said ${task}-${turns}]`,
  ]).flat()

/** The marks in a text. */
export const marksIn = (text: string): ReadonlyArray<string> =>
  text.match(/\[(?:asked \d+|(?:said|read) \d+-\d+)\]/g) ?? []

/** The conversation of a request, as a text. */
export const conversation = ({ messages, input }: ModelRequest["body"]): string =>
  JSON.stringify(messages ?? input)

/** What becomes of the answer of a turn. */
export type Change = (task: number, turn: number, answer: Answer) => Answer | Promise<Answer>

/**
 * The model. It remembers the files that it has read, as a model does behind a summary that nobody else can read.
 *
 * @param size - how long the conversation is
 * @param callOf - the call that reads a file; `null` if the request has no tool for it
 * @param received - all requests so far
 */
export const model = (
  { turns }: Size,
  callOf: (file: string, asked: ModelRequest) => AnsweredCall | null,
  received: () => ReadonlyArray<Received>,
  change: Change = (_, __, answer) => answer,
): Answering => {
  const read = new Map<number, number>()
  let looked = 0
  const look = (): void => {
    for (const { body } of received().slice(looked))
      for (const mark of marksIn(conversation(body))) {
        const [task = 0, turn] = mark.match(/\d+/g)!.map(Number)
        if (mark.startsWith("[read") && turn !== undefined)
          read.set(task, Math.max(turn, read.get(task) ?? 0))
      }
    looked = received().length
  }
  return (asked) => {
    look()
    const room = summaryRoom(asked.body)
    if (room !== null) return { text: prose(1_000_000, room * 4 * 0.8) }
    const task = Math.max(
      -1,
      ...marksIn(conversation(asked.body)).map((mark) => Number(/\d+/.exec(mark)?.[0])),
    )
    const turn = (read.get(task) ?? -1) + 1
    const call = task === -1 ? null : callOf(factsOf(task, turn).name, asked)
    // A title, or the client's own summary.
    if (call === null) return { text: "Facts were read." }
    const text = `[said ${task}-${turn}] ${prose(task * 1_000 + turn, 100)}`
    const thinking = turn % 3 === 0 ? { thinking: prose(task * 1_000 + turn, 300) } : {}
    return change(task, turn, turn < turns ? { ...thinking, text, calls: [call] } : { ...thinking, text })
  }
}
