/** Whole answers, put together from the events of their streams. */
import { type Fields, isFields } from "@memfold/codec"

/** Puts an answer together. `take` gets the events in their order. */
export interface Assembly {
  readonly take: (data: Fields) => void
  /** The answer once it is whole, as the API gives it without a stream; `null` before, and if it failed. */
  readonly whole: () => Fields | null
}

type Draft = Record<string, unknown>

const listIn = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const append = (before: unknown, text: unknown): unknown =>
  typeof text === "string" ? `${typeof before === "string" ? before : ""}${text}` : before

/** Adds a part of a message: texts grow, lists grow at the places that they name, and any other value is the newest one. */
const grow = (draft: Draft, delta: Fields): void => {
  for (const [name, value] of Object.entries(delta)) {
    if (name === "role" || name === "type" || name === "id") draft[name] = value
    else if (typeof value === "string") draft[name] = append(draft[name], value)
    else if (Array.isArray(value)) {
      const list = (draft[name] ??= []) as Array<Draft>
      for (const [at, one] of value.entries()) {
        if (!isFields(one)) continue
        const { index = at, ...rest } = one
        grow((list[Number(index)] ??= {}), rest)
      }
    } else if (isFields(value)) {
      if (!isFields(draft[name])) draft[name] = {}
      grow(draft[name] as Draft, value)
    } else if (value !== null || !(name in draft)) draft[name] = value
  }
}

/** An answer of Chat Completions: its first choice. */
export const chatAssembly = (): Assembly => {
  let envelope: Fields = {}
  let finish: unknown = null
  let usage: unknown
  let failed = false
  const message: Draft = { role: "assistant", content: null }
  return {
    take: (data) => {
      if (data["error"] !== undefined) failed = true
      const { choices, usage: counted, ...rest } = data
      envelope = { ...rest, ...envelope }
      usage = counted ?? usage
      for (const choice of listIn(choices).filter(isFields)) {
        if ((choice["index"] ?? 0) !== 0) continue
        if (isFields(choice["delta"])) grow(message, choice["delta"])
        finish = choice["finish_reason"] ?? finish
      }
    },
    whole: () =>
      finish === null || failed
        ? null
        : {
            ...envelope,
            object: "chat.completion",
            choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
            ...(usage === undefined ? {} : { usage }),
          },
  }
}

/** What each kind of delta adds to a block. */
const blockDeltas: Readonly<Record<string, (block: Draft, delta: Fields) => void>> = {
  text_delta: (block, { text }) => void (block["text"] = append(block["text"], text)),
  thinking_delta: (block, { thinking }) => void (block["thinking"] = append(block["thinking"], thinking)),
  signature_delta: (block, { signature }) => void (block["signature"] = signature),
  input_json_delta: (block, { partial_json: json }) => void (block["json"] = append(block["json"], json)),
  citations_delta: (block, { citation }) =>
    void (block["citations"] = [...listIn(block["citations"]), citation]),
  compaction_delta: (block, { content }) => void (block["content"] = append(block["content"], content)),
}

/** An answer of the Messages API. */
export const messagesAssembly = (): Assembly => {
  let message: Draft | null = null
  let isWhole = false
  let failed = false
  const content: Array<Draft> = []
  const events: Readonly<Record<string, (data: Fields) => void>> = {
    message_start: ({ message: start }) => void (message = isFields(start) ? { ...start } : null),
    content_block_start: ({ index, content_block: block }) =>
      void (content[Number(index)] = isFields(block) ? { ...block } : {}),
    content_block_delta: ({ index, delta }) => {
      const block = content[Number(index)]
      const add = isFields(delta) ? blockDeltas[String(delta["type"])] : undefined
      // A part of an unknown kind would be missing in what is stored.
      if (block === undefined || add === undefined) failed = true
      else add(block, delta as Fields)
    },
    content_block_stop: ({ index }) => {
      const block = content[Number(index)]
      if (block === undefined || !("json" in block)) return
      const { json } = block
      delete block["json"]
      if (json === "") return
      try {
        block["input"] = JSON.parse(String(json)) as unknown
      } catch {
        failed = true
      }
    },
    message_delta: ({ delta, usage }) => {
      if (message === null) return
      if (isFields(delta)) Object.assign(message, delta)
      if (isFields(usage))
        message["usage"] = { ...(isFields(message["usage"]) ? message["usage"] : {}), ...usage }
    },
    message_stop: () => void (isWhole = true),
    error: () => void (failed = true),
  }
  return {
    take: (data) => events[String(data["type"])]?.(data),
    whole: () => (isWhole && !failed && message !== null ? { ...message, content } : null),
  }
}

/** An answer of the Responses API: its last event has all of it. */
export const responsesAssembly = (): Assembly => {
  let response: Fields | null = null
  return {
    take: ({ type, response: given }) => {
      if ((type === "response.completed" || type === "response.incomplete") && isFields(given))
        response = given
    },
    whole: () => response,
  }
}
