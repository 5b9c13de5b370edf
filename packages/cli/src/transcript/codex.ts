/**
 * Sessions of Codex (`rollout-*.jsonl`): JSON Lines `{ "timestamp", "type", "payload" }`. Older ones have items of the
 * Responses API line by line, behind a line about the session.
 *
 * - `response_item` has an item; the items of one answer are one message
 * - `turn_context` has the model, `token_count` the usage of the last answer
 * - `compacted` is a compaction
 * - `thread_rolled_back` takes turns back; what was said in them is a branch that was left
 * - other entries repeat what the items say, for the screen, and are not read
 */
import { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf } from "./chat.js"
import {
  type Compaction,
  countOf,
  type StoredConversation,
  inOrder,
  objectOf,
  type Reader,
  type Reading,
  recorded,
  textOf,
  timeAt,
  valuesOf,
} from "./Reader.js"
import { decodeItems, isItem, isOfAnswer } from "./responses.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

const types = ["session_meta", "response_item", "turn_context", "event_msg", "compacted"]

const isEntry = (value: unknown): boolean =>
  isObject(value) && types.some((type) => type === value["type"]) && isObject(value["payload"])

/** The first line of an older session. */
const isOldSession = (value: unknown): boolean =>
  isObject(value) && !("type" in value) && ["id", "timestamp", "instructions"].every((name) => name in value)

/** Texts that Codex writes for the user at the start of a turn. They begin no turn. */
const isContext = (text: string): boolean => /^\s*(?:<|# AGENTS\.md instructions)/.test(text)

class Thread {
  messages: Array<Message.Message> = []
  compactions: Array<Compaction> = []
  readonly left: Array<Reading> = []
  problem: Problem | undefined
  private answer: Array<unknown> = []
  private began: { readonly line: number; readonly time: number | undefined } = { line: 1, time: undefined }
  private model: string | undefined
  private total = ""

  /** Makes a message of the items of an answer. */
  flush(): void {
    const items = this.answer
    if (items.length === 0) return
    this.answer = []
    const { line, time } = this.began
    const decoded = decodeItems(items)
    if (Either.isLeft(decoded)) {
      const { problem, allowed } = decoded.left
      this.problem ??= { line, problem: `the item ${problem}`, ...(allowed === undefined ? {} : { allowed }) }
      return
    }
    for (const message of decoded.right) {
      const model = message.role === "assistant" ? this.model : undefined
      this.messages.push(recorded(message, { time, model }))
    }
  }

  private item(item: JsonObject, line: number, time: number | undefined): void {
    // Codex keeps what it cannot read itself under this type.
    if (item["type"] === "other") return
    if (!isOfAnswer(item) || !isOfAnswer(this.answer.at(-1))) this.flush()
    if (this.answer.length === 0) this.began = { line, time }
    this.answer.push(item)
  }

  private usage(info: JsonObject): void {
    const total = JSON.stringify(info["total_token_usage"])
    const last = objectOf(info["last_token_usage"])
    const [input, output] = [countOf(last["input_tokens"]), countOf(last["output_tokens"])]
    // The same count comes again with each change of the rate limits.
    if (output === undefined || total === this.total) return
    this.total = total
    this.flush()
    const index = this.messages.findLastIndex(({ role }) => role === "assistant")
    const message = this.messages[index]
    if (message === undefined || message.usage !== undefined) return
    this.messages[index] = { ...message, usage: input === undefined ? { output } : { input, output } }
  }

  private rollBack(turns: number): void {
    this.flush()
    const begins = this.messages.flatMap((message, index) =>
      message.role === "user" && !isContext(Message.text(message)) ? [index] : [],
    )
    const from = begins.at(-turns) ?? begins[0]
    if (turns === 0 || from === undefined) return
    this.left.push({ messages: this.messages, compactions: this.compactions, broken: undefined })
    this.messages = this.messages.slice(0, from)
    this.compactions = this.compactions.filter(({ after }) => after <= from)
  }

  entry(value: JsonObject, line: number): void {
    const at = timeAt(value, "timestamp")
    if (Either.isLeft(at)) {
      this.problem ??= { line, ...at.left }
      return
    }
    const time = at.right
    const payload = objectOf(value["payload"])
    switch (value["type"]) {
      case "session_meta": {
        const instructions = textOf(objectOf(payload["base_instructions"])["text"])
        if (instructions !== undefined && this.messages.length === 0) {
          this.messages.push(Message.system(instructions))
        }
        return
      }
      case "turn_context":
        this.flush()
        this.model = textOf(payload["model"]) ?? this.model
        return
      case "response_item":
        return this.item(payload, line, time)
      case "compacted": {
        this.flush()
        const summary = textOf(payload["message"])
        this.compactions.push({
          after: this.messages.length,
          ...(summary === undefined ? {} : { summary }),
          ...(time === undefined ? {} : { time }),
        })
        return
      }
      case "event_msg":
        if (payload["type"] === "token_count") this.usage(objectOf(payload["info"]))
        if (payload["type"] === "thread_rolled_back") this.rollBack(countOf(payload["num_turns"]) ?? 0)
        return
      default:
        if (isItem(value) || "role" in value) this.item(value, line, time)
    }
  }
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  const thread = new Thread()
  for (const { value, line = 1 } of valuesOf(source)) {
    if (isObject(value)) thread.entry(value, line)
    else thread.problem ??= { line, problem: "the entry is no object", allowed: 'an object with "type"' }
    if (thread.problem !== undefined) break
  }
  thread.flush()
  const { messages, compactions, left, problem } = thread
  const now: Reading = { messages, compactions, broken: problem ?? brokenOf(source) }
  return inOrder([{ read: () => now, left: left.map((reading) => () => reading) }])
}

export const reader: Reader = {
  recognizes: (source) =>
    valuesOf(source).some(({ value }) => isEntry(value)) || isOldSession(valuesOf(source)[0]?.value),
  find,
}
