/** `/v1/responses`: answers that continue a response or a conversation, kept in sessions of the memory. */
import { type Fields, isFields } from "@memfold/codec"
import { type Memory, Message, Prompt, type Session, TokenCounter } from "@memfold/core"
import { Responses as Codec } from "@memfold/openai"
import { ApiError, invalid, notFound } from "./ApiError.js"
import { begunResponse, type Beginning, ownResponse } from "./envelope.js"
import { eventsOf } from "./events.js"
import { chainId, isConversationId, itemId, responseId, sessionOf } from "./ids.js"
import {
  inputItems,
  itemPage,
  type ItemPage,
  itemsBack,
  itemsOf,
  messagesOf,
  shownItem,
  summaryItem,
} from "./items.js"
import { checkMetadata, deleteWithRegister, readRegister, record } from "./register.js"
import type { Store } from "./Store.js"
import {
  type ConversationUpstream,
  type Question,
  type Refusal,
  type Sent,
  statelessRequest,
  UpstreamBroke,
  type Upstreams,
} from "./upstream.js"

/** What of a request is not in its body. */
export interface Asker {
  readonly upstream: ConversationUpstream
  readonly rawHeaders: ReadonlyArray<string>
  /** Who asks and the key of the request, for requests that may be sent again; `null` without a key. */
  readonly key: ReadonlyArray<string> | null
}

/** An answer for the client. */
export type Answered =
  | Refusal
  | { readonly _tag: "Whole"; readonly response: Fields }
  | { readonly _tag: "Stream"; readonly events: AsyncIterable<Fields> }

/** Where the input of a request stands. */
interface Place {
  readonly session: string
  /** The message index behind the response that it continues; `null` for the end of the conversation. */
  readonly from: number | null
  readonly previous: string | null
  readonly conversation: string | null
  /** Whether the session begins with this request. */
  readonly isNew: boolean
}

/** The name of what this module keeps in the metadata of the last message of an answer. */
const own = "memfold-response"

/** What is kept of a response beside its output. */
interface Kept {
  readonly response: Fields
  /** How many messages its output is. */
  readonly messages: number
}

const keptOf = (message: Message.Message | undefined): Kept | null =>
  (message?.metadata?.[own] as Kept | undefined) ?? null

/** How often a write is tried again that another process was faster than. */
const mostTries = 100

const isMismatch = (error: unknown): boolean => isFields(error) && error["_tag"] === "VersionMismatch"
const isTaken = (error: unknown): boolean => isFields(error) && error["_tag"] === "CannotFork"

const conversationIn = (value: unknown): string | null => {
  const id = isFields(value) ? value["id"] : value
  if (id === undefined || id === null) return null
  if (typeof id !== "string") throw invalid("conversation", "Invalid type for 'conversation'.")
  return id
}

/** Whether a request continues something that is kept here. What is kept elsewhere has ids of another form. */
export const namesOwn = (body: Fields): boolean => {
  const { previous_response_id: previous } = body
  const conversation = isFields(body["conversation"]) ? body["conversation"]["id"] : body["conversation"]
  return (
    (typeof previous === "string" && sessionOf(previous) !== null) ||
    (typeof conversation === "string" && isConversationId(conversation))
  )
}

/** Responses over a store. */
export class StoredResponses {
  /** Conversations that an answer is being written for. */
  private readonly busy = new Set<string>()
  /** Answers under way, by the ids of their responses. */
  private readonly underWay = new Map<string, Promise<unknown>>()

  /**
   * @param store - the memory
   * @param upstreams - asks models
   * @param onCall - is told of each call of a model that was stored, for summaries by this model
   */
  constructor(
    private readonly store: Store,
    private readonly upstreams: Upstreams,
    private readonly onCall: (session: string, sent: Sent, answer: ReadonlyArray<Message.Message>) => void,
  ) {}

  private readonly time = async (): Promise<number> => Math.floor((await this.store.now()) / 1_000)

  /** Fails if an answer is being written for a conversation. */
  checkFree(conversation: string): void {
    if (this.busy.has(conversation))
      throw new ApiError(
        409,
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
        { code: "conversation_locked" },
      )
  }

  /** Fails unless there is a conversation with this id. */
  async checkConversation(id: string): Promise<void> {
    const register = isConversationId(id) ? await readRegister(this.store, id) : null
    if (register === null || register.created === null || register.isDeleted)
      throw notFound("Conversation", id, "conversation_not_found")
  }

  /** Finds a response; `null` if there is none. */
  private async find(id: string): Promise<(Codec.Place & { readonly session: string }) | null> {
    const session = sessionOf(id)
    if (session === null) return null
    const place = await Codec.find(this.store, session, id)
    if (place === undefined) return null
    const { deletedResponses } = await readRegister(this.store, session)
    return deletedResponses.has(id) ? null : { ...place, session }
  }

  private async found(id: string) {
    const place = await this.find(id)
    if (place === null) throw notFound("Response", id, "response_not_found")
    return place
  }

  /** Where the input of a request goes. Nothing is written, except that a response of a conversation begins a copy. */
  private async placeOf(body: Fields, key: Asker["key"]): Promise<Place> {
    const { previous_response_id: previous } = body
    const conversation = conversationIn(body["conversation"])
    if (previous !== undefined && previous !== null && conversation !== null)
      throw invalid(
        "previous_response_id",
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
        "mutually_exclusive_parameters",
      )
    if (conversation !== null) {
      await this.checkConversation(conversation)
      return { session: conversation, from: null, previous: null, conversation, isNew: false }
    }
    if (previous === undefined || previous === null)
      return { session: chainId(key), from: null, previous: null, conversation: null, isNew: true }
    const place = typeof previous === "string" ? await this.find(previous) : null
    if (place === null)
      throw invalid(
        "previous_response_id",
        `Previous response with id '${String(previous)}' not found.`,
        "previous_response_not_found",
      )
    const at = { from: place.index + 1, previous: String(previous), conversation: null }
    if (!isConversationId(place.session)) return { session: place.session, ...at, isNew: false }
    // What goes on from a response of a conversation is no part of the conversation.
    const session = chainId(key)
    await this.store.fork(place.session, session).catch((error: unknown) => {
      if (!isTaken(error)) throw error
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
  private contextOf(place: Place, messages: ReadonlyArray<Message.Message>) {
    return this.store.inTurn(place.session, async () => {
      const from = await this.goTo(place)
      return await this.store.context(place.session, {
        draft: { messages, ...(from === null ? {} : { from }) },
      })
    })
  }

  /** Writes messages behind a place, in one batch. With an id, they are written once. */
  private write(
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
          if (!isMismatch(error) || tries === mostTries) throw error
        }
      }
    })
  }

  /** The items that references of an input can name: those of the conversation that it continues. */
  private async referable(
    input: unknown,
    { session, isNew, previous }: Place,
  ): Promise<(id: string) => Fields | undefined> {
    const isReference = (item: unknown) =>
      isFields(item) &&
      (item["type"] === "item_reference" || (item["type"] === undefined && item["role"] === undefined))
    if (!Array.isArray(input) || !input.some(isReference) || (isNew && previous === null))
      return () => undefined
    const items = new Map<unknown, Fields>()
    for await (const item of itemsBack(this.store, session)) items.set(item["id"], item)
    return (id) => items.get(id)
  }

  /** The messages that a response is stored as. The last one has what is kept of it. */
  private answerMessages(response: Fields, isStored: boolean): ReadonlyArray<Message.Message> {
    const { output, ...rest } = response
    const decoded = messagesOf(isStored ? response : output)
    // A response without output is found by its last message, too.
    const messages: ReadonlyArray<Message.Message> =
      decoded.length === 0 ? [{ role: "assistant", parts: [{ type: "text", text: "" }] }] : decoded
    const last = messages.at(-1)
    if (!isStored || last === undefined) return decoded
    const kept: Kept = { response: rest, messages: decoded.length }
    const id = { response: { id: response["id"] } }
    const metadata = decoded.length === 0 ? { "openai-responses": id } : last.metadata
    return [...messages.slice(0, -1), { ...last, metadata: { ...metadata, [own]: kept } }]
  }

  /** Answers a request: with a stored response if its key was used before, and otherwise by the upstream. */
  async create(body: Fields, asker: Asker): Promise<Answered> {
    checkRequest(body)
    const place = await this.placeOf(body, asker.key)
    const id = responseId(place.session, asker.key)
    const before = asker.key === null ? null : await this.earlier(id)
    if (before !== null) {
      await this.checkSame(before, body, place)
      const response = await this.retrieve(id)
      return body["stream"] === true
        ? { _tag: "Stream", events: streamed(response) }
        : { _tag: "Whole", response }
    }
    const done = this.begin(id, place)
    let answer: Answered
    try {
      answer = await this.ask(body, asker, place, id)
    } catch (error) {
      await this.drop(place)
      done()
      throw error
    }
    if (answer._tag !== "Stream") {
      if (answer._tag === "Refusal") await this.drop(place)
      done()
      return answer
    }
    const { events } = answer
    const { drop } = this
    return {
      _tag: "Stream",
      events: (async function* () {
        try {
          yield* events
        } catch (error) {
          await drop(place)
          throw error
        } finally {
          done()
        }
      })(),
    }
  }

  /** The response to an earlier request with the same key. A request that is sent again while its answer comes waits for it. */
  private async earlier(id: string) {
    for (;;) {
      const running = this.underWay.get(id)
      if (running === undefined) {
        const found = await this.find(id)
        if (found !== null || !this.underWay.has(id)) return found
      }
      await running
    }
  }

  /** Notes that an answer is being written, until what it returns is called. */
  private begin(id: string, { conversation }: Place): () => void {
    if (conversation !== null) {
      this.checkFree(conversation)
      this.busy.add(conversation)
    }
    let end = (): void => undefined
    this.underWay.set(id, new Promise<void>((resolve) => (end = resolve)))
    return () => {
      if (conversation !== null) this.busy.delete(conversation)
      this.underWay.delete(id)
      end()
    }
  }

  /** A copy of a conversation that no answer came for is not kept. */
  private readonly drop = async ({ isNew, previous, session }: Place): Promise<void> => {
    if (isNew && previous !== null) await this.store.delete(session)
  }

  /** Fails if a key was used before for another input. */
  private async checkSame(
    { session, index, branch }: Codec.Place & { readonly session: string },
    body: Fields,
    place: Place,
  ) {
    const kept = await this.keptAt(session, branch.id, index)
    const find = await this.referable(body["input"], place)
    const asked = inputItems(body["input"] ?? [], find)
    const stored: Array<Fields> = []
    const end = index + 1 - (kept?.messages || 1)
    for await (const item of itemsBack(this.store, session, { branch: branch.id, before: end })) {
      if (stored.length === asked.length) break
      stored.unshift(item)
    }
    const text = (items: ReadonlyArray<Fields>) => JSON.stringify(items.map(({ id: _id, ...item }) => item))
    if (text(stored) !== text(asked))
      throw new ApiError(
        409,
        "The idempotency key was used before for another request. Use a new key for each request.",
        { code: "idempotency_key_reused" },
      )
  }

  /** Asks the upstream, and stores its answer before the client is told of its end. */
  private async ask(
    body: Fields,
    { upstream, rawHeaders }: Asker,
    place: Place,
    id: string,
  ): Promise<Answered> {
    const items = inputItems(body["input"] ?? [], await this.referable(body["input"], place))
    const input = messagesOf(items)
    const { messages, prefix } = await this.contextOf(place, input)
    const beginning: Beginning = {
      id,
      created: await this.time(),
      previous: place.previous,
      conversation: place.conversation,
    }
    const question: Question = {
      body,
      messages,
      rawHeaders,
      begun: begunResponse(body, beginning),
      time: this.time,
    }
    const answer = await this.upstreams.respond(upstream, question)
    if (answer._tag === "Refusal") return answer
    const { sent } = answer
    const isStored = body["store"] !== false
    const keep = async (response: Fields): Promise<void> => {
      if (response["status"] === "failed" || (!isStored && place.conversation === null)) return
      const said = this.answerMessages(response, isStored)
      await this.write(place, [...input, ...said], { prefix, idempotencyKey: id })
      this.onCall(place.session, sent, said)
    }
    if (answer._tag === "Whole") {
      const response = ownResponse(answer.response, body, beginning)
      await keep(response)
      return { _tag: "Whole", response }
    }
    const { events } = answer
    return {
      _tag: "Stream",
      events: (async function* () {
        let hasEnded = false
        for await (const event of events) {
          const { type, response: told } = event
          if (!isFields(told)) {
            hasEnded ||= type === "error"
            yield event
            continue
          }
          const response = ownResponse(told, body, beginning)
          const isEnd = type === "response.completed" || type === "response.incomplete"
          if (isEnd) await keep(response)
          hasEnded ||= isEnd || type === "response.failed"
          yield { ...event, response }
        }
        if (!hasEnded) throw new UpstreamBroke()
      })(),
    }
  }

  private async keptAt(session: string, branch: number, index: number): Promise<Kept | null> {
    const messages = await this.messagesUpTo(session, branch, index + 1, 1)
    return keptOf(messages.at(-1))
  }

  /** The messages `[to - count, to)` of a branch. */
  private async messagesUpTo(
    session: string,
    branch: number,
    to: number,
    count: number,
  ): Promise<ReadonlyArray<Message.Message>> {
    const found: Array<Message.Message> = []
    let before: string | null | undefined
    while (before !== null) {
      const page: Memory.MessagePage = await this.store.messages(session, {
        branch,
        limit: 100,
        ...(before === undefined ? {} : { before }),
      })
      found.unshift(...page.messages.slice(Math.max(to - count - page.from, 0), Math.max(to - page.from, 0)))
      if (page.from <= to - count) break
      before = page.before
    }
    return found
  }

  /** A stored response. */
  async retrieve(id: string): Promise<Fields> {
    const { session, branch, index } = await this.found(id)
    const kept = await this.keptAt(session, branch.id, index)
    if (kept === null) throw notFound("Response", id, "response_not_found")
    const messages =
      kept.messages === 0 ? [] : await this.messagesUpTo(session, branch.id, index + 1, kept.messages)
    return { ...kept.response, output: itemsOf(messages) }
  }

  /** Deletes a response. A chain without any response left is deleted with its log. */
  async delete(id: string): Promise<Fields> {
    const { session } = await this.found(id)
    await record(this.store, session, { is: "response-deleted", response: id })
    if (!isConversationId(session) && !(await this.hasResponses(session)))
      await deleteWithRegister(this.store, session)
    return { id, object: "response", deleted: true }
  }

  private async hasResponses(session: string): Promise<boolean> {
    const { deletedResponses } = await readRegister(this.store, session)
    const isLeft = (message: Message.Message): boolean => {
      const id = keptOf(message)?.response["id"]
      return typeof id === "string" && sessionOf(id) === session && !deletedResponses.has(id)
    }
    return (await this.store.versionsOf(session, isLeft)).length > 0
  }

  /** The items that a response was made from, as they were said. */
  async inputItems(id: string, page: ItemPage): Promise<Fields> {
    const { session, branch, index } = await this.found(id)
    const kept = await this.keptAt(session, branch.id, index)
    const before = index + 1 - Math.max(kept?.messages ?? 1, 1)
    return await itemPage(itemsBack(this.store, session, { branch: branch.id, before }), page)
  }

  /** The context that a request would have, for routes that answer without a model. */
  private async drafted(body: Fields) {
    const place = await this.placeOf(body, null)
    try {
      const items = inputItems(body["input"] ?? [], await this.referable(body["input"], place))
      return await this.contextOf(place, messagesOf(items))
    } finally {
      await this.drop(place)
    }
  }

  /** How many tokens a request would have: as the upstream counts, or as the memory estimates. */
  async inputTokens(body: Fields, { upstream, rawHeaders }: Asker): Promise<Refusal | Fields> {
    const { messages, tokens } = await this.drafted(body)
    const request = namesOwn(body) ? helperRequest(body, messages) : body
    const counted = await this.upstreams.helper(upstream, "responses/input_tokens", { rawHeaders }, request)
    if (counted !== null) return counted
    const around = [body["instructions"], body["tools"]]
      .filter((one) => one !== undefined && one !== null)
      .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
    const more = around.reduce((sum, text) => sum + TokenCounter.estimating.count(text), 0)
    return { object: "response.input_tokens", input_tokens: tokens + more }
  }

  /** A compacted conversation, as the upstream compacts it. */
  async compact(body: Fields, { upstream, rawHeaders }: Asker): Promise<Refusal | Fields> {
    if (typeof body["model"] !== "string")
      throw invalid("model", "Missing required parameter: 'model'.", "missing_required_parameter")
    const { messages } = await this.drafted(body)
    const request = namesOwn(body) ? helperRequest(body, messages) : body
    const compacted = await this.upstreams.helper(upstream, "responses/compact", { rawHeaders }, request)
    return compacted ?? (await this.compacted(body, messages, { upstream, rawHeaders, key: null }))
  }

  /** A compaction by the model, where the upstream has none: what users said, and an item with a summary of all. */
  private async compacted(
    body: Fields,
    messages: ReadonlyArray<Message.Message>,
    { upstream, rawHeaders }: Asker,
  ): Promise<Refusal | Fields> {
    const { instructions, model } = body
    const prompt = Prompt.forRequest({
      session: "",
      kind: "history",
      from: 0,
      to: messages.length,
      previous: undefined,
      messages,
      messagesFrom: 0,
      replacesTokens: messages.reduce(
        (sum, one) => sum + TokenCounter.ofMessage(TokenCounter.estimating, one),
        0,
      ),
      instructions: typeof instructions === "string" ? instructions : undefined,
    })
    const created = await this.time()
    const id = `resp_${itemId("compaction").slice("cmp_".length)}`
    const begun = begunResponse({ model }, { id, created, previous: null, conversation: null })
    const asked = [Message.system(prompt.system), Message.user(prompt.user)]
    const question = { body: { model }, messages: asked, rawHeaders, begun, time: this.time }
    const answer = await this.upstreams.respond(upstream, question)
    if (answer._tag === "Refusal") return answer
    if (answer._tag === "Stream") throw new UpstreamBroke()
    const { output, usage } = answer.response
    const text = messagesOf(output).map(Message.text).join("\n").trim()
    if (text === "") throw new UpstreamBroke()
    const said = itemsOf(messages.filter(({ role }) => role === "user"))
    return {
      id,
      object: "response.compaction",
      created_at: created,
      output: [...inputItems(said).map((item) => shownItem(item, new Set())), summaryItem(text)],
      usage,
    }
  }
}

/** The request of a route that answers without a model. */
const helperRequest = (body: Fields, messages: ReadonlyArray<Message.Message>): Fields => {
  const { store: _store, ...request } = statelessRequest({ body, messages })
  return request
}

async function* streamed(response: Fields): AsyncGenerator<Fields, void, void> {
  yield* eventsOf(response)
}

/** Refuses what this server cannot do, before anything is asked. */
const checkRequest = (body: Fields): void => {
  checkMetadata(body["metadata"])
  if (body["background"] === true)
    throw invalid(
      "background",
      "This server answers while the client waits: 'background' is not supported.",
      "unsupported_parameter",
    )
}
