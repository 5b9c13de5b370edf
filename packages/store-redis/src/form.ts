/** The number of the form in which a prefix has its keys: a key of its own. What memfold 0.1.0 wrote has form 1, with the key or without it. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { About, Connection } from "./Connection.js"
import { ifAllowed } from "./failures.js"
import { formKeyOf } from "./keys.js"
import type { Target } from "./Options.js"

/** The form that this version writes. */
const known = 1

/** Runs a write, if this version may write. */
export type Guard = <A, E>(
  about: About,
  write: Effect.Effect<A, E>,
) => Effect.Effect<A, E | EventLog.LogError>

/**
 * Looks at the form of the keys. It fails for a newer one, unless the log is only read: what is read stands in all forms.
 *
 * @returns the guard of all writes: it refuses them where the log is only read, and says the form behind the first one
 */
export const openForm = (
  { ask }: Connection,
  { prefix, name }: Target,
  readonly: boolean,
): Effect.Effect<Guard, EventLog.LogError> =>
  Effect.gen(function* () {
    const key = formKeyOf(prefix)
    const about = { operation: "open" }
    // Who may not look goes on as before there was the key, and hears of it when there is something to do.
    const said = yield* ask(about, (client) => ifAllowed(client.get(key)))
    const form = said === null ? known : Number(said)
    if (form !== known && !readonly)
      return yield* new EventLog.LogError({
        ...about,
        reason: `${name} has form ${said} of the keys with the prefix "${prefix}", this memfold knows form ${known}; update memfold, or read it with memfold export`,
      })
    let isSaid = said !== null
    // A write that is done stays done, whatever becomes of this.
    const say = Effect.ignore(
      Effect.map(
        ask(about, (client) => client.setnx(key, known)),
        () => (isSaid = true),
      ),
    )
    return (about, write) => {
      if (readonly)
        return new EventLog.LogError({ ...about, reason: `${name} is open to be read, and takes no writes` })
      return isSaid ? write : Effect.tap(write, () => say)
    }
  })
