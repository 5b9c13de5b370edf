/**
 * Fields of Mastra's messages that repeat the parts, for older versions. A field that follows from the parts is not stored
 * but derived, so a redaction of a part redacts the field, too.
 */
import { type Fields, isFields, isSame } from "@memfold/codec"

type Parts = ReadonlyArray<Fields>

const ofType = (parts: Parts, type: string): Parts => parts.filter((part) => part["type"] === type)
const texts = (parts: Parts): ReadonlyArray<string> =>
  ofType(parts, "text").map(({ text }) => (typeof text === "string" ? text : ""))
const thoughts = (parts: Parts): ReadonlyArray<string> =>
  ofType(parts, "reasoning").map(({ reasoning }) => (typeof reasoning === "string" ? reasoning : ""))

const rules: Readonly<Record<string, Readonly<Record<string, (parts: Parts) => unknown>>>> = {
  content: {
    last: (parts) => texts(parts).at(-1) ?? "",
    joined: (parts) => texts(parts).join(""),
    lines: (parts) => texts(parts).join("\n"),
  },
  reasoning: {
    joined: (parts) => thoughts(parts).join(""),
    lines: (parts) => thoughts(parts).join("\n"),
  },
  toolInvocations: {
    parts: (parts) => ofType(parts, "tool-invocation").map(({ toolInvocation }) => toolInvocation),
  },
  experimental_attachments: {
    files: (parts) =>
      ofType(parts, "file").map(({ data, mimeType }) => ({ url: data, contentType: mimeType })),
  },
}

/** The fields that do not follow from the parts, and for each field that does, the name of its rule. */
export const withoutMirrors = (
  fields: Fields,
  parts: ReadonlyArray<unknown>,
): { readonly fields: Fields; readonly mirrors: Readonly<Record<string, string>> } => {
  const known = parts.filter(isFields)
  const found = Object.entries(fields).flatMap(([name, value]) => {
    const ways = Object.hasOwn(rules, name) ? rules[name]! : {}
    const way = Object.entries(ways).find(([, derive]) => isSame(derive(known), value))
    return way === undefined ? [] : [[name, way[0]] as const]
  })
  const mirrors = Object.fromEntries(found)
  const left = Object.entries(fields).filter(([name]) => !Object.hasOwn(mirrors, name))
  return { fields: Object.fromEntries(left), mirrors }
}

/** Adds the fields that follow from the parts. */
export const withMirrors = (fields: Fields, parts: Parts, mirrors: unknown): Fields => {
  const all = Object.entries(isFields(mirrors) ? mirrors : {}).flatMap(([name, way]) => {
    const derive = Object.hasOwn(rules, name) ? rules[name]![String(way)] : undefined
    return derive === undefined ? [] : [[name, derive(parts.filter(isFields))] as const]
  })
  return { ...fields, ...Object.fromEntries(all) }
}
