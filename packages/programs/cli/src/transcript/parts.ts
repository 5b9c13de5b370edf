/** Makes messages of what formats record, in the words of several of them. */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { written } from "./Field.js"
import { spokenIn } from "./leftOut.js"
import type { Unreadable } from "./EntryFormat.js"
import { isObject, type JsonObject, valueOr } from "./source.js"
import { readTime, timeAllowed } from "./time.js"

/** The time at a field; `undefined` if there is none. */
export const timeAt = (record: object, field: string): Either.Either<number | undefined, Unreadable> => {
  const value = (record as JsonObject)[field]
  if (value === undefined || value === null) return Either.right(undefined)
  return Either.mapLeft(readTime(value), () => ({
    problem: `has no readable time at ${field}`,
    allowed: timeAllowed,
  }))
}

/** What a program recorded of a message beside what was said; kept in `metadata.transcript`, which no provider is sent. */
export interface Recorded {
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly time?: number | undefined
  readonly usage?: Message.Usage | undefined
  readonly hidden?: boolean | undefined
  readonly tools?: unknown
}

/** A message with what the program recorded of it. */
export const recorded = (message: Message.Message, { time, usage, ...rest }: Recorded): Message.Message => {
  const transcript = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return {
    ...message,
    ...(time === undefined ? {} : { time }),
    ...(usage === undefined ? {} : { usage }),
    ...(Object.keys(transcript).length === 0 ? {} : { metadata: { ...message.metadata, transcript } }),
  }
}

/** The messages in which something is said, with what the program recorded of them. */
export const allRecorded = (
  messages: ReadonlyArray<Message.Message>,
  kept: Recorded,
): ReadonlyArray<Message.Message> =>
  messages.flatMap((message) => (message.parts.length === 0 ? [] : [recorded(message, kept)]))

/** The usage of a call of a model; `undefined` if the program did not count what the model wrote. */
export const usageOf = (input: number | undefined, output: number | undefined): Message.Usage | undefined =>
  output === undefined ? undefined : input === undefined ? { output } : { input, output }

/** A text, if there is something in it. */
export const text = (value: string | undefined): ReadonlyArray<Message.Text> =>
  value === undefined || value === "" ? [] : [{ type: "text", text: value }]

/** The texts that are there, one below the other. */
export const joined = (texts: ReadonlyArray<string | undefined>, between = "\n"): string =>
  texts.filter((one) => one !== undefined).join(between)

export const reasoning = (text: string): Message.Reasoning => ({ type: "reasoning", text })

/** A part that has no neutral form stays as it is. */
export const opaque = (provider: string, data: unknown): Message.Opaque => ({
  type: "opaque",
  provider,
  data,
})

/** A part of a kind that is not known: what is said in it, or the part as it is. */
export const unknown = (provider: string, data: unknown): Message.Text | Message.Opaque => {
  const said = spokenIn(data)
  return said.length === 0 ? opaque(provider, data) : { type: "text", text: said.join("\n") }
}

export const file = (
  mediaType: string | undefined,
  uri: string,
  name?: string | undefined,
): Message.File => ({
  type: "file",
  mediaType: mediaType ?? "application/octet-stream",
  uri,
  ...(name === undefined ? {} : { name }),
})

/** A file whose bytes are in the transcript. */
export const inlined = (mediaType: string | undefined, base64: unknown): Message.File =>
  file(mediaType, `data:${mediaType ?? ""};base64,${written(base64)}`)

/** A call; what it is called with is the JSON of `input`. */
export const call = (id: unknown, name: unknown, input: unknown): Message.ToolCall => ({
  type: "tool-call",
  id: written(id),
  name: written(name),
  arguments: JSON.stringify(input ?? {}),
})

/** Arguments of a call as JSON text. A text that is no JSON object, such as a program, is the field `input` of one. */
export const argumentsOf = (value: unknown): string => {
  if (typeof value !== "string") return JSON.stringify(value ?? {})
  return isObject(valueOr(value, null)) ? value : JSON.stringify({ input: value })
}

export type Called = Pick<Message.ToolCall, "id" | "name">

type Answered = Pick<Message.ToolResult, "id" | "name">

export const result = (
  { id, name }: Answered,
  output: unknown,
  isError?: boolean | undefined,
): Message.ToolResult => ({
  type: "tool-result",
  id,
  ...(name === undefined ? {} : { name }),
  output: written(output),
  ...(isError === undefined ? {} : { isError }),
})

export const textsIn = (parts: ReadonlyArray<Message.Part>): string =>
  joined(parts.map((part) => (part.type === "text" ? part.text : undefined)))

/** A result with what it consists of, where that is more than one text. */
export const resultOf = (
  called: Answered,
  parts: ReadonlyArray<Message.Part>,
  isError?: boolean | undefined,
): Message.ToolResult => {
  const content = parts.filter(
    (part) => part.type === "text" || part.type === "file" || part.type === "opaque",
  )
  const isPlain = parts.length <= 1 && parts.every((part) => part.type === "text")
  return {
    ...result(called, textsIn(parts)),
    ...(isPlain ? {} : { content }),
    ...(isError === undefined ? {} : { isError }),
  }
}

/** The messages of an answer in steps, each with its calls, and one with their results. */
export class Steps {
  readonly #all: Array<{ readonly parts: Array<Message.Part>; readonly results: Array<Message.ToolResult> }> =
    []
  #isOpen = false

  begin(): void {
    this.#isOpen = false
  }

  /** Whether the step has results; another text then begins the next one. */
  get isAnswered(): boolean {
    return this.#isOpen && this.#all.at(-1)!.results.length > 0
  }

  said(...parts: ReadonlyArray<Message.Part>): void {
    for (const part of parts) {
      if (!this.#isOpen || (this.isAnswered && part.type !== "tool-call")) {
        this.#all.push({ parts: [], results: [] })
        this.#isOpen = true
      }
      this.#all.at(-1)!.parts.push(part)
    }
  }

  answered(...results: ReadonlyArray<Message.ToolResult>): void {
    this.#all.at(-1)?.results.push(...results)
  }

  get messages(): ReadonlyArray<Message.Message> {
    return this.#all.flatMap(({ parts, results }): ReadonlyArray<Message.Message> => [
      { role: "assistant", parts },
      ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
    ])
  }
}
