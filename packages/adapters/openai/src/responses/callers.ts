/** Calls that a program of the model makes: they and their outputs name it as their caller. */
import { type Fields, isFields } from "@memfold/codec"
import { itemTable } from "./form.js"

const programOf = ({ caller }: Fields): unknown =>
  isFields(caller) && caller["type"] === "program" ? caller["caller_id"] : undefined

const without = ({ caller: _caller, ...item }: Fields): Fields => item

/**
 * The items whose callers are there. A program that waits for its answer is left out where somebody speaks behind it: then its calls are
 * the model's own. The output of a call has the caller of the call, also if it says no more than that the call was interrupted.
 */
export const withCallers = (items: ReadonlyArray<Fields>): ReadonlyArray<Fields> => {
  const programs = new Set(items.map(({ type, call_id: id }) => (type === "program" ? id : undefined)))
  /** The callers of calls that a program made, by the ids of the calls. */
  const callers = new Map<unknown, unknown>()
  return items.map((item) => {
    const { call, answer } = itemTable[String(item["type"])] ?? {}
    const program = programOf(item)
    if (call !== undefined && program !== undefined) {
      if (!programs.has(program)) return without(item)
      callers.set(item["call_id"], item["caller"])
    }
    if (answer === undefined) return item
    const caller = callers.get(item["call_id"])
    if (caller !== undefined) return { ...item, caller }
    return program === undefined ? item : without(item)
  })
}
