/** Compacting by hand, with what it would do shown before it is done. */
import type { schemas } from "@memfold/client"
import { useEffect, useState } from "preact/hooks"
import { count, range, several } from "../format.js"
import { Dialog } from "../parts/Dialog.js"
import { Waiting } from "../parts/Waiting.js"
import { ask, ofSession } from "../service/ask.js"
import type { Timeline } from "../session/Timeline.js"

/** What a compaction is asked for. */
interface Wanted {
  readonly which: "next" | "due" | "all"
  readonly instructions?: string
  readonly strategy?: string
  readonly settings?: unknown
}

/** How long a choice stays before it is previewed, in milliseconds. */
const pause = 250

/** Asks what a compaction would do. Nothing is written, and no model is asked. */
export const usePreview = (session: string, wanted: Wanted) => {
  const [found, set] = useState<{
    readonly preview: schemas.Previewed | null
    readonly problem: string | null
  }>({
    preview: null,
    problem: null,
  })
  const body = JSON.stringify(wanted)
  useEffect(() => {
    const stop = new AbortController()
    const read = async () => {
      const options = { method: "POST", body: JSON.parse(body) as unknown, signal: stop.signal } as const
      set({ preview: await ask(ofSession(session, "/preview"), options), problem: null })
    }
    const timer = setTimeout(() => {
      read().catch((error: unknown) => {
        if (!stop.signal.aborted) set({ preview: null, problem: error instanceof Error ? error.message : "" })
      })
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [session, body])
  return found
}

/** The most compactions that are listed one by one. */
const mostListed = 8

/** What a compaction would do. */
export const Previewed = ({ preview }: { readonly preview: schemas.Previewed }) => {
  const { compactions, before, after, idle, summarizer } = preview
  if (compactions.length === 0) return <p>Nothing would be done: {idle}.</p>
  const segments = compactions.flatMap((one) => one.segments)
  return (
    <>
      <p>
        {several(compactions.length, "compaction")}: the context goes from{" "}
        <strong>{count(before.tokens)}</strong> to <strong>{count(after.tokens)} tokens</strong>.
      </p>
      <ul>
        {compactions.slice(0, mostListed).map((one, at) => (
          <li key={at}>
            {one.outcome === "Failed"
              ? `Would fail: ${one.failure ?? ""}`
              : `Messages ${range(one)} because of ${one.reason}; ${several(one.replaced.messages, "message")} of ${count(one.replaced.tokens)} tokens are replaced${one.pruned.length > 0 ? `, and tool outputs in ${several(one.pruned.length, "message")} shortened` : ""}`}
          </li>
        ))}
        {compactions.length > mostListed ? (
          <li>
            And {several(compactions.length - mostListed, "compaction")} more, up to message{" "}
            {count(compactions.at(-1)!.to)}
          </li>
        ) : null}
      </ul>
      {segments.length === 0 ? null : (
        <details>
          <summary>The summary that would stand there, as {summarizer} writes it</summary>
          <pre tabIndex={0}>{segments.map(({ text }) => text).join("\n\n")}</pre>
        </details>
      )}
      <p class="soft">
        Nothing has been written yet. The messages stay in the log. The service&apos;s own summarizer may
        choose other words than this preview.
      </p>
    </>
  )
}

/** Fails if nothing was written, and says why. */
const check = (outcomes: ReadonlyArray<schemas.Outcome>): void => {
  if (outcomes.some(({ outcome }) => outcome === "Committed" || outcome === "Pruned")) return
  const [first] = outcomes
  throw new Error(
    first === undefined
      ? "Nothing is due, so nothing was written."
      : `Nothing was written: ${first.reason ?? first.outcome}.`,
  )
}

interface Props {
  readonly timeline: Timeline
  readonly onClose: () => void
}

const CompactDialog = ({
  timeline: { session },
  title,
  verb,
  wanted,
  onClose,
  children,
}: Props & {
  readonly title: string
  readonly verb: string
  readonly wanted: Wanted
  readonly children: preact.ComponentChildren
}) => {
  const { preview, problem } = usePreview(session, wanted)
  const act = async () => {
    const path = ofSession(session, "/compact")
    check((await ask<typeof schemas.Compacted.Type>(path, { method: "POST", body: wanted })).outcomes)
  }
  return (
    <Dialog title={title} verb={verb} act={act} onClose={onClose}>
      {children}
      <div class="preview" role="status" aria-label="Preview">
        {problem !== null ? (
          <p class="problem">{problem}</p>
        ) : preview === null ? (
          <Waiting>Looking at what it would do</Waiting>
        ) : (
          <Previewed preview={preview} />
        )}
      </div>
    </Dialog>
  )
}

/** Compacts with the strategy of the service. */
export const Compact = (props: Props) => {
  const [which, setWhich] = useState<"next" | "due">("next")
  const [instructions, setInstructions] = useState("")
  const text = instructions.trim()
  const wanted = { which, ...(which === "next" && text !== "" ? { instructions: text } : {}) }
  return (
    <CompactDialog {...props} title="Compact now" verb="Compact" wanted={wanted}>
      <p>The oldest uncovered messages become part of the summary. “Undo” takes it back.</p>
      <label>
        Which
        <select
          value={which}
          onChange={({ currentTarget }) => setWhich(currentTarget.value as "next" | "due")}
        >
          <option value="next">One compaction now, whether it is due or not</option>
          <option value="due">Everything that is due</option>
        </select>
      </label>
      {which === "next" ? (
        <label>
          What the summarizer is told besides
          <input
            value={instructions}
            placeholder="Keep every file path."
            onInput={({ currentTarget }) => setInstructions(currentTarget.value)}
          />
        </label>
      ) : null}
    </CompactDialog>
  )
}

const strategies = ["break-even", "sliding-window", "rounds", "split-turn", "rolling-buffer"] as const

/** Settings as they were typed; `null` while they are no JSON object. */
const settingsIn = (text: string): Readonly<Record<string, unknown>> | null => {
  if (text.trim() === "") return {}
  try {
    const found = JSON.parse(text) as unknown
    return typeof found === "object" && found !== null && !Array.isArray(found)
      ? (found as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}

/** Compacts everything anew, under another strategy. */
export const Recompact = (props: Props) => {
  const [strategy, setStrategy] = useState<string>(strategies[0])
  const [text, setText] = useState("")
  const settings = settingsIn(text)
  const wanted = { which: "all", strategy, settings: settings ?? {} } as const
  return (
    <CompactDialog {...props} title="Recompact under another strategy" verb="Recompact" wanted={wanted}>
      <p>
        All compactions are taken back, and the messages are compacted anew as the strategy does it. “Undo”
        brings the summaries in force now back. The strategy of the service stays as it is.
      </p>
      <label>
        Strategy
        <select value={strategy} onChange={({ currentTarget }) => setStrategy(currentTarget.value)}>
          {strategies.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Settings, as JSON
        <input
          value={text}
          placeholder='{"contextLimit": 20000}'
          aria-invalid={settings === null}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {settings === null ? (
        <p class="problem">This is no JSON object yet; the preview is without it.</p>
      ) : null}
    </CompactDialog>
  )
}
