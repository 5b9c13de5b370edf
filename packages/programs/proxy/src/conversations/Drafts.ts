/** What is answered from the context that a request would have, without storing it: counting tokens, and compacting. */
import type { Fields } from "@memfold/codec"
import { Message, Prompt, TokenCounter } from "@memfold/core"
import { invalid } from "./ApiError.js"
import { begunResponse } from "./envelope.js"
import { itemId } from "./ids.js"
import { inputItems, itemsOf, messagesOf, shownItem, summaryItem } from "./items.js"
import { namesOwn, type Places } from "./Places.js"
import { secondsOf, type Store } from "./Store.js"
import { type Asker, type Refusal, statelessRequest, type Upstreams } from "./upstream.js"
import { UpstreamBroke } from "./UpstreamBroke.js"

/** The request of a route that answers without a model. */
const helperRequest = (body: Fields, messages: ReadonlyArray<Message.Message>): Fields => {
  const { store: _store, ...request } = statelessRequest({ body, messages })
  return request
}

/** Drafts of requests over a store. */
export class Drafts {
  constructor(
    private readonly store: Store,
    private readonly places: Places,
    private readonly upstreams: Upstreams,
  ) {}

  /** The context that a request would have, for routes that answer without a model. */
  private async drafted(body: Fields, asker: Asker) {
    const place = await this.places.placeOf(body, { ...asker, key: null })
    try {
      return await this.places.contextOf(place, messagesOf(await this.places.inputOf(body, place)))
    } finally {
      await this.places.drop(place)
    }
  }

  /** How many tokens a request would have: as the upstream counts, or as the memory estimates. */
  async inputTokens(body: Fields, asker: Asker): Promise<Refusal | Fields> {
    const { messages, tokens } = await this.drafted(body, asker)
    const request = namesOwn(body) ? helperRequest(body, messages) : body
    const counted = await this.upstreams.helper("responses/input_tokens", asker, request)
    if (counted !== null) return counted
    const around = [body["instructions"], body["tools"]]
      .filter((one) => one !== undefined && one !== null)
      .map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
    const more = around.reduce((sum, text) => sum + TokenCounter.estimating.count(text), 0)
    return { object: "response.input_tokens", input_tokens: tokens + more }
  }

  /** A compacted conversation, as the upstream compacts it. */
  async compact(body: Fields, asker: Asker): Promise<Refusal | Fields> {
    if (typeof body["model"] !== "string")
      throw invalid("model", "Missing required parameter: 'model'.", "missing_required_parameter")
    const { messages } = await this.drafted(body, asker)
    const request = namesOwn(body) ? helperRequest(body, messages) : body
    const compacted = await this.upstreams.helper("responses/compact", asker, request)
    return compacted ?? (await this.compacted(body, messages, asker))
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
    const time = () => secondsOf(this.store)
    const created = await time()
    const id = `resp_${itemId("compaction").slice("cmp_".length)}`
    const begun = begunResponse({ model }, { id, created, previous: null, conversation: null })
    const asked = [Message.system(prompt.system), Message.user(prompt.user)]
    const question = { body: { model }, messages: asked, rawHeaders, begun, time }
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
