/** Options by provider beside a part, as the AI SDK and Effect AI have them: what they say of reasoning, and of items of OpenAI. */
import { type Fields, isFields } from "./fields.js"

const entriesOf = (options: unknown): ReadonlyArray<readonly [string, Fields]> =>
  Object.entries(isFields(options) ? options : {}).flatMap(([name, own]) =>
    isFields(own) ? [[name, own] as const] : [],
  )

/** Whether a provider has an option of one of these names. */
export const hasOption = (options: unknown, ...names: ReadonlyArray<string>): boolean =>
  entriesOf(options).some(([, own]) => names.some((name) => Object.hasOwn(own, name)))

/** The provider that signed reasoning, and its signature; none if several may have. */
export const signerIn = (
  options: unknown,
): { readonly name: string; readonly signature: string } | undefined => {
  const found = entriesOf(options).flatMap(([name, { signature }]) =>
    typeof signature === "string" ? [{ name, signature }] : [],
  )
  return found.length === 1 ? found[0] : undefined
}

/** The options without the ids of items: OpenAI refuses an item whose reasoning is missing, but takes what it says. */
export const withoutItemIds = (options: Fields): Fields =>
  Object.fromEntries(
    Object.entries(options).map(([name, own]) => {
      if (!isFields(own)) return [name, own]
      const { itemId: _itemId, ...rest } = own as Record<string, unknown>
      return [name, rest]
    }),
  )
