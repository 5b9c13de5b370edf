/**
 * A session at every version: its events, and the state behind each of them, folded by the engine itself. So the page shows any
 * version at once, and shows what the engine says.
 */
import { type EventCodec, type Message, Session } from "@memfold/core"

type Recorded = EventCodec.RecordedEvent
type State = Session.SessionState

export interface Said {
  /** Its message index on the branch in question. */
  readonly index: number
  /** The version of the event that appended it. */
  readonly version: number
  /** The message; `null` if it cannot be read. */
  readonly message: Message.Message | null
  readonly tokens: number
  /** When it was appended, in milliseconds since the epoch. */
  readonly time: number
}

const saidIn = (recorded: Recorded): Omit<Said, "index"> | null => {
  const { event, version, time } = recorded
  if (event._tag === "MessageAppended")
    return { version, message: event.message, tokens: event.tokens, time: event.message.time ?? time }
  return event._tag === "DamagedMessage" ? { version, message: null, tokens: 0, time } : null
}

/** How many of the messages were appended at or before a version. */
const countTo = (said: ReadonlyArray<Omit<Said, "index">>, version: number): number => {
  let [from, to] = [0, said.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (said[middle]!.version <= version) from = middle + 1
    else to = middle
  }
  return from
}

/** The versions of a session; it grows with {@link Timeline.add}. */
export class Timeline {
  /** The events; the event of version 1 is the first one. */
  readonly events: Array<Recorded> = []
  /** The state behind each version, as it was then. The first one is the state without events. */
  readonly states: Array<State>
  /** All messages of the log, on any branch. */
  readonly #messages: Array<Omit<Said, "index">> = []
  /** The states as they are known now: without the commits that later events invalidate. */
  readonly #chain: Array<State>
  readonly #invalidated = new Set<number>()
  /** The messages of a branch, by the gaps of its states. */
  #branches = new WeakMap<object, { readonly logged: number; readonly said: ReadonlyArray<Said> }>()

  constructor(readonly session: string) {
    const start = Session.empty(session)
    this.states = [start]
    this.#chain = [start]
  }

  /** The newest version. */
  get version(): number {
    return this.events.length
  }

  /** Adds the next event. Its version is {@link version} and one. */
  add(recorded: Recorded): void {
    this.events.push(recorded)
    const { event, version } = recorded
    const said = saidIn(recorded)
    if (said !== null) this.#messages.push(said)
    if (event._tag === "SummaryInvalidated" && event.version < version) {
      this.#invalidated.add(event.version)
      for (let at = event.version; at < version; at++) this.#chain[at] = this.#after(at)
    }
    this.#chain[version] = this.#after(version)
    this.states.push(this.#chain[version])
  }

  /** The state behind a version, from the state before it. */
  #after(version: number): State {
    const recorded = this.events[version - 1]!
    const { event } = recorded
    const before = this.#chain[version - 1]!
    const invalidated = this.#invalidated
    if (event._tag !== "BranchSwitched") return Session.evolve(before, recorded, { invalidated })
    const past = this.#chain[event.version]
    const states = new Map(past === undefined ? [] : [[event.version, past]])
    return Session.evolve(before, recorded, { invalidated, states })
  }

  at(version: number): State {
    return this.states[Math.min(Math.max(version, 0), this.version)]!
  }

  /** The conversation at a version, as it was said. */
  said(version: number): ReadonlyArray<Said> {
    const { gaps } = this.at(version)
    const known = this.#branches.get(gaps)
    const all =
      known?.logged === this.#messages.length
        ? known.said
        : this.#messages
            .filter((one) => Session.isOnBranch(gaps, one.version))
            .map((one, index) => ({ ...one, index }))
    if (all !== known?.said) this.#branches.set(gaps, { logged: this.#messages.length, said: all })
    return all.slice(0, countTo(all, version))
  }
}
