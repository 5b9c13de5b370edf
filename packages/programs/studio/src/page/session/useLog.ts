/** Loading the log of a session, and following it. */
import type { schemas } from "@memfold/client"
import type { EventCodec } from "@memfold/core"
import { useEffect, useState } from "preact/hooks"
import { ask, ofSession, reasonOf } from "../service/ask.js"
import { follow } from "../service/changes.js"
import { Timeline } from "./Timeline.js"

type Recorded = EventCodec.RecordedEvent

/** The most events of one request, and how many requests are under way at once. */
const pageSize = 1_000
const atOnce = 4

/** Lets the page draw. In a tab that nobody looks at there are no frames, so it is a timer. */
const drawing = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** The events up to a version, in order. */
const load = async (
  session: string,
  version: number,
  {
    signal,
    onPage,
  }: { readonly signal: AbortSignal; readonly onPage: (events: ReadonlyArray<Recorded>) => void },
): Promise<void> => {
  const starts = Array.from({ length: Math.ceil(version / pageSize) }, (_, page) => page * pageSize + 1)
  const page = async (start: number): Promise<ReadonlyArray<Recorded>> => {
    const toVersion = Math.min(start + pageSize - 1, version)
    const all: Array<Recorded> = []
    // A page has fewer where events are large.
    for (let fromVersion = start; fromVersion <= toVersion;) {
      const { events } = await ask<{ readonly events: ReadonlyArray<Recorded> }>(
        ofSession(session, "/events"),
        { query: { fromVersion, toVersion, limit: pageSize }, signal },
      )
      const last = events.at(-1)
      if (last === undefined) break
      all.push(...events)
      fromVersion = last.version + 1
    }
    return all
  }
  const underWay = starts.slice(0, atOnce).map(page)
  for (let next = atOnce; underWay.length > 0; next++) {
    const events = await underWay.shift()!
    const start = starts[next]
    if (start !== undefined) underWay.push(page(start))
    onPage(events)
    await drawing()
  }
}

/** How far the log is read. */
export interface Progress {
  /** The title of the session; `null` without one, and until it is known. */
  readonly title: string | null
  /** How many of its versions are there. */
  readonly read: number
  /** How many there are; `null` until that is known. */
  readonly of: number | null
}

/** The log of a session on the page. */
export interface Log {
  /** The versions; `null` until they are there. */
  readonly timeline: Timeline | null
  readonly progress: Progress
  readonly problem: string | null
  /** Grows with every change of the timeline. */
  readonly changes: number
}

/** Loads the log of a session and follows it, as long as the component is there. */
export const useLog = (session: string): Log => {
  const [log, set] = useState<Log>({
    timeline: null,
    progress: { title: null, read: 0, of: null },
    problem: null,
    changes: 0,
  })
  useEffect(() => {
    let current = new AbortController()
    const fail = (error: unknown) => {
      if (current.signal.aborted) return
      set((log) => ({ ...log, problem: reasonOf(error) }))
    }
    const start = async (): Promise<void> => {
      current.abort()
      current = new AbortController()
      const { signal } = current
      const timeline = new Timeline(session)
      const { version, title } = await ask<schemas.SessionOverview>(ofSession(session), { signal })
      const show = () => set((log) => ({ ...log, progress: { title, read: timeline.version, of: version } }))
      show()
      await load(session, version, {
        signal,
        onPage: (events) => {
          for (const recorded of events) timeline.add(recorded)
          show()
        },
      })
      let drawn = 0
      const draw = () => {
        drawn = 0
        set(({ progress, changes }) => ({ timeline, progress, problem: null, changes: changes + 1 }))
      }
      draw()
      void follow(session, timeline.version + 1, {
        signal,
        onEvent: (recorded) => {
          // An erased text is gone from earlier events, and a session that was started again has others.
          if (recorded.version !== timeline.version + 1 || recorded.event._tag === "MessageRedacted")
            return void start().catch(fail)
          timeline.add(recorded)
          drawn ||= requestAnimationFrame(draw)
        },
        onEnd: fail,
      })
    }
    start().catch(fail)
    return () => current.abort()
  }, [session])
  return log
}
