/** Calls of tools as items of a request, and what closes them. */
import * as Codec from "@memfold/codec"
import { Item, type Message } from "@memfold/core"
import { itemTable, partFormOf, provider } from "./form.js"

const typeOfCall = (call: Message.ToolCall): string => partFormOf(call).type ?? "function_call"

/** What closes a call of a type; a function call's output also answers a call of a type that is not known. */
const closingOf = (type: string): Item.ItemCall["closing"] =>
  (Object.hasOwn(itemTable, type) ? itemTable[type] : itemTable["function_call"])?.call?.closing

/** The fields with other words for "interrupted". */
const inWords = (value: unknown, words: string): unknown => {
  if (value === Item.interrupted) return words
  if (Array.isArray(value)) return value.map((one) => inWords(one, words))
  return Codec.isFields(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWords(one, words)]))
    : value
}

/** Whether a result came as an output of the API. A call that memfold closes, or another format answers, has none. */
export const hasOwnForm = (result: Message.ToolResult, callType: string): boolean =>
  callType === "function_call" || partFormOf(result).type !== undefined

/**
 * The messages without calls that nothing can close, such as `computer_call`, and without what stands in for their outputs.
 * Every message stays in its place.
 */
export const withoutUnclosable = (messages: ReadonlyArray<Message.Message>): Codec.Sendable => {
  const gone = new Set<Message.Part>()
  const omitted: Array<Codec.Omitted> = []
  const open = new Codec.Queues<{ readonly call: Message.ToolCall; readonly message: number }>()
  for (const [message, { role, parts }] of messages.entries()) {
    if (role === "user") open.clear()
    for (const part of parts) {
      if (part.type === "tool-call" && closingOf(typeOfCall(part)) === undefined)
        open.add(part.id, { call: part, message })
      if (part.type !== "tool-result") continue
      const answered = open.take(part.id)
      if (answered === undefined || hasOwnForm(part, typeOfCall(answered.call))) continue
      gone.add(answered.call).add(part)
      omitted.push({ message: answered.message, part: typeOfCall(answered.call) })
    }
  }
  if (gone.size === 0) return { messages, omitted }
  return { messages: Codec.leavingOut(messages, (part) => gone.has(part)).messages, omitted }
}

/** Calls of the conversation so far, as items. */
export class Calls {
  private readonly ids = new Codec.CallIds({ pattern: /^.{1,64}$/s, reuse: false })
  /** The types of the calls so far, by their ids. */
  private readonly types = new Map<string, string>()

  constructor(private readonly exact: boolean) {}

  /** The item of the provider with the id under which it is sent. */
  paired(data: Codec.Fields): Codec.Fields {
    return this.exact ? data : Codec.withPairId(provider, data, this.ids)
  }

  /** The type of the call that a result answers, and the id to send. */
  answered({ id }: Message.ToolResult): { readonly callType: string; readonly id: string } {
    return {
      callType: this.types.get(id) ?? "function_call",
      id: this.exact ? id : this.ids.result(id),
    }
  }

  /** Gives up the open calls, as the user's next message does. */
  close(): void {
    this.ids.close()
  }

  /** What answers a call of a type if the result did not come as an output of that type. */
  closing(result: Message.ToolResult, callType: string, id: string): Codec.Fields {
    const {
      type = "function_call_output",
      id: idField = "call_id",
      words,
      fields,
    } = closingOf(callType) ?? {}
    return {
      type,
      [idField]: id,
      ...(inWords(fields ?? {}, result.output) as Codec.Fields),
      ...(words === undefined ? {} : { [words]: result.output }),
    }
  }

  call(call: Message.ToolCall): Codec.Fields {
    const form = partFormOf(call)
    const id = this.exact ? call.id : this.ids.call(call.id)
    this.types.set(call.id, typeOfCall(call))
    const { arguments: args } = call
    const { name } = call
    if (form.type === "custom_tool_call") {
      return Codec.restore({ type: form.type, call_id: id, name, input: args }, form.fields)
    }
    const fields = form.type === undefined ? undefined : Codec.objectOf(args)
    const written = this.exact ? args : Codec.objectArguments(args)
    return fields === undefined
      ? Codec.restore({ type: "function_call", call_id: id, name, arguments: written }, form.fields)
      : { type: form.type, call_id: id, ...fields }
  }
}
