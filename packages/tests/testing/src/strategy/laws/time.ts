/** A trigger that depends on the clock names the time it becomes due (L11: no due compaction is forgotten). */
import { type Law, must } from "../../law/Law.js"
import { malformed } from "../asks.js"
import type { Kit } from "../input.js"
import { inSurroundings, worlds } from "../surroundings.js"
import { viewOf } from "../viewOf.js"

export const timeLaws = ({ law }: Kit): ReadonlyArray<Law> => [
  law({
    id: "L11",
    name: "compaction comes due at the time the strategy gives",
    explanation:
      "A memory that compacts in the background checks the trigger again at the time that `dueTime` returns. While\n" +
      "the trigger is not due, `dueTime` returns a time or null, the same one until the next message. Before that\n" +
      "time `due` returns null, and from then on a reason.",
    holds: (input, rehearse) => {
      const { strategy, moments } = rehearse(input)
      const { when, keep } = strategy
      if (when.dueTime === undefined) return
      for (const { state, now, dueTime } of moments) {
        const wrong = malformed({ part: "when.dueAt", answer: dueTime })
        must(wrong === null, () => `with ${state.total} messages, ${wrong}`)
        const at = (time: number) => {
          const view = viewOf(state, time, keep)
          return { due: when.due(view), dueTime: when.dueTime?.(view) ?? null }
        }
        if (state.total === 0 || at(now).due !== null) continue
        const stays = (time: number, found: number | null) =>
          must(
            found === dueTime,
            () =>
              `with ${state.total} messages, it says that it is due ${after(dueTime, now)}, and asked ` +
              `${time - now} ms later, ${after(found, now)}`,
          )
        for (const world of worlds) stays(now, inSurroundings(world, () => at(now).dueTime).answer)
        const then = dueTime === null ? null : Math.ceil(dueTime)
        for (const time of [now + 1, ...(then === null ? [] : [then - 1])]) {
          if (time <= now || (then !== null && time >= then)) continue
          const { due, dueTime: later } = at(time)
          must(
            then === null || due === null,
            () =>
              `with ${state.total} messages, it says that it is due ${after(dueTime, now)}, and is due ` +
              `${time - now} ms after it was asked (${JSON.stringify(due)})`,
          )
          if (due === null) stays(time, later)
        }
        if (then === null || then <= now) continue
        must(
          at(then).due !== null,
          () =>
            `with ${state.total} messages, it says that it is due ${after(dueTime, now)}, and then it is not`,
        )
      }
    },
  }),
]

/** A time relative to another one, as text. */
const after = (time: number | null, now: number): string => {
  if (time === null) return "never"
  return time >= now ? `${time - now} ms after it was asked` : `${now - time} ms before it was asked`
}
