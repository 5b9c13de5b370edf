/** A request with its context: what the model is asked. */
import type { Fields } from "@memfold/codec"
import type { Message, Session } from "@memfold/core"
import { begunResponse, type Beginning } from "./envelope.js"
import { messagesOf } from "./items.js"
import type { Place, Places } from "./Places.js"
import { registerOf } from "./register.js"
import { secondsOf, type Store } from "./Store.js"
import type { Asker, ConversationUpstream, Question } from "./upstream.js"

/** A request whose place is known, and the id of its response. */
export interface Placed {
  readonly body: Fields
  readonly asker: Asker
  readonly place: Place
  readonly id: string
}

/** A request with its context, before the model is asked. */
export interface Composed {
  readonly place: Place
  readonly upstream: ConversationUpstream
  readonly question: Question
  readonly beginning: Beginning
  readonly items: ReadonlyArray<Fields>
  readonly input: ReadonlyArray<Message.Message>
  readonly prefix: Session.Prefix
}

/**
 * Puts the input of a request behind what was said at its place.
 *
 * @throws MayNotBegin: a session may not begin that the answer is written to
 */
export const compose = async (
  store: Store,
  places: Places,
  { body, asker: { upstream, rawHeaders, mayBegin }, place, id }: Placed,
): Promise<Composed> => {
  await mayBegin(place.session)
  if (body["background"] === true) await mayBegin(registerOf(place.session))
  const items = await places.inputOf(body, place)
  const input = messagesOf(items)
  const { messages, prefix } = await places.contextOf(place, input)
  const time = () => secondsOf(store)
  const { previous, conversation } = place
  const beginning: Beginning = { id, created: await time(), previous, conversation }
  const question = { body, messages, rawHeaders, begun: begunResponse(body, beginning), time }
  return { place, upstream, question, beginning, items, input, prefix }
}
