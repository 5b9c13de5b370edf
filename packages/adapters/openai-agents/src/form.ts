/**
 * How an item was written when it came from the Agents SDK, where that does not follow from its parts. Decoding leaves it in
 * the `metadata` of a message that consists of one item, or in the `providerData` of the first part of an assistant item,
 * under the name `openai-agents`.
 */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"
import { without } from "./names.js"

/** The name of the provider data of this format. */
export const provider = "openai-agents"

/**
 * - `fields`: further fields of the item
 * - `absent`: fields that the item did not have, although it is usual
 * - `item`: the whole item, if it cannot be written otherwise
 */
export const Form = Schema.Struct({
  fields: Schema.optional(Codec.JsonFields),
  absent: Schema.optional(Schema.Array(Schema.String)),
  item: Schema.optional(Codec.JsonFields),
})
export type Form = typeof Form.Type

const isForm = Codec.accepting(Form)

/** The form in the provider data of a part, or in the metadata of a message. */
export const formIn = (data: Codec.Fields | undefined): Form | undefined => {
  const form = data?.[provider]
  return isForm(form) ? form : undefined
}

/** A value as text that depends neither on the order of fields nor on fields that are undefined. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    Codec.isFields(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : one,
  )

/** Whether two values are the same in JSON, whatever the order of their fields. */
export const same = (one: unknown, other: unknown): boolean =>
  Codec.isSame(one, other) || canonical(one) === canonical(other)

/** The form of an item: how it differs from `known`, which is written without a form; `undefined` if it does not differ. */
export const formOf = (item: Codec.Fields, known: Codec.Fields): Form | undefined => {
  const absent = Object.keys(known).filter((key) => !Object.hasOwn(item, key))
  const fields = Codec.rest(item, without(known, ...absent))
  const form: Form = {
    ...(fields === undefined ? {} : { fields }),
    ...(absent.length === 0 ? {} : { absent }),
  }
  // It has another value in a known field, or an empty object or list beside a known one, which leaves nothing over.
  if (!same(item, written(known, form))) return { item }
  return Object.keys(form).length === 0 ? undefined : form
}

/** The item with what its form says. A whole item is the caller's to judge: its text may have been changed since. */
export const written = (known: Codec.Fields, { fields, absent = [] }: Form): Codec.Fields =>
  Codec.restore(without(known, ...absent), fields)

/** The part with a form. */
export const withForm = <P extends Message.Part>(part: P, form: Form | undefined): P =>
  form === undefined ? part : { ...part, providerData: { ...part.providerData, [provider]: form } }

/** A part without its form. */
export const withoutForm = <P extends Message.Part>(part: P): P => {
  if (part.providerData?.[provider] === undefined) return part
  const { [provider]: _form, ...others } = part.providerData
  const { providerData: _data, ...rest } = part
  return (Object.keys(others).length === 0 ? rest : { ...rest, providerData: others }) as P
}
