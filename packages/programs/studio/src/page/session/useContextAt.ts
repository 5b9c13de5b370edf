/** The context at a version: at once as the engine renders it from the log, and then as the service says it was. */
import { type Message, Render } from "@memfold/core"
import { useMemo } from "preact/hooks"
import { ofSession } from "../service/ask.js"
import { useAnswer } from "../service/useAnswer.js"
import type { Timeline } from "./Timeline.js"

/** A context, and for each message its message index, or `null`. */
export type Shown = Pick<Render.Context, "messages" | "sources" | "layout" | "tokens">

/** How long a version stays chosen before the service is asked about it, in milliseconds: who steps on does not wait. */
const pause = 120

const keyOf = ({ role, parts }: Message.Message): string => JSON.stringify([role, parts])

/** The context of the service, with the message indexes of the messages that the log has as well. */
const withSources = (exact: Omit<Shown, "sources">, local: Shown): Shown => {
  const places = new Map<string, Array<number | null>>()
  for (const [at, message] of local.messages.entries()) {
    const key = keyOf(message)
    places.set(key, [...(places.get(key) ?? []), local.sources[at] ?? null])
  }
  return { ...exact, sources: exact.messages.map((message) => places.get(keyOf(message))?.shift() ?? null) }
}

/**
 * The context at a version.
 *
 * The engine's own rendering knows the log of the session, and not the facts of memory layers or the settings of the service: so the
 * service has the last word.
 */
export const useContextAt = (timeline: Timeline, version: number, changes: number): Shown => {
  const local = useMemo<Shown>(() => Render.render(timeline.at(version)), [timeline, version])
  const { answer } = useAnswer<Omit<Shown, "sources">>(
    ofSession(timeline.session, "/context"),
    { query: { atVersion: version, format: "memfold" } },
    { pause, again: changes },
  )
  return useMemo(() => (answer === null ? local : withSources(answer, local)), [answer, local])
}
