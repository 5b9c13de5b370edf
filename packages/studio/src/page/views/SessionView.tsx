/** One session: its head, what can be done with it, and its views. */
import type { Message, Render } from "@memfold/core"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { type Address, go, type View } from "../address.js"
import { count, several } from "../format.js"
import { bringFocusIntoSight, bringIntoSight } from "../parts/inSight.js"
import { MessageCard } from "../parts/MessageCard.js"
import { VirtualList } from "../parts/VirtualList.js"
import { ask, ofSession } from "../service/ask.js"
import { marksOf } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"
import { type Progress, useLog } from "../session/useLog.js"
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

/** Whether a key that was pressed there is meant for something else: what is written, or arrows for what has the focus. */
const isTaken = ({ target, key, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean => {
  if (altKey || ctrlKey || metaKey) return true
  const taking = key.startsWith("Arrow")
    ? "input, textarea, select, dialog, [role=tablist]"
    : "input:not([type=range]), textarea, select, dialog"
  return target instanceof Element && target.closest(taking) !== null
}

/** The names of the views. On a narrow page they are scrolled, and the name of the view that is shown stays in sight. */
const Views = ({ view, choose }: { readonly view: View; readonly choose: (view: View) => void }) => {
  const row = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    bringIntoSight(row.current?.querySelector("[aria-current]"))
  }, [view])
  return (
    <nav ref={row} class="views" aria-label="Views" onFocusIn={bringFocusIntoSight}>
      {(Object.keys(components) as Array<View>).map((one) => (
        <button key={one} aria-current={one === view ? "page" : undefined} onClick={() => choose(one)}>
          {names[one]}
        </button>
      ))}
    </nav>
  )
}

/** While the log is read: what the model gets now, which the service says at once. */
const Loading = ({
  session,
  progress: { title, read, of },
}: {
  readonly session: string
  readonly progress: Progress
}) => {
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
      <h1>{title ?? session}</h1>
      <p class="soft">
        {of === null ? "Reading the log…" : `Reading the log: ${count(read)} of ${several(of, "version")}`}{" "}
        <progress value={of === null ? undefined : read} max={of ?? 1} aria-label="Read of the log" />
      </p>
      <div class="panes one">
        <section class="pane" aria-labelledby="now-heading">
          <h2 id="now-heading">What the model gets now</h2>
          <VirtualList
            label="What the model gets now"
            count={messages.length}
            keyOf={(at) => at}
            row={(at) => <MessageCard id={`l${at}`} message={messages[at]!} place="" />}
          />
        </section>
      </div>
    </main>
  )
}

export const SessionView = ({ session, view, version: chosen }: Address & { readonly session: string }) => {
  const { timeline, progress, problem, changes } = useLog(session)
  const newest = timeline?.version ?? 0
  const version = Math.min(chosen ?? newest, newest)
  const choose = (to: number) => {
    const next = Math.min(Math.max(to, 1), newest)
    go({ session, view, version: next === newest ? null : next }, { replace: true })
  }
  const marks = useMemo(() => (timeline === null ? [] : marksOf(timeline)), [timeline, changes])
  // Before the next key: who holds one down gets each version, and none twice.
  useLayoutEffect(() => {
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
      <Loading session={session} progress={progress} />
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
        <Views view={view} choose={(one) => go({ session, view: one, version: chosen })} />
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
