/** One session: its head, what can be done with it, and its views. */
import type { Message, Render } from "@memfold/core"
import { useEffect, useMemo, useState } from "preact/hooks"
import { type Address, go, type View } from "../address.js"
import { count, several } from "../format.js"
import { MessageCard } from "../parts/MessageCard.js"
import { VirtualList } from "../parts/VirtualList.js"
import { ask, ofSession } from "../service/ask.js"
import { marksOf } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"
import { useLog } from "../session/useLog.js"
import { Actions } from "./Actions.js"
import { CompareView } from "./CompareView.js"
import { SettingsView } from "./SettingsView.js"
import { TimeView } from "./TimeView.js"
import { TraceView } from "./TraceView.js"
import { TokensView } from "./TokensView.js"

/** What every view of a session gets. */
export interface ViewProps {
  readonly timeline: Timeline
  /** The version that is shown. */
  readonly version: number
  readonly choose: (version: number) => void
  /** Grows with every change of the timeline. */
  readonly changes: number
}

const names: Readonly<Record<View, string>> = {
  time: "Through time",
  tokens: "Tokens",
  trace: "Trace",
  compare: "Compare",
  settings: "Settings",
}

const components: Readonly<Record<View, (props: ViewProps) => preact.JSX.Element>> = {
  time: TimeView,
  tokens: TokensView,
  trace: TraceView,
  compare: CompareView,
  settings: SettingsView,
}

/** Whether a key that was pressed there is meant for something else. */
const isTaken = ({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  altKey ||
  ctrlKey ||
  metaKey ||
  (target instanceof Element && target.closest("input, textarea, select, dialog, [role=tablist]") !== null)

/** While the log is read: what the model gets now, which the service says at once. */
const Loading = ({ session, loaded }: { readonly session: string; readonly loaded: number }) => {
  const [messages, set] = useState<ReadonlyArray<Message.Message>>([])
  useEffect(() => {
    const stop = new AbortController()
    const read = async () => {
      const query = { format: "memfold" }
      const options = { query, signal: stop.signal }
      set((await ask<Render.Context>(ofSession(session, "/context"), options)).messages)
    }
    // What goes wrong is said where the log is read.
    read().catch(() => undefined)
    return () => stop.abort()
  }, [session])
  return (
    <main class="session" aria-busy="true">
      <h1>{session}</h1>
      <p class="soft">
        Reading the log… <progress value={loaded} aria-label="Read of the log" />
      </p>
      <div class="pane">
        <VirtualList
          label="What the model gets now"
          count={messages.length}
          keyOf={(at) => at}
          row={(at) => <MessageCard id={`l${at}`} message={messages[at]!} place="" />}
        />
      </div>
    </main>
  )
}

export const SessionView = ({ session, view, version: chosen }: Address & { readonly session: string }) => {
  const { timeline, loaded, problem, changes } = useLog(session)
  const newest = timeline?.version ?? 0
  const version = Math.min(chosen ?? newest, newest)
  const choose = (to: number) => {
    const next = Math.min(Math.max(to, 1), newest)
    go({ session, view, version: next === newest ? null : next }, { replace: true })
  }
  const marks = useMemo(() => (timeline === null ? [] : marksOf(timeline)), [timeline, changes])
  useEffect(() => {
    document.title = `${timeline?.at(newest).description.title ?? session} – memfold studio`
    const onKey = (event: KeyboardEvent) => {
      if (isTaken(event)) return
      const to = {
        ArrowLeft: version - 1,
        ArrowRight: version + 1,
        "[": marks.findLast((mark) => mark.version < version)?.version,
        "]": marks.find((mark) => mark.version > version)?.version,
      }[event.key]
      if (to === undefined) return
      event.preventDefault()
      choose(to)
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  })
  if (timeline === null)
    return problem === null ? (
      <Loading session={session} loaded={loaded} />
    ) : (
      <main class="session">
        <p class="problem" role="alert">
          {problem}
        </p>
      </main>
    )
  const { description, total } = timeline.at(newest)
  const Shown = components[view]
  return (
    <main class="session">
      <div class="session-head">
        <h1>{description.title ?? session}</h1>
        <p class="soft">
          {description.title === null ? null : <>{session} · </>}
          {description.owner === null ? null : <>owner {description.owner} · </>}
          {several(total, "message")} · version {count(newest)}
          {problem === null ? <span class="live"> live</span> : null}
        </p>
        <Actions timeline={timeline} version={version} marks={marks} />
        <nav class="views" aria-label="Views">
          {(Object.keys(components) as Array<View>).map((one) => (
            <button
              key={one}
              aria-current={one === view ? "page" : undefined}
              onClick={() => go({ session, view: one, version: chosen })}
            >
              {names[one]}
            </button>
          ))}
        </nav>
      </div>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {newest === 0 ? (
        <p>There is no such session.</p>
      ) : (
        <Shown timeline={timeline} version={version} choose={choose} changes={changes} />
      )}
    </main>
  )
}
