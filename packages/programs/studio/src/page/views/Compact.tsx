/** Compacting by hand, with what it would do shown before it is done. */
import type { schemas } from "@memfold/client"
import { whyIdle } from "@memfold/core"
import { useState } from "preact/hooks"
import { count, messages, several } from "../format.js"
import { Choice } from "../parts/Choice.js"
import { Dialog } from "../parts/Dialog.js"
import { Waiting } from "../parts/Notices.js"
import { ofSession, post } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import type { Timeline } from "../session/Timeline.js"
import { strategies } from "./offered.js"

interface Wanted {
  readonly which: "next" | "due" | "all"
  readonly instructions?: string
  readonly strategy?: string
  readonly settings?: unknown
}

/** How long a choice stays before it is previewed, in milliseconds. */
const pause = 250

/** The most compactions that are listed one by one. */
const mostListed = 8

/** What one compaction would do, in a sentence. */
const doneBy = (one: schemas.Previewed["compactions"][number]): string => {
  if (one.outcome === "Failed") return `Would fail: ${one.failure ?? ""}`
  const pruned = one.pruned.length
  const shortened = pruned > 0 ? `, and tool outputs in ${several(pruned, "message")} shortened` : ""
  return `Because of ${one.reason}, ${messages(one)}; ${several(one.replaced.messages, "message")} of ${count(one.replaced.tokens)} tokens are replaced${shortened}`
}

const Previewed = ({ preview }: { readonly preview: schemas.Previewed }) => {
  const { compactions, before, after, idle, summarizer } = preview
  if (compactions.length === 0)
    return <p>Nothing would be done{idle === null ? "" : `: ${whyIdle(idle)}`}.</p>
  const segments = compactions.flatMap((one) => one.segments)
  return (
    <>
      <p>
        {several(compactions.length, "compaction")}: the context goes from{" "}
        <strong>{count(before.tokens)}</strong> to <strong>{count(after.tokens)} tokens</strong>.
      </p>
      <ul>
        {compactions.slice(0, mostListed).map((one, at) => (
          <li key={at}>{doneBy(one)}</li>
        ))}
        {compactions.length > mostListed ? (
          <li>
            And {several(compactions.length - mostListed, "compaction")} more, up to message{" "}
            {count(compactions.at(-1)!.to - 1)}
          </li>
        ) : null}
      </ul>
      {segments.length === 0 ? null : (
        <details>
          <summary>The summary that would stand there, as the {summarizer} summarizer writes it</summary>
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

/** Shows what a compaction would do. Nothing is written, and no model is asked. */
export const Preview = ({ session, wanted }: { readonly session: string; readonly wanted: Wanted }) => {
  const asked = { method: "POST", body: wanted, isLong: true } as const
  const path = ofSession(session, "/preview")
  const { answer, problem, ...far } = useAnswer<schemas.Previewed>(path, asked, { pause, keep: true })
  return (
    <div class="preview" role="status" aria-label="Preview">
      {problem !== null ? (
        <p class="problem">{problem}</p>
      ) : answer === null || far.progress !== null ? (
        <Waiting {...far}>Looking at what it would do</Waiting>
      ) : (
        <Previewed preview={answer} />
      )}
    </div>
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
}) => (
  <Dialog
    title={title}
    verb={verb}
    act={async () => check((await post<typeof schemas.Compacted.Type>(session, "/compact", wanted)).outcomes)}
    onClose={onClose}
  >
    {children}
    <Preview session={session} wanted={wanted} />
  </Dialog>
)

/** Compacts with the strategy of the service. */
export const Compact = (props: Props) => {
  const [which, setWhich] = useState<"next" | "due">("next")
  const [instructions, setInstructions] = useState("")
  const text = instructions.trim()
  const wanted = { which, ...(which === "next" && text !== "" ? { instructions: text } : {}) }
  return (
    <CompactDialog {...props} title="Compact now" verb="Compact" wanted={wanted}>
      <p>The oldest uncovered messages become part of the summary. “Undo” takes it back.</p>
      <Choice
        label="Which"
        options={[
          ["next", "One compaction now, whether it is due or not"],
          ["due", "Everything that is due"],
        ]}
        value={which}
        choose={setWhich}
      />
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
  const [strategy, setStrategy] = useState<(typeof strategies)[number]>(strategies[0])
  const [text, setText] = useState("")
  const settings = settingsIn(text)
  const wanted = { which: "all", strategy, settings: settings ?? {} } as const
  return (
    <CompactDialog {...props} title="Recompact under another strategy" verb="Recompact" wanted={wanted}>
      <p>
        All compactions are taken back, and the messages are compacted anew as the strategy does it. “Undo”
        brings the summaries in force now back. The strategy of the service stays as it is.
      </p>
      <Choice label="Strategy" options={strategies} value={strategy} choose={setStrategy} />
      <label>
        Settings, as JSON
        <input
          value={text}
          placeholder='{"contextLimit": 20000}'
          {...(settings === null ? { "aria-invalid": true } : {})}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {settings === null ? (
        <p class="problem">This is no JSON object yet; the preview is without it.</p>
      ) : null}
    </CompactDialog>
  )
}
