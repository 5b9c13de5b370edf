/** The difference of an object from what is derived for it. */
import { type Fields, isFields, patchOf } from "@memfold/codec"

/** What an object has otherwise than a derived one: fields to set, and fields to leave out. */
export interface Difference {
  readonly set?: Fields
  readonly without?: ReadonlyArray<string>
}

/** The difference of `raw` from `derived`; `undefined` for none. */
export const differenceOf = (raw: Fields, derived: Fields): Difference | undefined => {
  const set = patchOf(raw, derived)
  const without = Object.keys(derived).filter((name) => !Object.hasOwn(raw, name))
  const isEmpty = Object.keys(set).length === 0
  if (isEmpty && without.length === 0) return undefined
  return {
    ...(isEmpty ? {} : { set }),
    ...(without.length === 0 ? {} : { without }),
  }
}

/** The object that differs from `derived` as {@link differenceOf} said. */
export const applied = (derived: Fields, difference: unknown): Fields => {
  if (!isFields(difference)) return derived
  const { set, without } = difference as Difference
  const left = Array.isArray(without) ? new Set<string>(without) : new Set<string>()
  return Object.fromEntries([
    ...Object.entries(derived).filter(([name]) => !left.has(name)),
    ...Object.entries(isFields(set) ? set : {}),
  ])
}
