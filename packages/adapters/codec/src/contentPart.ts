/** Content parts of an API: texts and files where they can be written back as they were, and anything else as it came. */
import type { Message } from "@memfold/core"
import { agrees, type Fields, rest } from "./fields.js"

/** What a codec knows of the content of its API. */
export interface ContentFormat {
  /** The file of a part; `undefined` for a part that is no file, or only has the id of one. */
  readonly toFile: (part: Fields & { readonly type: string }) => Message.File | undefined
  /** The part of a file, as far as the file says; `undefined` for a file that the API does not take. */
  readonly fromFile: (file: Message.File) => Fields | undefined
  /** The part with the further fields that it came with: see `forms`. */
  readonly withForm: <Part extends Message.Part>(part: Part, form: { readonly fields?: Fields }) => Part
  /** Data that only this format reads. */
  readonly opaque: (data: Fields) => Message.Opaque
}

/** What may stand where a content part stands. */
export interface ContentPlace {
  readonly textType: string
  readonly hasFiles: boolean
}

/**
 * Makes the reader of content parts. A part becomes a file only if the file can be written back as the very same part.
 *
 * @param format - files and forms of the API
 */
export const contentReader =
  ({ toFile, fromFile, withForm, opaque }: ContentFormat) =>
  (
    part: Fields & { readonly type: string },
    { textType, hasFiles }: ContentPlace,
  ): Message.Text | Message.File | Message.Opaque => {
    const formed = <Part extends Message.Part>(read: Part, known: Fields): Part => {
      const fields = rest(part, known)
      return withForm(read, fields === undefined ? {} : { fields })
    }
    if (part.type === textType) {
      const text = part["text"] as string
      return formed({ type: "text", text }, { type: textType, text })
    }
    const file = hasFiles ? toFile(part) : undefined
    const known = file && fromFile(file)
    return file !== undefined && known !== undefined && agrees(part, known)
      ? formed(file, known)
      : opaque(part)
  }
