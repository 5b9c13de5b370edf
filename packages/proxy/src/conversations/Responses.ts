/** `/v1/responses`: answers that continue a response or a conversation, kept in sessions of the memory. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message, Session } from "@memfold/core"
import { createHash } from "node:crypto"
import { ApiError, invalid, notFound } from "./ApiError.js"
import { Background, type Job } from "./Background.js"
import { begunResponse, type Beginning, ownResponse } from "./envelope.js"
import { eventsFrom } from "./events.js"
import { isConversationId, responseId, sessionOf } from "./ids.js"
import { type ItemPage, itemsBack, messagesOf } from "./items.js"
import { answerMessages, type Found, KeptResponses } from "./KeptResponses.js"
import { type Place, Places } from "./Places.js"
import { checkMetadata, record } from "./register.js"
import { secondsOf, type Store } from "./Store.js"
import type { ConversationUpstream, Question, Refusal, Sent, Upstreams } from "./upstream.js"
import { UpstreamBroke } from "./UpstreamBroke.js"

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

/** A request with its context, before the model is asked. */
interface Prepared {
  readonly place: Place
  readonly upstream: ConversationUpstream
  readonly question: Question
  readonly beginning: Beginning
  readonly items: ReadonlyArray<Fields>
  /** The items as messages. */
  readonly input: ReadonlyArray<Message.Message>
  readonly prefix: Session.Prefix
}

/** What tells the input of a request from another one: its items, but for ids that they got here. */
const textOf = (items: ReadonlyArray<Fields>): string =>
  JSON.stringify(items.map(({ id: _id, ...item }) => item))

const digestOf = (items: ReadonlyArray<Fields>): string =>
  createHash("sha256").update(textOf(items)).digest("hex")

const keyReused = (): ApiError =>
  new ApiError(
    409,
    "The idempotency key was used before for another request. Use a new key for each request.",
    { code: "idempotency_key_reused" },
  )

/** Responses over a store. */
export class StoredResponses {
  /** Conversations that an answer is being written for. */
  private readonly busy = new Set<string>()
  /** Answers under way, by the ids of their responses. */
  private readonly underWay = new Map<string, Promise<unknown>>()
  private readonly kept: KeptResponses
  private readonly background: Background
  readonly places: Places

  /**
   * @param store - the memory
   * @param upstreams - asks models
   * @param onCall - is told of each call of a model that was stored, for summaries by this model
   */
  constructor(
    private readonly store: Store,
    private readonly upstreams: Upstreams,
    private readonly onCall: (session: string, sent: Sent, answer: ReadonlyArray<Message.Message>) => void,
  ) {
    this.kept = new KeptResponses(store)
    this.background = new Background(store)
    this.places = new Places(store, this.kept)
  }

  /** Fails if an answer is being written for a conversation. */
  checkFree(conversation: string): void {
    if (this.busy.has(conversation))
      throw new ApiError(
        409,
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
        { code: "conversation_locked" },
      )
  }

  /** Answers a request: with the response to an earlier one with its key, and otherwise by the upstream. */
  async create(body: Fields, asker: Asker): Promise<Answered> {
    checkRequest(body)
    const place = await this.places.placeOf(body, asker.key)
    const id = responseId(place.session, asker.key)
    const before = asker.key === null ? null : await this.earlier(id, body, place)
    if (before !== null) return before
    const done = this.begin(id, place)
    const isBackground = body["background"] === true
    let answer: Answered
    try {
      const prepared = await this.prepare(body, asker, place, id)
      answer = isBackground ? await this.accept(prepared, done) : await this.answer(prepared)
    } catch (error) {
      await this.places.drop(place)
      done()
      throw error
    }
    if (isBackground) return answer
    if (answer._tag !== "Stream") {
      if (answer._tag === "Refusal") await this.places.drop(place)
      done()
      return answer
    }
    const { events } = answer
    const { drop } = this.places
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
  private async earlier(id: string, body: Fields, place: Place): Promise<Answered | null> {
    const asked = await this.background.asked(id)
    if (asked === null) {
      const found = await this.answered(id)
      if (found === null) return null
      await this.checkSame(found, body, place)
    } else if (asked !== digestOf(await this.places.inputOf(body, place))) throw keyReused()
    return body["stream"] === true
      ? { _tag: "Stream", events: await this.replay(id, -1) }
      : { _tag: "Whole", response: await this.retrieve(id) }
  }

  private async answered(id: string): Promise<Found | null> {
    for (;;) {
      const running = this.underWay.get(id)
      if (running === undefined) {
        const found = await this.kept.find(id)
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

  /** Fails if a key was used before for another input. */
  private async checkSame({ session, index, branch }: Found, body: Fields, place: Place): Promise<void> {
    const kept = await this.kept.keptAt(session, branch.id, index)
    const asked = await this.places.inputOf(body, place)
    const stored: Array<Fields> = []
    const end = index + 1 - (kept?.messages || 1)
    for await (const item of itemsBack(this.store, session, { branch: branch.id, before: end })) {
      if (stored.length === asked.length) break
      stored.unshift(item)
    }
    if (textOf(stored) !== textOf(asked)) throw keyReused()
  }

  /** What the model is asked. */
  private async prepare(
    body: Fields,
    { upstream, rawHeaders }: Asker,
    place: Place,
    id: string,
  ): Promise<Prepared> {
    const items = await this.places.inputOf(body, place)
    const input = messagesOf(items)
    const { messages, prefix } = await this.places.contextOf(place, input)
    const time = () => secondsOf(this.store)
    const beginning: Beginning = {
      id,
      created: await time(),
      previous: place.previous,
      conversation: place.conversation,
    }
    const begun = begunResponse(body, beginning)
    const question = { body, messages, rawHeaders, begun, time }
    return { place, upstream, question, beginning, items, input, prefix }
  }

  /** Asks the upstream, and stores its answer before the client is told of its end. */
  private async answer(
    { place, upstream, question, beginning, input, prefix }: Prepared,
    job?: Job,
  ): Promise<Answered> {
    const { body } = question
    const { session, conversation } = place
    const { id } = beginning
    const { signal } = job ?? {}
    const answer = await this.upstreams.respond(upstream, {
      ...question,
      ...(signal === undefined ? {} : { signal }),
    })
    if (answer._tag === "Refusal") return answer
    const { sent } = answer
    const isStored = body["store"] !== false
    const keep = async (response: Fields): Promise<void> => {
      if (response["status"] === "failed" || (!isStored && conversation === null)) return
      if (job !== undefined) await this.background.check(session, id, job)
      const said = answerMessages(response, isStored)
      await this.places.write(place, [...input, ...said], { prefix, idempotencyKey: id })
      this.onCall(session, sent, said)
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

  /** Accepts a response in the background. Its conversation is locked until it has ended. */
  private async accept(prepared: Prepared, done: () => void): Promise<Answered> {
    const { place, question, items } = prepared
    const { body, begun } = question
    const job = await this.background.start({
      session: place.session,
      response: { ...begun, status: "queued" },
      asked: digestOf(items),
      work: async (running) => {
        try {
          return await this.work(prepared, running)
        } catch (error) {
          await this.places.drop(place)
          throw error
        } finally {
          done()
        }
      },
    })
    return body["stream"] === true
      ? { _tag: "Stream", events: job.events(-1) }
      : { _tag: "Whole", response: { ...begun, status: "queued" } }
  }

  /** Answers a response in the background, and returns it as it ended. */
  private async work(prepared: Prepared, job: Job): Promise<Fields> {
    const answer = await this.answer(prepared, job)
    if (answer._tag === "Refusal")
      // What the upstream says may quote the request, and the register is not for that.
      throw new ApiError(answer.status, `The upstream refused the request with status ${answer.status}.`, {
        code: answer.status === 429 ? "rate_limit_exceeded" : "server_error",
      })
    if (answer._tag === "Whole") return answer.response
    let last: Fields = prepared.question.begun
    for await (const event of answer.events) {
      if (isFields(event["response"])) last = event["response"]
      if (event["type"] === "error") throw new UpstreamBroke()
      if (event["type"] !== "response.failed") job.tell(event)
    }
    return last
  }

  /** A response: stored, or under way in the background. */
  async retrieve(id: string): Promise<Fields> {
    const found = (await this.kept.retrieve(id)) ?? (await this.background.standing(id))
    if (found === null) throw notFound("Response", id, "response_not_found")
    return found
  }

  /** The events of a response, behind the one that a client has seen last. */
  async replay(id: string, after: number): Promise<AsyncIterable<Fields>> {
    const job = this.background.job(id)
    if (job !== undefined) return job.events(after)
    const response = await this.retrieve(id)
    return response["status"] === "in_progress" ? this.background.refuseStream() : eventsFrom(response, after)
  }

  /** Cancels a response in the background. One that has ended stays as it is. */
  async cancel(id: string): Promise<Fields> {
    const stored = await this.kept.retrieve(id)
    if (stored === null) {
      const cancelled = await this.background.cancel(id)
      // Its answer may have been stored meanwhile.
      if (cancelled !== null) return (await this.kept.retrieve(id)) ?? cancelled
      throw notFound("Response", id, "response_not_found")
    }
    if (stored["background"] !== true) throw new ApiError(400, "Cannot cancel a synchronous response.")
    return stored
  }

  /** Deletes a response; one that is under way is cancelled. A chain without any response left is deleted with its log. */
  async delete(id: string): Promise<Fields> {
    await this.retrieve(id)
    const session = sessionOf(id)!
    const job = this.background.job(id)
    job?.cancel()
    await job?.done
    await record(this.store, session, { is: "response-deleted", response: id })
    if (!isConversationId(session)) await this.kept.deleteEmpty(session)
    return { id, object: "response", deleted: true }
  }

  /** The items that a response was made from, as they were said. */
  async inputItems(id: string, page: ItemPage): Promise<Fields> {
    const found = await this.kept.find(id)
    if (found !== null) return await this.kept.inputItems(found, page)
    const { status } = await this.retrieve(id)
    throw new ApiError(409, `The response is ${String(status)}: its items are stored with its answer.`, {
      code: "response_not_completed",
    })
  }

  /** Gives up the responses in the background. */
  stop(): Promise<void> {
    return this.background.stop()
  }

  /** Waits until the responses in the background have ended. */
  settled(): Promise<void> {
    return this.background.settled()
  }
}

/** Refuses what this server cannot do, before anything is asked. */
const checkRequest = (body: Fields): void => {
  checkMetadata(body["metadata"])
  if (body["background"] === true && body["store"] === false)
    throw invalid("background", "A response in the background is stored: 'background' needs 'store'.")
}
