/** After something failed, nobody tries it again for a while. */
import { Clock, Duration, Effect } from "effect"

/** How long a pause is, in milliseconds. */
const pause = Duration.toMillis("30 seconds")

export class Pauses {
  private readonly until = new Map<string, number>()

  begin(what: string): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => void this.until.set(what, now + pause))
  }

  isPaused(what: string): Effect.Effect<boolean> {
    return Effect.map(Clock.currentTimeMillis, (now) => (this.until.get(what) ?? 0) > now)
  }
}
