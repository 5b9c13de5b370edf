/** The form of a message: how it was written in a provider's format, where that does not follow from its parts. */
import type { Message } from "@memfold/message"
import { Schema } from "effect"
import type { Fields } from "./fields.js"

/** Further fields of a message or a part, as a form keeps them. */
export const JsonFields = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** Reads the forms that decoding left, and leaves them; and data that only this format reads. */
export interface Forms<Form, PartForm> {
  /** The form of a message; empty for a message from anywhere else. */
  readonly formOf: (message: Message.Message) => Form
  /** The metadata that carries a form: none at all for a form that says nothing. */
  readonly metadataOf: (form: Form) => { readonly metadata?: Fields }
  /** The form of a part; empty for a part from anywhere else. */
  readonly partFormOf: (part: Message.Part) => PartForm
  /** Whether a part has a form, even one that says nothing. */
  readonly hasForm: (part: Message.Part) => boolean
  /** The part with a form, and with what its form says already: none at all for a form that says nothing. */
  readonly withForm: <Part extends Message.Part>(part: Part, form: PartForm) => Part
  /** Data that only this format reads; `bound` if it is accepted only behind its prefix. */
  readonly opaque: (data: unknown, bound?: boolean) => Message.Opaque
  /** The data of an opaque part of this format; `undefined` for any other part. */
  readonly ownData: (part: Message.Part) => Fields | undefined
  /** How many parts are bound, and known to the provider by an id that other parts refer to. */
  readonly itemsIn: (parts: ReadonlyArray<Message.Part>) => number
}

const saysNothing = (value: unknown): boolean =>
  value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0)

/**
 * A check by a schema that remembers what it has accepted: an adapter compares a hundred stored messages with what it is given, in
 * each turn.
 *
 * @example
 * ```ts
 * import { accepting } from "@memfold/codec"
 * import { Schema } from "effect"
 *
 * const isForm = accepting(Schema.Struct({ id: Schema.String }))
 * console.log(isForm({ id: "m-1" })) // true
 * ```
 */
export const accepting = <A extends object>(schema: Schema.Schema<A>): ((value: unknown) => value is A) => {
  // Made when it is first used: an import has a dozen of these.
  let is: ((value: unknown) => value is A) | undefined
  const accepted = new WeakSet<object>()
  return (value): value is A => {
    if (typeof value !== "object" || value === null) return false
    if (accepted.has(value)) return true
    is ??= Schema.is(schema)
    const isAccepted = is(value)
    if (isAccepted) accepted.add(value)
    return isAccepted
  }
}

/**
 * Makes the functions with which a codec leaves forms, in the metadata of messages and the provider data of parts, and finds
 * them again. Fields of a form that are `undefined`, an empty list or an empty object say nothing, and are left out.
 *
 * @param provider - the name of the format in both
 * @param form - the schema of the form of a message; every field of it is optional
 * @param partForm - the schema of the form of a part; every field of it is optional
 */
export const forms = <Form extends object, PartForm extends object>(
  provider: string,
  form: Schema.Schema<Form>,
  partForm: Schema.Schema<PartForm>,
): Forms<Form, PartForm> => {
  const isForm = accepting(form)
  const isPartForm = accepting(partForm)
  /** A form without the fields that say nothing, under the name of the format; `undefined` if it says nothing at all. */
  const said = (written: object): Fields | undefined => {
    const all = Object.entries(written).filter(([, value]) => !saysNothing(value))
    return all.length === 0 ? undefined : { [provider]: Object.fromEntries(all) }
  }
  const partFormOf = ({ providerData }: Message.Part): PartForm => {
    const found = providerData?.[provider]
    return isPartForm(found) ? found : ({} as PartForm)
  }
  const ownData = (part: Message.Part) =>
    part.type === "opaque" && part.provider === provider ? (part.data as Fields | undefined) : undefined
  return {
    formOf: ({ metadata }) => {
      const found = metadata?.[provider]
      return isForm(found) ? found : ({} as Form)
    },
    metadataOf: (written) => {
      const metadata = said(written)
      return metadata === undefined ? {} : { metadata }
    },
    partFormOf,
    hasForm: ({ providerData }) => isPartForm(providerData?.[provider]),
    withForm: (part, written) => {
      const providerData = said({ ...partFormOf(part), ...written })
      return providerData === undefined ? part : { ...part, providerData }
    },
    opaque: (data, bound = false) => ({ type: "opaque", provider, data, ...(bound ? { bound } : {}) }),
    ownData,
    itemsIn: (parts) =>
      parts.filter((part) => part.type === "opaque" && part.bound === true && ownData(part) !== undefined)
        .length,
  }
}
