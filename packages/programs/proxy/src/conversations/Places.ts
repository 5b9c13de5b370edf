/** Where the input of a request stands: behind a response, at the end of a conversation, or at the beginning of a session. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message, Session } from "@memfold/core"
import { Predicate } from "effect"
import { Responses as Codec } from "@memfold/openai"
import { type ApiError, invalid, notFound } from "./ApiError.js"
import { belongsTo, chainId, isConversationId, sessionOf } from "./ids.js"
import { inputItems, isReference, itemsBack } from "./items.js"
import type { KeptResponses } from "./KeptResponses.js"
import type { Speaker } from "../speaker.js"
import { readConversation } from "./register.js"
import type { Store } from "./Store.js"
import type { Asker } from "./upstream.js"

/** Where the input of a request stands. */
export interface Place {
  readonly session: string
  /** The message index behind the response that it continues; `null` for the end of the conversation. */
  readonly from: number | null
  readonly previous: string | null
  readonly conversation: string | null
  /** Whether the session begins with this request. */
  readonly isNew: boolean
}

/** How often a write is tried again that another process was faster than. */
const mostTries = 100

/** The id of the conversation that a request names: by itself, or in an object. */
const namedIn = ({ conversation }: Fields): unknown =>
  isFields(conversation) ? conversation["id"] : conversation

const conversationIn = (body: Fields): string | null => {
  const id = namedIn(body)
  if (id === undefined || id === null) return null
  if (typeof id !== "string") throw invalid("conversation", "Invalid type for 'conversation'.")
  return id
}

const previousNotFound = (previous: unknown): ApiError =>
  invalid(
    "previous_response_id",
    `Previous response with id '${String(previous)}' not found.`,
    "previous_response_not_found",
  )

/**
 * Fails for a request that names what somebody else has said, as if it was not there.
 *
 * @param id - the conversation or the response in its path
 */
export const checkSpeaker = (id: string, body: Fields, speaker: Speaker): void => {
  const isForeign = (named: unknown): named is string =>
    typeof named === "string" && !belongsTo(sessionOf(named) ?? named, speaker)
  const { previous_response_id: previous } = body
  if (isForeign(previous)) throw previousNotFound(previous)
  for (const one of [id, namedIn(body)])
    if (isForeign(one))
      throw isConversationId(one)
        ? notFound("Conversation", one, "conversation_not_found")
        : notFound("Response", one, "response_not_found")
}

/** Whether a request continues something that is kept here. What is kept elsewhere has ids of another form. */
export const namesOwn = (body: Fields): boolean => {
  const { previous_response_id: previous } = body
  const conversation = namedIn(body)
  return (
    (typeof previous === "string" && sessionOf(previous) !== null) ||
    (typeof conversation === "string" && isConversationId(conversation))
  )
}

export class Places {
  constructor(
    private readonly store: Store,
    private readonly kept: KeptResponses,
  ) {}

  /** Where the input of a request goes. Nothing is written, except that a response of a conversation begins a copy. */
  async placeOf(
    body: Fields,
    { key, mayBegin, speaker }: Omit<Asker, "upstream" | "rawHeaders">,
  ): Promise<Place> {
    const { previous_response_id: previous } = body
    const conversation = conversationIn(body)
    if (previous !== undefined && previous !== null && conversation !== null)
      throw invalid(
        "previous_response_id",
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
        "mutually_exclusive_parameters",
      )
    if (conversation !== null) {
      await readConversation(this.store, conversation)
      return { session: conversation, from: null, previous: null, conversation, isNew: false }
    }
    if (previous === undefined || previous === null)
      return { session: chainId(key, speaker), from: null, previous: null, conversation: null, isNew: true }
    const place = typeof previous === "string" ? await this.kept.find(previous) : null
    if (place === null) throw previousNotFound(previous)
    const at = { from: place.index + 1, previous: String(previous), conversation: null }
    if (!isConversationId(place.session)) return { session: place.session, ...at, isNew: false }
    // What goes on from a response of a conversation is no part of the conversation.
    const session = chainId(key, speaker)
    await mayBegin(session)
    await this.store.fork(place.session, session).catch((error: unknown) => {
      if (!Predicate.isTagged(error, "CannotFork")) throw error
    })
    return { session, ...at, isNew: true }
  }

  /** Takes the session to the branch with the response that a request continues. The session must be the caller's for now. */
  private async goTo({ session, previous, from }: Place): Promise<number | null> {
    if (previous === null) return from
    const place = await Codec.find(this.store, session, previous)
    if (place === undefined) throw notFound("Response", previous, "response_not_found")
    if (place.branch.leftAt !== null) await this.store.checkout(session, place.branch.id)
    const { total } = await this.store.state(session)
    return place.index + 1 === total ? null : place.index + 1
  }

  /** The context with the input of a request behind its place. */
  contextOf(place: Place, messages: ReadonlyArray<Message.Message>): ReturnType<Store["context"]> {
    return this.store.inTurn(place.session, async () => {
      const from = await this.goTo(place)
      return await this.store.context(place.session, {
        draft: { messages, ...(from === null ? {} : { from }) },
      })
    })
  }

  /** Writes messages behind a place, in one batch. With an id, they are written once. */
  write(
    place: Place,
    messages: ReadonlyArray<Message.Message>,
    options: { readonly prefix: Session.Prefix; readonly idempotencyKey: string },
  ): Promise<void> {
    return this.store.inTurn(place.session, async () => {
      for (let tries = 1; ; tries++) {
        const from = await this.goTo(place)
        const { version } = await this.store.state(place.session)
        const given = place.conversation === null ? { ...options, ifVersion: version } : options
        try {
          if (from === null) await this.store.append(place.session, messages, given)
          else await this.store.edit(place.session, from, messages, given)
          return
        } catch (error) {
          if (!Predicate.isTagged(error, "VersionMismatch") || tries === mostTries) throw error
        }
      }
    })
  }

  /** The items of a request's input. Those that it refers to are in the conversation that it continues. */
  async inputOf({ input }: Fields, place: Place): Promise<ReadonlyArray<Fields>> {
    return inputItems(input ?? [], await this.referable(input, place))
  }

  private async referable(
    input: unknown,
    { session, isNew, previous }: Place,
  ): Promise<(id: string) => Fields | undefined> {
    const refers = Array.isArray(input) && input.some((item) => isFields(item) && isReference(item))
    if (!refers || (isNew && previous === null)) return () => undefined
    const items = new Map<unknown, Fields>()
    for await (const item of itemsBack(this.store, session)) items.set(item["id"], item)
    return (id) => items.get(id)
  }

  /** A copy of a conversation that no answer came for is not kept. */
  readonly drop = async ({ isNew, previous, session }: Place): Promise<void> => {
    if (isNew && previous !== null) await this.store.delete(session)
  }
}
