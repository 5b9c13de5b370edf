/** `/v1/conversations`: conversations with their items. Each is a session of the memory. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { invalid, notFound } from "./ApiError.js"
import { conversationId } from "./ids.js"
import {
  inputItems,
  itemPage,
  type ItemPage,
  itemsBack,
  itemsOf,
  listOf,
  messagesOf,
  shownItem,
} from "./items.js"
import { checkMetadata, readConversation, record, type Register, registerOf } from "./register.js"
import type { Store } from "./Store.js"
import type { Asker } from "./upstream.js"

/** How many items a request may add. */
const mostItems = 20

const shown = (id: string, { created, metadata }: Pick<Register, "created" | "metadata">): Fields => ({
  id,
  object: "conversation",
  created_at: Math.floor((created ?? 0) / 1_000),
  metadata,
})

/** The items of a request, as they are stored. */
const givenItems = (items: unknown): ReadonlyArray<Fields> => {
  if (!Array.isArray(items)) throw invalid("items", "Invalid type for 'items': expected an array.")
  if (items.length > mostItems)
    throw invalid(
      "items",
      `Invalid 'items': array too long. Expected at most ${mostItems}, but got ${items.length}.`,
      "array_above_max_length",
    )
  return inputItems(items)
}

/** Conversations over a store. */
export class StoredConversations {
  /**
   * @param store - the memory
   * @param checkFree - fails while an answer is being written for a conversation
   */
  constructor(
    private readonly store: Store,
    private readonly checkFree: (conversation: string) => void,
  ) {}

  async create({ items = [], metadata: given }: Fields, { mayBegin, speaker }: Asker): Promise<Fields> {
    const metadata = checkMetadata(given)
    const messages = messagesOf(givenItems(items ?? []))
    const id = conversationId(speaker)
    await mayBegin(registerOf(id))
    if (messages.length > 0) await mayBegin(id)
    const created = await this.store.now()
    await record(this.store, id, { is: "created", time: created, metadata })
    if (messages.length > 0) await this.store.append(id, messages)
    return shown(id, { created, metadata })
  }

  async retrieve(id: string): Promise<Fields> {
    return shown(id, await readConversation(this.store, id))
  }

  async update(id: string, body: Fields): Promise<Fields> {
    const { created } = await readConversation(this.store, id)
    const metadata = checkMetadata(body["metadata"])
    await record(this.store, id, { is: "metadata", metadata })
    return shown(id, { created, metadata })
  }

  /** Deletes a conversation. Its items stay: responses of it can still be read and continued. */
  async delete(id: string): Promise<Fields> {
    await readConversation(this.store, id)
    this.checkFree(id)
    await record(this.store, id, { is: "deleted" })
    return { id, object: "conversation.deleted", deleted: true }
  }

  async addItems(
    id: string,
    body: Fields,
    include: ReadonlySet<string>,
    { mayBegin }: Asker,
  ): Promise<Fields> {
    await readConversation(this.store, id)
    const items = givenItems(body["items"])
    const messages = messagesOf(items)
    this.checkFree(id)
    await mayBegin(id)
    await this.store.inTurn(id, () => this.store.append(id, messages))
    return listOf(
      items.map((item) => shownItem(item, include)),
      false,
    )
  }

  async listItems(id: string, page: ItemPage): Promise<Fields> {
    await readConversation(this.store, id)
    return await itemPage(itemsBack(this.store, id), page)
  }

  async retrieveItem(id: string, item: string, include: ReadonlySet<string>): Promise<Fields> {
    await readConversation(this.store, id)
    for await (const one of itemsBack(this.store, id)) if (one["id"] === item) return shownItem(one, include)
    throw notFound("Item", item, "item_not_found")
  }

  /**
   * Deletes an item: the conversation goes on without it, and its message is erased from the log. What a process that was killed
   * has left of the two is done by the next request.
   */
  async deleteItem(id: string, item: string): Promise<Fields> {
    const register = await readConversation(this.store, id)
    this.checkFree(id)
    await this.store.inTurn(id, async () => {
      const isIn = (message: Message.Message): boolean => itemsOf([message]).some((one) => one["id"] === item)
      const versions = await this.store.versionsOf(id, isIn)
      if (versions.length === 0) throw notFound("Item", item, "item_not_found")
      const [before] = await this.store.branches(id)
      await this.store.rewrite(id, (messages) =>
        messages.some(isIn)
          ? messages.flatMap((message) => (isIn(message) ? withoutItem(message, item) : [message]))
          : null,
      )
      await this.redactAll(id, versions).catch(async (error: unknown) => {
        // A store that holds the session erases nothing of it: then the item is in the conversation again.
        const after = await this.store.versionsOf(id, isIn)
        if (before !== undefined && after.length === versions.length) await this.store.checkout(id, before.id)
        throw error
      })
    })
    return shown(id, register)
  }

  private async redactAll(id: string, versions: ReadonlyArray<number>): Promise<void> {
    for (const version of versions) await this.store.redact(id, { version })
  }
}

/** A message without one of its items; none if that was all. What is kept of its response stays with it. */
const withoutItem = (message: Message.Message, item: string): ReadonlyArray<Message.Message> => {
  const messages = messagesOf(itemsOf([message]).filter((one) => one["id"] !== item))
  return messages.map((rest, at) => {
    if (at < messages.length - 1 || message.metadata === undefined) return rest
    const metadata: Record<string, unknown> = { ...message.metadata, ...rest.metadata }
    for (const [name, value] of Object.entries(message.metadata)) {
      const changed = rest.metadata?.[name]
      if (isFields(value) && "response" in value)
        metadata[name] = { ...(isFields(changed) ? changed : {}), response: value["response"] }
    }
    return { ...rest, metadata }
  })
}
