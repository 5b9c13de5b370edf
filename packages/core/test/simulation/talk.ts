/**
 * What is said in a run: generated conversations, with a mark of its own in every part. By its mark a part is found
 * again in a context, a summary, a snapshot or a record.
 */
import * as fc from "fast-check"
import { conversation } from "../../../testing/src/arbitrary/index.js"
import type { Message } from "../../src/index.js"
import type { Draw } from "./draw.js"

const pattern = /~\d+\.\d+~/g

/** The marks in a text, in order. */
export const marksIn = (text: string): ReadonlyArray<string> => text.match(pattern) ?? []

/** The marks of anything that was made of messages. */
export const marksOf = (value: unknown): ReadonlyArray<string> => marksIn(JSON.stringify(value) ?? "")

/** A part with a mark in its words. A call has it in the path of a file, which ends up in the notes on files. */
const withMark = (part: Message.Part, mark: string): Message.Part => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text: `${mark} ${part.text}` }
    case "tool-call":
      return { ...part, arguments: JSON.stringify({ path: `src/${mark}.ts`, also: part.arguments }) }
    case "tool-result":
      return { ...part, output: `${mark} ${part.output}` }
    case "file":
      return { ...part, uri: `${part.uri}${mark}` }
    case "opaque":
      return { ...part, data: { said: mark, also: part.data } }
  }
}

const conversations = fc.noBias(conversation)

/** The messages of one session, one after another: when a conversation is over, another one begins. */
export class Talk {
  private readonly ahead: Array<Message.Message> = []

  constructor(
    private readonly draw: Draw,
    /** Numbers the messages of a whole run. */
    private readonly number: () => number,
    private readonly now: () => number,
  ) {}

  /** The next so many messages, half of them with a time. */
  next(count: number): ReadonlyArray<Message.Message> {
    while (this.ahead.length < count) this.ahead.push(...this.another())
    return this.ahead.splice(0, count).map(({ at: _at, ...message }) => {
      const number = this.number()
      const parts = message.parts.map((part, position) => withMark(part, `~${number}.${position}~`))
      return { ...message, parts, ...(this.draw.chance(0.5) ? { at: this.now() } : {}) }
    })
  }

  private another(): ReadonlyArray<Message.Message> {
    return fc.sample(conversations, { seed: this.draw.below(2 ** 31), numRuns: 1 }).flat()
  }
}
