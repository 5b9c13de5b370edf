/**
 * The data of an appended message in the log. Most messages are one text of a role: these are stored as
 * `{"index":8,"role":"user","text":"Hello","tokens":5}`. The parts of any other message are written out, in `message`.
 *
 * Nearly every event is a message, and nearly every message needs no schema (see `exactCheck`).
 */
import { Schema } from "effect"
import { exactCheck } from "./exactCheck.js"
import { Role } from "@memfold/message/Message"
import { MessageAppended } from "./Event.js"

const Appended = /* @__PURE__ */ MessageAppended.omit("_tag")
type Appended = typeof Appended.Type

const fields = MessageAppended.fields

/** The short form: a message that is one text. */
const OneText = Schema.Struct({
  index: fields.index,
  role: Role,
  text: Schema.String,
  tokens: fields.tokens,
})
type OneText = typeof OneText.Type

const isExactAppended = exactCheck(Appended)
const isExactOneText = exactCheck(OneText)

/** The short form of a message that is nothing but one text; `null` for any other. */
const toOneText = ({ index, message, tokens }: Appended): OneText | null => {
  const { role, parts } = message
  const [part] = parts
  if (part?.type !== "text" || parts.length > 1) return null
  if (Object.keys(message).length > 2 || Object.keys(part).length > 2) return null
  return { index, role, text: part.text, tokens }
}

/** The data to store; `null` if only the schema can say whether the event is valid. */
export const toData = (appended: Appended): object | null => {
  const { index, message, tokens, bound, guarded } = appended
  const short = bound === undefined && guarded === undefined ? toOneText(appended) : null
  if (short !== null) return isExactOneText(short) ? short : null
  // To name each field takes a fraction of the time of a copy without the tag.
  const unbound = guarded === undefined ? { index, message, tokens } : { index, message, tokens, guarded }
  const data = bound === undefined ? unbound : { index, message, tokens, bound, ...(guarded && { guarded }) }
  return isExactAppended(data) ? data : null
}

const expanded = ({ index, role, text, tokens }: OneText): Appended => ({
  index,
  message: { role, parts: [{ type: "text", text }] },
  tokens,
})

/** The event in stored data; `null` if only the schema can say whether it is valid, see {@link toSchema}. */
export const ofData = (data: unknown): MessageAppended | null => {
  if (isExactOneText(data)) return { _tag: "MessageAppended", ...expanded(data) }
  if (!isExactAppended(data)) return null
  const { index, message, tokens, bound, guarded } = data
  const unbound = { _tag: "MessageAppended", index, message, tokens } as const
  if (bound === undefined) return guarded === undefined ? unbound : { ...unbound, guarded }
  return { ...unbound, bound, ...(guarded && { guarded }) }
}

/** Stored data as the schema has it: with the parts of its message. */
export const toSchema = (data: object): object => ("message" in data ? data : expanded(data as OneText))
