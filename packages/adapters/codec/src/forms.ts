/** The form of a message: how it was written in a provider's format, where that does not follow from its parts. */
import type { Message } from "@memfold/message"
import { Schema } from "effect"
import { type Fields, isFields } from "./fields.js"

/** Further fields of a message or a part, as a form keeps them. */
export const JsonFields = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** A form whose fields may say nothing: `undefined`, or an empty list. */
export type Unsaid<Form> = { readonly [Key in keyof Form]?: Form[Key] | undefined }

/** Reads the forms that decoding left, and leaves them. */
export interface Forms<Form, PartForm> {
  /** The form of a message; empty for a message from anywhere else. */
  readonly formOf: (message: Message.Message) => Form
  /** The metadata that carries a form: none at all for a form that says nothing. */
  readonly metadataOf: (form: Unsaid<Form>) => { readonly metadata?: Fields }
  /** The form of a part; none for a part from anywhere else. */
  readonly partFormOf: (part: Message.Part) => PartForm | undefined
  /** The part with its form: none at all for a form that says nothing. */
  readonly withForm: <Part extends Message.Part>(part: Part, form: Unsaid<PartForm>) => Part
}

const saysNothing = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length === 0)

/** A form without the fields that say nothing. */
const said = (form: object): Fields =>
  Object.fromEntries(Object.entries(form).filter(([, value]) => !saysNothing(value)))

/** A form without empty objects, for a codec to which they say nothing. */
export const withoutEmpty = <Form extends object>(form: Form): Form =>
  Object.fromEntries(
    Object.entries(form).filter(([, value]) => !isFields(value) || Object.keys(value).length > 0),
  ) as Form

/**
 * Makes the functions with which a codec leaves forms, in the metadata of messages and the provider data of parts, and finds
 * them again.
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
  const isForm = Schema.is(form)
  const isPartForm = Schema.is(partForm)
  return {
    formOf: ({ metadata }) => {
      const found = metadata?.[provider]
      return isForm(found) ? found : ({} as Form)
    },
    metadataOf: (written) => {
      const all = said(written)
      return Object.keys(all).length === 0 ? {} : { metadata: { [provider]: all } }
    },
    partFormOf: ({ providerData }) => {
      const found = providerData?.[provider]
      return isPartForm(found) ? found : undefined
    },
    withForm: (part, written) => {
      const all = said(written)
      return Object.keys(all).length === 0 ? part : { ...part, providerData: { [provider]: all } }
    },
  }
}
