/** What a summary rests on: its sentences, and the messages that share their words and identifiers. */
import type { schemas } from "@memfold/client"
import { useState } from "preact/hooks"
import { count, messages, percent, several } from "../format.js"
import { Choice } from "../parts/Choice.js"
import { MessageCard } from "../parts/MessageCard.js"
import { Badge, Problem } from "../parts/Notices.js"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import type { Timeline } from "../session/Timeline.js"
import type { ViewProps } from "../session/ViewProps.js"

type Trace = typeof schemas.Trace.Type
type Sentence = Trace["sentences"][number]

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

export const TraceView = ({ timeline, version, marks }: ViewProps) => {
  const committed = marks.filter((mark) => mark.committed !== null)
  const inForce = timeline.at(version).summary?.id
  const [chosen, choose] = useState<string | null>(inForce ?? committed.at(-1)?.committed?.summary ?? null)
  const [text, setText] = useState("")
  const [asked, setAsked] = useState("")
  const [open, setOpen] = useState<number | null>(null)
  const question = asked !== "" ? { text: asked } : chosen === null ? null : { summary: chosen }
  const path = question === null ? null : ofSession(timeline.session, "/trace")
  const { answer: trace, problem } = useAnswer<Trace>(path, { method: "POST", body: question })
  const unsupported = trace?.sentences.filter(({ supported }) => !supported).length ?? 0
  return (
    <div class="page-view">
      <h2>What a summary rests on</h2>
      <p class="soft">
        A sentence rests on the messages that share its words and identifiers. No model is asked, and the same
        text always has the same trace. A sentence that nothing supports may be worded anew, or wrong.
      </p>
      <Choice
        label="Summary"
        value={chosen ?? ""}
        choose={(summary) => {
          choose(summary)
          setAsked("")
          setOpen(null)
        }}
        options={committed.map(({ committed, version }) => [
          committed!.summary,
          `version ${count(version)}, ${messages({ from: 0, to: committed!.coveredTo })}`,
        ])}
      />
      <form
        class="row"
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
      <Problem>{problem}</Problem>
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
                  <Badge>Not supported</Badge>
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
