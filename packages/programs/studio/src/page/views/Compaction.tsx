/** A compaction: why it was due, what it replaced, and what it put in the place. */
import { diffWordsWithSpace } from "diff"
import { useMemo } from "preact/hooks"
import { count, messages as messagesIn, moment, percent, several, shortId } from "../format.js"
import { MessageCard } from "../parts/MessageCard.js"
import { Badge } from "../parts/Notices.js"
import { VirtualList } from "../parts/VirtualList.js"
import { hasChanged, type Mark, textOf } from "../session/marks.js"
import { sizeOf } from "../session/shares.js"
import type { Timeline } from "../session/Timeline.js"

interface Props {
  readonly mark: Mark
  readonly timeline: Timeline
}

const outcomes: Readonly<Record<Mark["outcome"], string>> = {
  committed: "Compressed",
  pruned: "Pruned",
  failed: "Failed",
  released: "Stopped",
  running: "Running",
}

const badgesOf = (mark: Mark): ReadonlyArray<string> => [
  outcomes[mark.outcome],
  ...(mark.splitTurn ? ["Split Turn"] : []),
  ...(mark.outcome !== "pruned" && mark.pruned !== null ? ["Pruned"] : []),
  ...(mark.invalidatedAt === null ? [] : ["Taken back"]),
]

export const CompactionLine = ({
  mark,
  timeline,
  marks,
  choose,
}: {
  readonly mark: Mark | null
  readonly timeline: Timeline
  readonly marks: ReadonlyArray<Mark>
  readonly choose: (version: number) => void
}) => {
  if (mark === null) return <p class="strip">No compaction yet: the model got everything word for word.</p>
  const { started, version, committed, pruned, failed } = mark
  // A compaction that does both shortens tool outputs in the event before its commit.
  const first = committed !== null && pruned !== null ? version - 1 : version
  const [before, after] = [sizeOf(timeline.at(first - 1)), sizeOf(timeline.at(version))]
  const changed = marks.filter(hasChanged)
  const number = changed.indexOf(mark) + 1
  const which = number > 0 ? ` ${count(number)} of ${count(changed.length)}` : ""
  return (
    <div class="strip" role="group" aria-label="Compaction">
      {badgesOf(mark).map((badge) => (
        <Badge key={badge}>{badge}</Badge>
      ))}
      <button class="plain" onClick={() => choose(mark.version)}>
        Compaction{which}, version {count(mark.version)}
      </button>
      <span>{messagesIn(started)}</span>
      <span class="wide-only">
        because of <em>{started.reason}</em> ({started.strategy})
      </span>
      {committed === null ? null : (
        <span>
          {count(before)} → {count(after)} tokens, {after > before ? "+" : "−"}
          {percent(Math.abs(before - after), before)}
        </span>
      )}
      {pruned === null ? null : <span>{several(pruned.outputs.length, "tool output")} shortened</span>}
      {failed === null ? null : (
        <span class="problem">
          {failed.reason}: {failed.detail}
        </span>
      )}
      <span class="soft wide-only">{moment(mark.time)}</span>
    </div>
  )
}

/** The text of the summary that a compaction committed. */
export const SummaryText = ({ mark, timeline }: Props) => {
  const { summary } = timeline.at(mark.version)
  const { started, committed } = mark
  const { modified, read } = summary?.files ?? { modified: [], read: [] }
  const files = [...modified.map((file) => `changed ${file}`), ...read.map((file) => `read ${file}`)]
  return (
    <div class="scroll text" tabIndex={0} role="group" aria-label="Summary">
      <p class="soft">
        Summary {shortId(summary?.id ?? "")} for {messagesIn({ from: 0, to: summary?.coveredTo ?? 0 })}, by{" "}
        {started.strategy} because of {started.reason}, at {moment(mark.time)}
        {committed === null ? "" : `: ${several(committed.tokens, "token")} by ${committed.summarizer}`}
        {committed === null || committed.calls === 0 ? "" : ` in ${several(committed.calls, "call")}`}
      </p>
      {(summary?.segments ?? []).map((segment, at) => (
        <section key={at}>
          <h3>
            {segment.kind}: {messagesIn(segment)} {at < (summary?.carried ?? 0) ? <Badge>kept</Badge> : null}
          </h3>
          <p class="said">{segment.text}</p>
        </section>
      ))}
      {files.length === 0 ? null : (
        <section>
          <h3>Files</h3>
          <p class="said">{files.join("\n")}</p>
        </section>
      )}
    </div>
  )
}

/** Of what did not change, so much is shown beside a change, in characters. */
const around = 160

/** A text that did not change, without its middle. */
const Unchanged = ({ text }: { readonly text: string }) => {
  const middle = text.length - 2 * around
  if (middle < around) return <span>{text}</span>
  return (
    <span>
      {text.slice(0, around)}
      <Badge>{`${several(middle, "character")} unchanged`}</Badge>
      {text.slice(-around)}
    </span>
  )
}

/** The difference of a summary to the summary before. */
export const Difference = ({ mark, timeline }: Props) => {
  const [before, after] = [timeline.at(mark.version - 1).summary, timeline.at(mark.version).summary]
  const changes = useMemo(() => diffWordsWithSpace(textOf(before), textOf(after)), [before, after])
  return (
    <div class="scroll text" tabIndex={0} role="group" aria-label="Difference to the summary before">
      <p class="soft">
        {before === null
          ? "This is the first summary."
          : `Against the summary before, ${shortId(before.id)}: what is struck out is gone, what is underlined is new.`}
      </p>
      <p class="said">
        {changes.map(({ value, added, removed }, at) =>
          added ? (
            <ins key={at}>{value}</ins>
          ) : removed ? (
            <del key={at}>{value}</del>
          ) : (
            <Unchanged key={at} text={value} />
          ),
        )}
      </p>
    </div>
  )
}

export const Replaced = ({ mark, timeline }: Props) => {
  const { from } = mark.started
  const to = mark.committed?.coveredTo ?? mark.started.to
  const messages = timeline.said(mark.version).slice(from, to)
  return messages.length === 0 ? (
    <p class="soft empty">It replaced no messages.</p>
  ) : (
    <VirtualList
      label="What it replaced"
      count={messages.length}
      keyOf={(at) => messages[at]!.version}
      row={(at) => {
        const { index, version, message, tokens } = messages[at]!
        return <MessageCard id={`r${version}`} message={message} place={`#${index}`} tokens={tokens} />
      }}
    />
  )
}
