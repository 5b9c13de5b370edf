/** Events of a stream of the Responses API: of a response that is whole, and of one that grows. */
import { type Fields, isFields } from "@memfold/codec"
import type { CallPiece } from "../callDeltas.js"
import { itemId } from "./ids.js"

const listIn = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? value.filter(isFields) : [])

/** Numbers events in their order. */
const numbered = () => {
  let next = 0
  return (event: Fields): Fields => ({ ...event, sequence_number: next++ })
}

/** The last event of a response, by its status. */
const endOf = (response: Fields): Fields => ({
  type: response["status"] === "incomplete" ? "response.incomplete" : "response.completed",
  response,
})

/** The last event of a response without an answer; its status says whether it has failed or was cancelled. */
export const failedEvent = (response: Fields): Fields => ({
  type: "response.failed",
  response,
  sequence_number: 0,
})

/** The events of a part of a message, between its beginning and its end. */
const partEvents = (part: Fields, at: Fields): ReadonlyArray<Fields> => {
  const isText = part["type"] === "output_text"
  const text = part[isText ? "text" : "refusal"]
  if (typeof text !== "string") return []
  return isText
    ? [
        { type: "response.output_text.delta", ...at, delta: text, logprobs: [] },
        { type: "response.output_text.done", ...at, text, logprobs: [] },
      ]
    : [
        { type: "response.refusal.delta", ...at, delta: text },
        { type: "response.refusal.done", ...at, refusal: text },
      ]
}

const begunPart = (part: Fields): Fields => ({
  ...part,
  ...("text" in part ? { text: "" } : {}),
  ...("refusal" in part ? { refusal: "" } : {}),
})

/** An item as it begins, and the events until it is whole. */
const itemEvents = (item: Fields): { readonly begun: Fields; readonly events: ReadonlyArray<Fields> } => {
  const { id, type } = item
  const within = (events: ReadonlyArray<Fields>) => events.map((event) => ({ ...event, item_id: id }))
  if (type === "message")
    return {
      begun: { ...item, status: "in_progress", content: [] },
      events: within(
        listIn(item["content"]).flatMap((part, content_index) => [
          { type: "response.content_part.added", content_index, part: begunPart(part) },
          ...partEvents(part, { content_index }),
          { type: "response.content_part.done", content_index, part },
        ]),
      ),
    }
  if (type === "reasoning")
    return {
      begun: { ...item, summary: [] },
      events: within(
        listIn(item["summary"]).flatMap((part, summary_index) => [
          { type: "response.reasoning_summary_part.added", summary_index, part: begunPart(part) },
          { type: "response.reasoning_summary_text.delta", summary_index, delta: part["text"] },
          { type: "response.reasoning_summary_text.done", summary_index, text: part["text"] },
          { type: "response.reasoning_summary_part.done", summary_index, part },
        ]),
      ),
    }
  if (type === "function_call")
    return {
      begun: { ...item, status: "in_progress", arguments: "" },
      events: within([
        { type: "response.function_call_arguments.delta", delta: item["arguments"] },
        { type: "response.function_call_arguments.done", arguments: item["arguments"], name: item["name"] },
      ]),
    }
  return { begun: item, events: [] }
}

/** The stream of a response that is whole already. */
export const eventsOf = (response: Fields): ReadonlyArray<Fields> => {
  const begun = { ...response, status: "in_progress", output: [], usage: null, completed_at: null }
  const number = numbered()
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...listIn(response["output"]).flatMap((item, output_index) => {
      const { begun: first, events } = itemEvents(item)
      return [
        { type: "response.output_item.added", output_index, item: first },
        ...events.map((event) => ({ ...event, output_index })),
        { type: "response.output_item.done", output_index, item },
      ]
    }),
    endOf(response),
  ].map(number)
}

/** The events of a response that is whole, behind a number. The last one has the whole response, and is always among them. */
export async function* eventsFrom(response: Fields, after: number): AsyncGenerator<Fields, void, void> {
  const { status } = response
  const isFailed = status === "failed" || status === "cancelled"
  const events = isFailed ? [failedEvent(response)] : eventsOf(response)
  yield* events.slice(Math.min(after + 1, events.length - 1))
}

/** An item that still grows. */
interface Growing {
  readonly index: number
  item: Fields
}

/** A response whose output comes piece by piece. Each step gives the events of the piece. */
export class GrowingResponse {
  private readonly number = numbered()
  private message: Growing | null = null
  private reasoning: Growing | null = null
  private readonly calls = new Map<number, Growing>()
  private count = 0

  constructor(private readonly response: Fields) {}

  private told(events: ReadonlyArray<Fields>): ReadonlyArray<Fields> {
    return events.map(this.number)
  }

  begin(): ReadonlyArray<Fields> {
    const { response } = this
    return this.told([
      { type: "response.created", response },
      { type: "response.in_progress", response },
    ])
  }

  private add(item: Fields): Growing {
    return { index: this.count++, item }
  }

  /** More of what the model thinks before its answer. */
  thought(delta: string): ReadonlyArray<Fields> {
    const events: Array<Fields> = []
    const isNew = this.reasoning === null
    this.reasoning ??= this.add({ type: "reasoning", id: itemId("reasoning"), summary: [] })
    const { index, item } = this.reasoning
    const at = { item_id: item["id"], output_index: index, summary_index: 0 }
    const [before = { type: "summary_text", text: "" }] = listIn(item["summary"])
    if (isNew)
      events.push(
        { type: "response.output_item.added", output_index: index, item },
        { type: "response.reasoning_summary_part.added", ...at, part: before },
      )
    this.reasoning.item = { ...item, summary: [{ ...before, text: String(before["text"]) + delta }] }
    events.push({ type: "response.reasoning_summary_text.delta", ...at, delta })
    return this.told(events)
  }

  /** More text of the answer, or of its refusal. */
  text(kind: "output_text" | "refusal", delta: string): ReadonlyArray<Fields> {
    const field = kind === "output_text" ? "text" : "refusal"
    const empty =
      kind === "output_text"
        ? { type: kind, text: "", annotations: [], logprobs: [] }
        : { type: kind, refusal: "" }
    const events: Array<Fields> = []
    if (this.message === null) {
      const id = itemId("message")
      const item = { type: "message", id, role: "assistant", status: "in_progress", content: [] }
      this.message = this.add(item)
      events.push({ type: "response.output_item.added", output_index: this.message.index, item })
    }
    const { index, item } = this.message
    const content = listIn(item["content"])
    const last = content.at(-1)
    const isNew = last?.["type"] !== kind
    const part: Fields = isNew ? empty : last
    const at = {
      item_id: item["id"],
      output_index: index,
      content_index: isNew ? content.length : content.length - 1,
    }
    if (isNew) events.push({ type: "response.content_part.added", ...at, part })
    this.message.item = {
      ...item,
      content: [
        ...(isNew ? content : content.slice(0, -1)),
        { ...part, [field]: String(part[field]) + delta },
      ],
    }
    const more = kind === "output_text" ? { logprobs: [] } : {}
    events.push({ type: `response.${kind}.delta`, ...at, delta, ...more })
    return this.told(events)
  }

  /** More of a call: its id and name come with its first piece. */
  call({ place, id, name, delta }: CallPiece): ReadonlyArray<Fields> {
    const events: Array<Fields> = []
    let growing = this.calls.get(place)
    if (growing === undefined) {
      const own = itemId("function_call")
      const item = {
        type: "function_call",
        id: own,
        call_id: id ?? own,
        name,
        arguments: "",
        status: "in_progress",
      }
      growing = this.add(item)
      this.calls.set(place, growing)
      events.push({ type: "response.output_item.added", output_index: growing.index, item })
    }
    growing.item = { ...growing.item, name, ...(id === undefined ? {} : { call_id: id }) }
    if (delta !== "") {
      const { item, index } = growing
      growing.item = { ...item, arguments: String(item["arguments"]) + delta }
      events.push({
        type: "response.function_call_arguments.delta",
        item_id: item["id"],
        output_index: index,
        delta,
      })
    }
    return this.told(events)
  }

  /** The end: all items are done, and the response with what is known only now. */
  end(rest: Fields): { readonly response: Fields; readonly events: ReadonlyArray<Fields> } {
    const status = rest["status"] === "incomplete" ? "incomplete" : "completed"
    const output = [this.reasoning, this.message, ...this.calls.values()]
      .filter((growing) => growing !== null)
      .toSorted((one, other) => one.index - other.index)
      .map(({ item }) => ({ ...item, status }))
    const done = output.flatMap((item, output_index) => [
      ...itemEvents(item)
        .events.filter(({ type }) => String(type).endsWith(".done"))
        .map((event) => ({ ...event, output_index })),
      { type: "response.output_item.done", output_index, item },
    ])
    const response = { ...this.response, ...rest, output }
    return { response, events: this.told([...done, endOf(response)]) }
  }
}
