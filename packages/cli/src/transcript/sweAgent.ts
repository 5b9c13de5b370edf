/**
 * SWE-agent trajectories: one JSON object with messages in `history`, similar to Chat Completions. Of its own fields, only
 * the ids of answered calls are read; thought and action are also in the content.
 */
import { readChat } from "./chat.js"
import { nothing, type Reader, single } from "./Reader.js"
import { decode } from "./openai.js"
import { isObject, type Source } from "./source.js"

/** The messages of a file; none if it is not a trajectory. */
const historyOf = (source: Source): ReadonlyArray<unknown> | undefined => {
  const history = source.kind === "document" && isObject(source.value) ? source.value["history"] : undefined
  return Array.isArray(history) ? history : undefined
}

/** A tool message lists the ids of the calls that it answers; there is always one. */
const asChat = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { role, content, tool_calls, tool_call_ids: ids } = value
  const id: unknown = Array.isArray(ids) ? ids[0] : undefined
  return { role, content, tool_calls, tool_call_id: id }
}

export const reader: Reader = {
  recognizes: (source) => historyOf(source) !== undefined,
  find: (source) =>
    single(() => {
      const history = historyOf(source)
      return history === undefined
        ? nothing({ problem: "the file holds no trajectory", allowed: 'a JSON object with "history"' })
        : readChat(
            history.map((value) => ({ value: asChat(value) })),
            decode,
          )
    }),
}
