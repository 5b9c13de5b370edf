/** Whole answers, put together from the events of their streams. */
import { type Fields, isFields } from "@memfold/codec"
import { CallDeltas, entriesIn } from "./callDeltas.js"
import { answerIn, checkNotFailed, mostParts, Unclear } from "./Unclear.js"

/** Puts an answer together. Both methods throw {@link Unclear} if that cannot be done with certainty, or if the answer has failed. */
export interface Assembly {
  /** Takes the next event; its type is in `type`, also where the stream says it beside the data. */
  readonly take: (data: Fields) => void
  /** The answer once it is whole, as the API gives it without a stream; `null` before. */
  readonly whole: () => Fields | null
}

type Draft = Record<string, unknown>

const listIn = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
/** What a table has under a name that somebody else has written: the names that every object has are none. */
const own = <A>(table: Readonly<Record<string, A>>, name: unknown): A | undefined =>
  Object.hasOwn(table, String(name)) ? table[String(name)] : undefined
const append = (before: unknown, text: unknown): unknown =>
  typeof text === "string" ? `${typeof before === "string" ? before : ""}${text}` : before

/** Fields whose pieces are joined. Any other text is said once, or the same each time. */
const isGrowing = (name: string): boolean =>
  /content|text|reason|think|thought|refusal|summary|data|arguments|transcript/i.test(name)

/** Adds an entry of a list: at the place that it names, to the last one if both are texts of one kind, or behind it. */
const addEntry = (list: Array<Draft>, { index, ...entry }: Fields): void => {
  const last = list.at(-1)
  const goesOn =
    last?.["type"] === entry["type"] && Object.keys(entry).some((name) => name !== "type" && isGrowing(name))
  const at = Number.isInteger(index) ? Number(index) : goesOn ? list.length - 1 : list.length
  if (at < 0 || at > list.length) throw new Unclear("unclear-parts")
  grow((list[at] ??= {}), entry)
}

/** Adds a part of a message: texts and lists grow, and any other value is the newest one. */
const grow = (draft: Draft, delta: Fields): void => {
  for (const [name, value] of Object.entries(delta)) {
    // Its own field: grown under the name `__proto__`, the prototype of all objects would be another one.
    const before = own(draft, name)
    if (typeof value === "string") {
      if (Array.isArray(before)) addEntry(before as Array<Draft>, { type: "text", text: value })
      else if (name === "role" || name === "type" || (before ?? "") === "") draft[name] = value
      else if (isGrowing(name)) draft[name] = append(before, value)
      else if (before !== value && value !== "") throw new Unclear("unclear-parts")
    } else if (Array.isArray(value)) {
      const texts = typeof before === "string" && before !== "" ? [{ type: "text", text: before }] : []
      const list = (draft[name] = Array.isArray(before) ? before : texts) as Array<Draft>
      for (const one of value.filter(isFields)) addEntry(list, one)
    } else if (isFields(value)) {
      const inner = isFields(before) ? (before as Draft) : {}
      draft[name] = inner
      grow(inner, value)
    } else if (value !== null || !(name in draft)) draft[name] = value
  }
}

/** Adds to fields that nobody else has: a copy for each piece would take the square of their length. */
const grown = (fields: Fields, more: Fields): Fields => {
  grow(fields as Draft, more)
  return fields
}

/** An answer of Chat Completions: its first choice. */
export const chatAssembly = (): Assembly => {
  let envelope: Fields = {}
  let finish: unknown = null
  let usage: unknown
  const message: Draft = { role: "assistant", content: null }
  const calls = new CallDeltas()
  const legacy = new CallDeltas()
  const say = ({ tool_calls: called, function_call: named, ...delta }: Fields): void => {
    grow(message, delta)
    calls.take(entriesIn(called), grown)
    // It has neither number nor id, because there is one only.
    for (const one of entriesIn([named ?? null])) legacy.take([{ index: 0, id: "one", function: one }], grown)
  }
  return {
    take: (data) => {
      checkNotFailed(data)
      const { type: _type, choices, usage: counted, x_groq: groq, error: _error, ...rest } = data
      envelope = { ...rest, ...envelope }
      usage = counted ?? (isFields(groq) ? groq["usage"] : null) ?? usage
      for (const [at, choice] of listIn(choices).entries()) {
        if (!isFields(choice) || (choice["index"] ?? at) !== 0) continue
        const { delta, finish_reason: reason, usage: ofChoice } = choice
        if (isFields(delta)) say(delta)
        // Words of another API, or an answer that is whole in the middle of a stream.
        else if ((choice["message"] ?? choice["text"] ?? null) !== null) throw new Unclear("unclear-parts")
        usage = ofChoice ?? usage
        if (typeof reason === "string" && reason !== "") finish = reason
      }
    },
    whole: () => {
      if (finish === null) return null
      const called = calls.whole()
      const [named] = legacy.whole()
      return {
        ...envelope,
        object: "chat.completion",
        choices: [
          {
            index: 0,
            message: {
              ...message,
              ...(called.length === 0 ? {} : { tool_calls: called }),
              ...(named === undefined ? {} : { function_call: named["function"] }),
            },
            finish_reason: finish,
            logprobs: null,
          },
        ],
        ...(usage === undefined || usage === null ? {} : { usage }),
      }
    },
  }
}

/** What each kind of delta adds to a block. */
const blockDeltas: Readonly<Record<string, (block: Draft, delta: Fields) => void>> = {
  text_delta: (block, { text }) => void (block["text"] = append(block["text"], text)),
  thinking_delta: (block, { thinking }) => void (block["thinking"] = append(block["thinking"], thinking)),
  signature_delta: (block, { signature }) => void (block["signature"] = signature),
  input_json_delta: (block, { partial_json: json }) => {
    if (isFields(json) && block["json"] === undefined) block["json"] = JSON.stringify(json)
    else if (typeof json === "string") block["json"] = append(block["json"], json)
    else if (json !== null && json !== undefined) throw new Unclear("unclear-calls")
  },
  citations_delta: (block, { citation }) =>
    void (block["citations"] = [...listIn(block["citations"]), citation]),
  compaction_delta: (block, { content }) => void (block["content"] = append(block["content"], content)),
}

/** A block with its input, which comes as the text of its JSON. */
const finished = ({ json, ...block }: Draft): Fields => {
  if (json === undefined || json === "") return block
  const { input } = block
  // An input that is there from the beginning, and one that comes piece by piece, are not the same one for certain.
  if (isFields(input) && Object.keys(input).length > 0) throw new Unclear("unclear-calls")
  try {
    return { ...block, input: answerIn(String(json)) }
  } catch {
    throw new Unclear("unclear-calls")
  }
}

interface Block {
  readonly index: unknown
  readonly draft: Draft
  isOpen: boolean
}

/** An answer of the Messages API. Where blocks have no number of their own, they come one behind the other. */
export const messagesAssembly = (): Assembly => {
  let message: Draft | null = null
  let isWhole = false
  const blocks: Array<Block> = []
  const open = (index: unknown): Block | undefined => {
    const all = blocks.filter((block) => block.isOpen && (index === undefined || block.index === index))
    if (all.length > 1) throw new Unclear("unclear-parts")
    return all[0]
  }
  const events: Readonly<Record<string, (data: Fields) => void>> = {
    message_start: ({ message: start }) => {
      if (message !== null || !isFields(start)) throw new Unclear("unclear-parts")
      message = { ...start }
    },
    content_block_start: ({ index, content_block: block }) => {
      const before = open(index)
      if (before !== undefined) before.isOpen = false
      if (!isFields(block)) throw new Unclear("unclear-parts")
      if (blocks.length === mostParts) throw new Unclear("too-large")
      blocks.push({ index, draft: { ...block }, isOpen: true })
    },
    content_block_delta: ({ index, delta }) => {
      if (delta === null) return
      const block = open(index)
      const add = isFields(delta) ? own(blockDeltas, delta["type"]) : undefined
      // A part of an unknown kind would be missing in what is stored.
      if (block === undefined || add === undefined) throw new Unclear("unclear-parts")
      add(block.draft, delta as Fields)
    },
    content_block_stop: ({ index }) => {
      const block = open(index)
      if (block !== undefined) block.isOpen = false
    },
    message_delta: ({ delta, usage }) => {
      if (message === null) return
      const said = isFields(delta) ? delta : {}
      const known = isFields(message["usage"]) ? message["usage"] : {}
      for (const [name, value] of Object.entries(said)) if (value !== null) message[name] = value
      if (isFields(usage)) {
        const counted = Object.entries(usage).filter(([, value]) => value !== null)
        message["usage"] = { ...known, ...Object.fromEntries(counted) }
      }
    },
    message_stop: () => void (isWhole = true),
    error: () => {
      throw new Unclear("failed")
    },
  }
  return {
    take: (data) => own(events, data["type"])?.(data),
    whole: () => {
      if (!isWhole && typeof message?.["stop_reason"] !== "string") return null
      if (message === null) throw new Unclear("unclear-parts")
      const numbers = new Set(blocks.map(({ index }) => index))
      const isNumbered =
        numbers.size === blocks.length && blocks.every(({ index }) => Number.isInteger(index))
      const inOrder = isNumbered
        ? blocks.toSorted((one, other) => Number(one.index) - Number(other.index))
        : blocks
      const begun = listIn(message["content"])
      if (begun.length > 0 && blocks.length > 0) throw new Unclear("unclear-parts")
      return { ...message, content: begun.length > 0 ? begun : inOrder.map(({ draft }) => finished(draft)) }
    },
  }
}

/** An answer of the Responses API: its last event has all of it, or all but the items that came before. */
export const responsesAssembly = (): Assembly => {
  let response: Fields | null = null
  let hasText = false
  const items: Array<{ readonly index: unknown; readonly item: Fields }> = []
  return {
    take: ({ type, response: given, item, output_index: index, delta }) => {
      if (type === "response.failed" || type === "error") throw new Unclear("failed")
      if (type === "response.output_item.done" && isFields(item)) items.push({ index, item })
      hasText ||= typeof delta === "string" && delta !== ""
      if ((type === "response.completed" || type === "response.incomplete") && isFields(given)) {
        checkNotFailed(given)
        response = given
      }
    },
    whole: () => {
      if (response === null) return null
      const output = listIn(response["output"])
      if (output.length >= items.length && (output.length > 0 || !hasText)) return response
      const numbers = new Set(items.map(({ index }) => index))
      if (output.length > 0 || items.length === 0 || numbers.size < items.length)
        throw new Unclear("unclear-parts")
      const inOrder = items.toSorted((one, other) => Number(one.index) - Number(other.index))
      return { ...response, output: inOrder.map(({ item }) => item) }
    },
  }
}
