/** What a summary rests on: its sentences, and the messages that share their words and identifiers. */
import type { schemas } from "@memfold/client"
import { useEffect, useMemo, useState } from "preact/hooks"
import { count, percent, several } from "../format.js"
import { MessageCard } from "../parts/MessageCard.js"
import { ask, ofSession } from "../service/ask.js"
import { marksOf } from "../session/marks.js"
import type { Timeline } from "../session/Timeline.js"
import type { ViewProps } from "./SessionView.js"

type Trace = typeof schemas.Trace.Type
type Sentence = Trace["sentences"][number]

/** Asks what a summary, or a text, rests on. */
const useTrace = (session: string, asked: { readonly summary?: string; readonly text?: string } | null) => {
  const [found, set] = useState<{ readonly trace: Trace | null; readonly problem: string | null }>({
    trace: null,
    problem: null,
  })
  const body = JSON.stringify(asked)
  useEffect(() => {
    set({ trace: null, problem: null })
    if (asked === null) return
    const stop = new AbortController()
    const read = async () => {
      const options = { method: "POST", body: asked, signal: stop.signal } as const
      set({ trace: await ask(ofSession(session, "/trace"), options), problem: null })
    }
    read().catch((error: unknown) => {
      if (!stop.signal.aborted) set({ trace: null, problem: error instanceof Error ? error.message : "" })
    })
    return () => stop.abort()
  }, [session, body])
  return found
}

/** The messages that a sentence rests on. */
const Rests = ({ sentence, timeline }: { readonly sentence: Sentence; readonly timeline: Timeline }) => {
  const said = timeline.said(timeline.version)
  return (
    <div class="rests">
      {sentence.missing.length === 0 ? null : (
        <p class="problem">No message has: {sentence.missing.join(", ")}</p>
      )}
      {sentence.messages.length === 0 ? <p>No message supports it.</p> : null}
      {sentence.messages.map(({ index, share, words }) => (
        <div key={index}>
          <p class="soft">
            Message {count(index)} has {percent(share, 1)} of it: {words.join(", ")}
          </p>
          <MessageCard id={`t${index}`} message={said[index]?.message ?? null} place={`#${index}`} />
        </div>
      ))}
    </div>
  )
}

export const TraceView = ({ timeline, version, changes }: ViewProps) => {
  const committed = useMemo(
    () => marksOf(timeline).filter((mark) => mark.committed !== null),
    [timeline, changes],
  )
  const inForce = timeline.at(version).summary?.id
  const [chosen, choose] = useState<string | null>(inForce ?? committed.at(-1)?.committed?.summary ?? null)
  const [text, setText] = useState("")
  const [asked, setAsked] = useState("")
  const [open, setOpen] = useState<number | null>(null)
  const question = asked !== "" ? { text: asked } : chosen === null ? null : { summary: chosen }
  const { trace, problem } = useTrace(timeline.session, question)
  const unsupported = trace?.sentences.filter(({ supported }) => !supported).length ?? 0
  return (
    <div class="page-view">
      <h2>What a summary rests on</h2>
      <p class="soft">
        A sentence rests on the messages that share its words and identifiers. No model is asked, and the same
        text always has the same trace. A sentence that nothing supports may be worded anew, or wrong.
      </p>
      <label>
        Summary
        <select
          value={chosen ?? ""}
          onChange={({ currentTarget }) => {
            choose(currentTarget.value)
            setAsked("")
            setOpen(null)
          }}
        >
          {committed.map(({ committed, version }) => (
            <option key={version} value={committed!.summary}>
              version {count(version)}, messages [0, {count(committed!.coveredTo)})
            </option>
          ))}
        </select>
      </label>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(text.trim())
          setOpen(null)
        }}
      >
        <input
          aria-label="A text of your own"
          placeholder="Or a text of your own: an answer of the model, for instance"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button disabled={text.trim() === ""}>Trace it</button>
      </form>
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {trace === null ? (
        <p class="soft">
          {question === null ? "There is no summary yet." : problem === null ? "Tracing…" : ""}
        </p>
      ) : (
        <>
          <p role="status">
            {several(trace.sentences.length, "sentence")},{" "}
            {unsupported === 0 ? "all supported" : `${count(unsupported)} supported by no message`}
          </p>
          <ol class="sentences">
            {trace.sentences.map((sentence, at) => (
              <li key={at}>
                <button
                  class="plain sentence"
                  aria-expanded={open === at}
                  onClick={() => setOpen(open === at ? null : at)}
                >
                  {sentence.text}
                </button>{" "}
                {sentence.supported ? (
                  <span class="soft">{several(sentence.messages.length, "message")}</span>
                ) : (
                  <span class="badge failed">Not supported</span>
                )}
                {open === at ? <Rests sentence={sentence} timeline={timeline} /> : null}
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  )
}
