/** What a context shows, taken apart: where each message is, and what is said. */
import { type Message, orphans, type Render, type Session, Wording } from "@memfold/core"
import { must, same } from "../law/Law.js"

const noResult = "(No result: the call was interrupted.)"
const lateResult = "(A tool result that no open call asked for)\n"

/** What is said in messages: in order, but for the outputs of tools, which contexts may move. */
export interface Said {
  readonly said: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
}

/** What is said in messages. */
export const saidIn = (messages: ReadonlyArray<Message.Message>): Said => {
  const said: Array<string> = []
  const outputs: Array<string> = []
  for (const part of messages.flatMap(({ parts }) => parts)) {
    switch (part.type) {
      case "text":
        if (part.text.startsWith(lateResult)) outputs.push(part.text.slice(lateResult.length))
        else said.push(part.text)
        break
      case "reasoning":
        said.push(part.text)
        break
      case "tool-call":
        said.push(`${part.name} ${part.arguments}`)
        break
      case "tool-result":
        if (part.output !== noResult) outputs.push(part.output)
        break
      case "file":
        said.push(part.uri)
        break
      case "opaque":
        said.push(JSON.stringify(part.data) ?? "")
        break
    }
  }
  return { said, outputs: outputs.toSorted() }
}

/** For each message of a session, the sections of a context that have it; a covered one that is pinned counts once. */
export const placesOf = (
  state: Session.SessionState,
  { layout }: Render.Context,
): ReadonlyArray<ReadonlyArray<Render.SectionName>> =>
  Array.from({ length: state.total }, (_, index) =>
    layout.flatMap(({ section, from, to }) =>
      index < from || index >= to || (section === "pinned" && index < state.through) ? [] : [section],
    ),
  )

/** The tokens of what is shown word for word before a message, whatever is summarized: pinned ones and their groups. */
export const pinnedBefore = ({ pinned, raw }: Session.SessionState, before: number): number => {
  const earlier = [...raw].filter(({ index }) => index < before)
  const groups = new Set(earlier.filter((entry) => entry.pinned).map(({ group }) => group))
  return [...pinned, ...earlier.filter(({ group }) => groups.has(group))].reduce(
    (sum, { tokens }) => sum + tokens,
    0,
  )
}

/** What a context says, and what it has to say by its layout. */
export const shownIn = (
  state: Session.SessionState,
  { layout, messages }: Render.Context,
): { readonly expected: Said; readonly found: Said } => {
  const known = new Map([...state.pinned, ...state.raw].map(({ index, message }) => [index, message]))
  const within = (names: ReadonlyArray<Render.SectionName>) =>
    layout
      .filter(({ section }) => names.includes(section))
      .flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => known.get(from + at)))
      .filter((message) => message !== undefined)
  const { summary } = state
  const text = summary === null ? "" : Wording.write(summary.wording, summary)
  const summaryMessage: ReadonlyArray<Message.Message> =
    text === "" ? [] : [{ role: "system", parts: [{ type: "text", text }] }]
  return {
    expected: saidIn([...within(["pinned"]), ...summaryMessage, ...within(["raw", "current"])]),
    found: saidIn(messages),
  }
}

/** Holds a context against the state it was rendered from (laws L4 and L5). */
export const checkContext = (state: Session.SessionState, context: Render.Context): void => {
  placesOf(state, context).forEach((places, index) => {
    must(
      places.length === 1,
      () =>
        `with ${state.total} messages, message ${index} is ${places.length === 0 ? "nowhere" : places.join(" and ")}`,
    )
    must(
      (places[0] === "summary") === index < state.through,
      () => `message ${index} is ${places[0]}, and coverage ends at ${state.through}`,
    )
  })
  const { expected, found } = shownIn(state, context)
  same(found.said, expected.said, () => `with ${state.total} messages, the context says something else`)
  same(found.outputs, expected.outputs, () => `with ${state.total} messages, other tool outputs are shown`)
  const [orphan] = orphans(context.messages)
  must(orphan === undefined, () => `with ${state.total} messages: ${orphan ?? ""}`)
}
