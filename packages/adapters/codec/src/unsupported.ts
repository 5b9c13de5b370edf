/** What a format could not express of a context, as sections of its layout. */
import type { Render } from "@memfold/core"
import type { Omitted } from "./Omitted.js"

/** The parts of a message that a format has no place for. They are left out of the context, and stay in the log. */
export interface UnsupportedSection {
  readonly section: "unsupported"
  readonly from: number
  readonly to: number
  readonly tokens: 0
  /**
   * The types of the parts; `name` is the author's name, `is-error` the mark of a failed call, `providerOptions` options of a system
   * message.
   */
  readonly parts: ReadonlyArray<string>
}

/**
 * One section for each message that has something left out.
 *
 * @param omitted what encoding the context left out
 * @param sources the `sources` of the context
 *
 * @example
 * ```ts
 * import { unsupportedSections } from "@memfold/codec"
 *
 * console.log(unsupportedSections([{ message: 1, part: "file" }], [null, 12])[0]?.from) // 12
 * ```
 */
export const unsupportedSections = (
  omitted: ReadonlyArray<Omitted>,
  sources: Render.Context["sources"],
): ReadonlyArray<UnsupportedSection> => {
  const found = new Map<number, Set<string>>()
  for (const { message, part } of omitted) {
    const index = sources[message]
    // A summary or a note of the engine says in its text what there is to say.
    if (index !== undefined && index !== null) found.set(index, (found.get(index) ?? new Set()).add(part))
  }
  return [...found]
    .toSorted(([one], [other]) => one - other)
    .map(([from, parts]) => ({ section: "unsupported", from, to: from + 1, tokens: 0, parts: [...parts] }))
}
