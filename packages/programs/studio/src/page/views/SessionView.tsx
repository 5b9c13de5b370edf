/** One session: its head, what can be done with it, and its views. */
import type { Render } from "@memfold/core"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { type Address, go, type View, written } from "../address.js"
import { count, several } from "../format.js"
import { bringFocusIntoSight, bringIntoSight } from "../parts/inSight.js"
import { MessageCard } from "../parts/MessageCard.js"
import { Problem, Swatch } from "../parts/Notices.js"
import { VirtualList } from "../parts/VirtualList.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import { marksOf } from "../session/marks.js"
import { type Progress, useLog } from "../session/useLog.js"
import type { ViewProps } from "../session/ViewProps.js"
import { Actions } from "./Actions.js"
import { AuditView } from "./AuditView.js"
import { CompareView } from "./CompareView.js"
import { FactsView } from "./FactsView.js"
import { SettingsView } from "./SettingsView.js"
import { TimeView } from "./TimeView.js"
import { TokensView } from "./TokensView.js"
import { TraceView } from "./TraceView.js"

const views: Readonly<
  Record<View, readonly [name: string, component: (props: ViewProps) => preact.JSX.Element]>
> = {
  time: ["Through time", TimeView],
  tokens: ["Tokens", TokensView],
  trace: ["Trace", TraceView],
  compare: ["Compare", CompareView],
  facts: ["Facts", FactsView],
  audit: ["Audit", AuditView],
  settings: ["Settings", SettingsView],
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
    <nav ref={row} class="tabs" aria-label="Views" onFocusIn={bringFocusIntoSight}>
      {(Object.keys(views) as Array<View>).map((one) => (
        <button
          key={one}
          class="tab"
          aria-current={one === view ? "page" : undefined}
          onClick={() => choose(one)}
        >
          {views[one][0]}
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
  // What goes wrong is said where the log is read.
  const query = { format: "memfold" }
  const messages = useAnswer<Render.Context>(ofSession(session, "/context"), { query }).answer?.messages ?? []
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

export const SessionView = ({
  session,
  view,
  version: chosen,
  message = null,
}: Address & { readonly session: string }) => {
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
        <Problem>{problem}</Problem>
      </main>
    )
  const { description, total } = timeline.at(newest)
  const [, Shown] = views[view]
  const about = [
    ...(description.title === null ? [] : [session]),
    ...(description.owner === null ? [] : [`owner ${description.owner}`]),
    several(total, "message"),
    `version ${count(newest)}`,
  ]
  const place = { timeline, version, marks }
  return (
    <main class="session">
      <header class="row">
        <hgroup>
          <h1>{description.title ?? session}</h1>
          <p class="soft">
            {about.join(" · ")}
            {problem === null ? (
              <>
                {" "}
                <Swatch ink="verbatim" /> live
              </>
            ) : null}
          </p>
        </hgroup>
        <Actions {...place} />
      </header>
      <Views view={view} choose={(one) => go({ session, view: one, version: chosen })} />
      <Problem>{problem}</Problem>
      {newest === 0 ? (
        <p>
          There is no such session. <a href={written({ session: null, view, version: null })}>All sessions</a>
        </p>
      ) : (
        <Shown {...place} choose={choose} changes={changes} message={message} />
      )}
    </main>
  )
}
