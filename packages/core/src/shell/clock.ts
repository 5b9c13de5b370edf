/** The clock of a program. */
import { type Clock, Effect } from "effect"

let live: Clock.Clock | undefined

/**
 * Whether a clock is the default clock: the program has set none. It is looked up at run time: where several copies of Effect are
 * loaded, all have the clock of the first one.
 */
export const isLive = (clock: Clock.Clock): boolean => clock === (live ??= Effect.runSync(Effect.clock))
