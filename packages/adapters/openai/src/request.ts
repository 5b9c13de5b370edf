/**
 * What a Chat Completions request knows of a message, by the types of the client `openai` 7. Groq, Mistral and others refuse
 * a request with any other field, and with null in a field that may be left out. Responses and logs of programs have many:
 * `usage`, `model`, `createdAt`, `function_call: null`.
 */
import * as Codec from "@memfold/codec"

const { known } = Codec

const messages: Readonly<Record<string, Codec.KnownFields>> = {
  system: known("role content name"),
  developer: known("role content name"),
  user: known("role content name"),
  assistant: {
    ...known("role content name refusal tool_calls"),
    audio: known("id"),
    function_call: known("name arguments"),
  },
  tool: known("role content tool_call_id name"),
  function: known("role content name"),
}

const parts: Readonly<Record<string, Codec.KnownFields>> = {
  text: known("type text prompt_cache_breakpoint"),
  refusal: known("type refusal"),
  image_url: { ...known("type prompt_cache_breakpoint"), image_url: known("url detail") },
  input_audio: { ...known("type prompt_cache_breakpoint"), input_audio: known("data format") },
  file: { ...known("type prompt_cache_breakpoint"), file: known("file_data file_id filename") },
}

const calls: Readonly<Record<string, Codec.KnownFields>> = {
  function: { ...known("id type"), function: known("name arguments") },
  custom: { ...known("id type"), custom: known("name input") },
}

const inTable = (
  table: Readonly<Record<string, Codec.KnownFields>>,
  name: unknown,
): Codec.KnownFields | undefined =>
  typeof name === "string" && Object.hasOwn(table, name) ? table[name] : undefined

/** The objects of a list as a request knows them; an object of a type that is not known stays as it came. */
const listed = (
  list: unknown,
  table: Readonly<Record<string, Codec.KnownFields>>,
  further: ReadonlySet<string>,
): unknown =>
  Array.isArray(list)
    ? list.map((one: unknown) => {
        const allowed = Codec.isFields(one) ? inTable(table, one["type"]) : undefined
        return allowed === undefined
          ? one
          : withoutNull(Codec.onlyKnown(one as Codec.Fields, allowed, further))
      })
    : list

const withoutNull = (fields: Codec.Fields): Codec.Fields =>
  Object.values(fields).includes(null)
    ? Object.fromEntries(
        Object.entries(fields).filter(([name, value]) => value !== null || name === "content"),
      )
    : fields

/**
 * A message with the fields that a request knows, in its content and its calls, too.
 *
 * @param message - the message, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestMessage = (message: Codec.Fields, further: ReadonlySet<string>): Codec.Fields => {
  const allowed = inTable(messages, message["role"])
  if (allowed === undefined) return message
  const sent = withoutNull(Codec.onlyKnown(message, allowed, further))
  const { content, tool_calls: called } = sent
  return {
    ...sent,
    ...(Array.isArray(content) ? { content: listed(content, parts, further) } : {}),
    ...(Array.isArray(called) ? { tool_calls: listed(called, calls, further) } : {}),
  }
}
