/** `/v1/responses`: answers that continue a response or a conversation, kept in sessions of the memory. */
import type { Fields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type Answered, answerOf, holding, lastOf } from "./answer.js"
import { ApiError, invalid, notFound } from "./ApiError.js"
import { Background, type Job } from "./Background.js"
import { type Composed, compose, type Placed } from "./compose.js"
import { eventsFrom } from "./events.js"
import { responseId, sessionOf } from "./ids.js"
import type { ItemPage } from "./items.js"
import { differs } from "../Follower.js"
import { answerMessages, KeptResponses } from "./KeptResponses.js"
import { Places } from "./Places.js"
import { checkMetadata } from "./register.js"
import { digestOf, type Earlier, wasAsked } from "./retries.js"
import type { Store } from "./Store.js"
import { type Hold, UnderWay } from "./UnderWay.js"
import type { Asker, Sent, Upstreams } from "./upstream.js"

/** Refuses what this server cannot do, before anything is asked. */
const checkRequest = (body: Fields): void => {
  checkMetadata(body["metadata"])
  if (body["background"] === true && body["store"] === false)
    throw invalid("background", "A response in the background is stored: 'background' needs 'store'.")
}

/** Responses over a store. */
export class StoredResponses implements Earlier {
  readonly kept: KeptResponses
  readonly background: Background
  readonly places: Places
  readonly underWay: UnderWay

  /**
   * @param store - the memory
   * @param upstreams - asks models
   * @param onCall - is told of each call of a model that was stored, for summaries by this model
   */
  constructor(
    readonly store: Store,
    private readonly upstreams: Upstreams,
    private readonly onCall: (
      session: string,
      sent: Sent & { readonly isGuarded: boolean },
      answer: ReadonlyArray<Message.Message>,
    ) => void,
  ) {
    this.kept = new KeptResponses(store)
    this.background = new Background(store)
    this.places = new Places(store, this.kept)
    this.underWay = new UnderWay(this.places.drop)
  }

  /** Answers a request: with the response to an earlier one with its key, and otherwise by the upstream. */
  async create(body: Fields, asker: Asker): Promise<Answered> {
    checkRequest(body)
    const place = await this.places.placeOf(body, asker)
    const placed: Placed = { body, asker, place, id: responseId(place.session, asker.key) }
    if (await wasAsked(this, placed)) return this.again(placed)
    const hold = this.underWay.begin(placed.id, place)
    try {
      const composed = await compose(this.store, this.places, placed)
      if (body["background"] === true) return await this.accept(composed, hold)
      const answer = await answerOf(this.upstreams, composed, (response, sent) =>
        this.keep(composed, response, sent),
      )
      return await holding(answer, hold)
    } catch (error) {
      await hold.giveUp()
      throw error
    }
  }

  private async again({ id, body }: Placed): Promise<Answered> {
    return body["stream"] === true
      ? { _tag: "Stream", events: await this.replay(id, -1) }
      : { _tag: "Whole", response: await this.retrieve(id) }
  }

  private async keep(composed: Composed, response: Fields, sent: Sent): Promise<void> {
    const { place, question, beginning, input, prefix } = composed
    const isStored = question.body["store"] !== false
    if (response["status"] === "failed" || (!isStored && place.conversation === null)) return
    const said = answerMessages(response, isStored)
    await this.places.write(place, [...input, ...said], { prefix, idempotencyKey: beginning.id })
    const messages = [...input, ...said]
    const isGuarded = differs(messages, await this.store.asStored(place.session, messages))
    this.onCall(place.session, { ...sent, isGuarded }, said)
  }

  /** Accepts a response in the background. Its conversation is held until it has ended. */
  private async accept(composed: Composed, hold: Hold): Promise<Answered> {
    const { place, question, items } = composed
    const response = { ...question.begun, status: "queued" }
    const job = await this.background.start({
      session: place.session,
      response,
      asked: digestOf(items),
      work: async (running) => {
        try {
          const ended = await this.work(composed, running)
          hold.done()
          return ended
        } catch (error) {
          await hold.giveUp()
          throw error
        }
      },
    })
    return question.body["stream"] === true
      ? { _tag: "Stream", events: job.events(-1) }
      : { _tag: "Whole", response }
  }

  /** Answers a response in the background, and returns it as it ended. */
  private async work(composed: Composed, job: Job): Promise<Fields> {
    const { place, beginning, question } = composed
    const keep = async (response: Fields, sent: Sent): Promise<void> => {
      if (response["status"] !== "failed") await this.background.check(place.session, beginning.id, job)
      await this.keep(composed, response, sent)
    }
    const answer = await answerOf(this.upstreams, composed, keep, job.signal)
    return await lastOf(answer, question.begun, (event) => job.tell(event))
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
    job?.abandon("cancelled")
    await job?.done
    await this.kept.delete(session, id)
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
}
