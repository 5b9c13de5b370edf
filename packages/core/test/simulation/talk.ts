/**
 * What is said in a run: conversations with everything that real ones have, and a mark of its own in every part. By its
 * mark a part is found again in a context, a summary, a snapshot or a record.
 */
import type { Message } from "../../src/index.js"
import type { Draw } from "./draw.js"

const pattern = /~\d+\.\d+~/g

/** The marks in a text, in order. */
export const marksIn = (text: string): ReadonlyArray<string> => text.match(pattern) ?? []

/** The marks of anything that was made of messages. */
export const marksOf = (value: unknown): ReadonlyArray<string> => marksIn(JSON.stringify(value) ?? "")

const filler = "and so on it goes, one word after another, until enough of them have been said about it all "

/** The parts of messages. */
class Parts {
  constructor(private readonly draw: Draw) {}

  words(mark: string): string {
    const { draw } = this
    const length = draw.chance(0.1) ? draw.between(100, 600) : draw.between(8, 90)
    return `${mark} ${filler.repeat(Math.ceil(length / filler.length)).slice(0, length)}`
  }

  readonly text = (mark: string): Message.Part => ({ type: "text", text: this.words(mark) })

  readonly reasoning = (mark: string): Message.Part => ({ type: "reasoning", text: this.words(mark) })

  result(mark: string, id: string): Message.Part {
    const { draw } = this
    const long = draw.chance(0.25) ? "x".repeat(draw.between(60, 5_000)) : ""
    return {
      type: "tool-result",
      id,
      output: this.words(mark) + long,
      ...(draw.chance(0.15) ? { isError: true } : {}),
    }
  }

  call(mark: string, id: string): Message.Part {
    const name = this.draw.pick(["read_file", "edit_file", "search"])
    const text = JSON.stringify({ path: `src/${mark}.ts`, why: filler.slice(0, this.draw.between(0, 60)) })
    return { type: "tool-call", id, name, arguments: text }
  }
}

/** The messages of one conversation, one after another. */
export class Talk {
  private readonly ahead: Array<Message.Message> = []
  private begun = false
  private readonly parts: Parts

  constructor(
    private readonly draw: Draw,
    /** Numbers the messages of a whole run. */
    private readonly number: () => number,
    private readonly now: () => number,
  ) {
    this.parts = new Parts(draw)
  }

  /** The next `count` messages. A round of tool calls may continue in the messages after them. */
  next(count: number): ReadonlyArray<Message.Message> {
    while (this.ahead.length < count) this.ahead.push(...this.piece())
    const { draw } = this
    return this.ahead.splice(0, count).map((message) => ({
      ...message,
      ...(draw.chance(0.5) ? { time: this.now() } : {}),
      ...(draw.chance(0.03) ? { pinned: true } : {}),
    }))
  }

  private piece(): ReadonlyArray<Message.Message> {
    const { draw } = this
    if (!this.begun) {
      this.begun = true
      if (draw.chance(0.4)) return [this.say("system"), this.say("user")]
    }
    const kind = draw.weighted({
      exchange: 6,
      tools: 5,
      question: 2,
      statement: 2,
      stray: 0.5,
      notice: 0.5,
      odd: 0.4,
    })
    switch (kind) {
      case "exchange":
        return [...this.question(), this.statement()]
      case "tools":
        return this.toolTurn()
      case "question":
        return this.question()
      case "statement":
        return [this.statement()]
      case "stray":
        return [this.message("tool", [(mark) => this.parts.result(mark, draw.pick(["c1", "c2", ""]))])]
      case "notice":
        return [{ ...this.say("system"), ...(draw.chance(0.4) ? { pinned: true } : {}) }]
      case "odd":
        return [this.odd()]
    }
  }

  private message(
    role: Message.Role,
    parts: ReadonlyArray<(mark: string) => Message.Part>,
    options: Partial<Message.Message> = {},
  ): Message.Message {
    const number = this.number()
    return { role, parts: parts.map((part, position) => part(`~${number}.${position}~`)), ...options }
  }

  private say(role: "system" | "user"): Message.Message {
    return this.message(role, [this.parts.text])
  }

  private question(): ReadonlyArray<Message.Message> {
    const { draw } = this
    return Array.from({ length: draw.weighted({ 1: 6, 2: 1, 3: 1 }) === "1" ? 1 : draw.between(2, 3) }, () =>
      this.say("user"),
    )
  }

  private statement(): Message.Message {
    const { draw } = this
    const parts = [...(draw.chance(0.2) ? [this.parts.reasoning] : []), this.parts.text]
    if (draw.chance(0.9)) return this.message("assistant", parts)
    const usage = { input: draw.between(10, 2_000), output: draw.between(10, 200) }
    return this.message("assistant", parts, { usage })
  }

  /** Calls, and their results: in any order, together or apart, without ids, late, or not at all. */
  private toolTurn(): ReadonlyArray<Message.Message> {
    const { draw } = this
    const ids = Array.from({ length: draw.between(1, 3) }, () => draw.pick(["c1", "c2", "c3"]))
    const calls = this.message("assistant", [
      ...(draw.chance(0.2) ? [this.parts.reasoning] : []),
      ...ids.map((id) => (mark: string) => this.parts.call(mark, id)),
    ])
    const answered = draw.chance(0.8) ? ids : ids.filter(() => draw.chance(0.5))
    if (draw.chance(0.3)) answered.reverse()
    const results = answered.map(
      (id) => (mark: string) => this.parts.result(mark, draw.chance(0.1) ? "" : id),
    )
    const together = draw.chance(0.4)
    const messages = together
      ? results.length === 0
        ? []
        : [this.message("tool", results)]
      : results.map((result) => this.message("tool", [result]))
    const between = draw.chance(0.1) ? [this.statement()] : []
    const after = draw.chance(0.7) ? [this.statement()] : []
    return [calls, ...messages.slice(0, 1), ...between, ...messages.slice(1), ...after]
  }

  /** What a careless caller may bring. */
  private odd(): Message.Message {
    const { draw } = this
    const part = (mark: string): Message.Part => {
      switch (draw.weighted({ text: 2, reasoning: 1, call: 1, result: 1, file: 0.5, opaque: 0.5 })) {
        case "text":
          return this.parts.text(mark)
        case "reasoning":
          return this.parts.reasoning(mark)
        case "call":
          return this.parts.call(mark, draw.pick(["c1", "c2", ""]))
        case "result":
          return this.parts.result(mark, draw.pick(["c1", "c2", ""]))
        case "file":
          return { type: "file", mediaType: "image/png", uri: `data:image/png;base64,${mark}` }
        case "opaque":
          return { type: "opaque", provider: "somebody", data: { said: this.parts.words(mark) } }
      }
    }
    const role = draw.pick<Message.Role>(["system", "user", "assistant", "tool"])
    return this.message(
      role,
      Array.from({ length: draw.below(4) }, () => part),
    )
  }
}
