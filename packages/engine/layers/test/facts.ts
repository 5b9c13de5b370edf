/** Facts and sessions for tests. */
import { type Event, type Message, Session } from "@memfold/core"
import { Effect } from "effect"
import type { Extractor, Found, Material } from "../src/Extractor.js"

/** A fact in force; of the scope unless said otherwise. */
export const known = (
  id: string,
  text: string,
  options: Partial<Session.KnownFact> = {},
): Session.KnownFact => ({
  id,
  layer: "scope",
  kind: "digest",
  text,
  from: 0,
  to: 1,
  time: 0,
  ...options,
})

/** A session that consists of these messages and these facts of its own. */
export const sessionOf = (
  messages: ReadonlyArray<Message.Message>,
  {
    session = "s",
    facts = [],
  }: { readonly session?: string; readonly facts?: ReadonlyArray<Session.KnownFact> } = {},
): Session.SessionState => {
  const events: ReadonlyArray<Event.Event> = messages.map((message, index) => ({
    _tag: "MessageAppended",
    index,
    message,
    tokens: 10,
  }))
  const recorded = events.map((event, position) => ({
    session,
    version: position + 1,
    id: `c.${position + 1}`,
    time: 1_700_000_000_000 + position,
    event,
  }))
  return { ...Session.fold(Session.empty(session), recorded), facts }
}

/** What an extractor finds, however it says it. */
export const foundBy = (extractor: Extractor, material: Material) =>
  Effect.map(extractor.extract(material), (found): Found => ("facts" in found ? found : { facts: found }))
