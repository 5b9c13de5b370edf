/** Responses that are kept: as what messages they are stored, and how they are read again and deleted. */
import { type Fields, pagesBack } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Responses as Codec } from "@memfold/openai"
import { isConversationId, sessionOf } from "./ids.js"
import { itemPage, type ItemPage, itemsBack, itemsOf, messagesOf } from "./items.js"
import { deleteWithRegister, readRegister, record } from "./register.js"
import type { Store } from "./Store.js"

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

/** The messages that a response is stored as. The last one has what is kept of it. */
export const answerMessages = (response: Fields, isStored: boolean): ReadonlyArray<Message.Message> => {
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

/** Where a response stands in a session. */
export type Found = Codec.Place & { readonly session: string }

/** The stored responses of a store. */
export class KeptResponses {
  constructor(private readonly store: Store) {}

  async find(id: string): Promise<Found | null> {
    const session = sessionOf(id)
    if (session === null) return null
    const place = await Codec.find(this.store, session, id)
    if (place === undefined) return null
    const { deletedResponses } = await readRegister(this.store, session)
    return deletedResponses.has(id) ? null : { ...place, session }
  }

  /** What is kept of the response that ends at an index. */
  async keptAt(session: string, branch: number, index: number): Promise<Kept | null> {
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
    for await (const page of pagesBack(this.store, session, { branch, limit: 100 })) {
      found.unshift(...page.messages.slice(Math.max(to - count - page.from, 0), Math.max(to - page.from, 0)))
      if (page.from <= to - count) break
    }
    return found
  }

  async retrieve(id: string): Promise<Fields | null> {
    const found = await this.find(id)
    if (found === null) return null
    const { session, branch, index } = found
    const kept = await this.keptAt(session, branch.id, index)
    if (kept === null) return null
    const messages =
      kept.messages === 0 ? [] : await this.messagesUpTo(session, branch.id, index + 1, kept.messages)
    return { ...kept.response, output: itemsOf(messages) }
  }

  /** Deletes a response; its session as well if it was the last one there, and no conversation. */
  async delete(session: string, id: string): Promise<void> {
    // A store that holds the session refuses the deletion: then the response is not taken for deleted either.
    if (isConversationId(session) || !(await this.deleteWithLast(session, id)))
      await record(this.store, session, { is: "response-deleted", response: id })
  }

  /** Answers whether it was the last one; if not, nothing is changed. */
  private async deleteWithLast(session: string, last: string): Promise<boolean> {
    const { deletedResponses, background } = await readRegister(this.store, session)
    const isKept = (id: string): boolean => id !== last && !deletedResponses.has(id)
    const isLeft = (message: Message.Message): boolean => {
      const id = keptOf(message)?.response["id"]
      return typeof id === "string" && sessionOf(id) === session && isKept(id)
    }
    if ([...background.keys()].some(isKept) || (await this.store.versionsOf(session, isLeft)).length > 0)
      return false
    await deleteWithRegister(this.store, session)
    return true
  }

  /** The items that a response was made from, as they were said. */
  async inputItems({ session, branch, index }: Found, page: ItemPage): Promise<Fields> {
    const kept = await this.keptAt(session, branch.id, index)
    const before = index + 1 - Math.max(kept?.messages ?? 1, 1)
    return await itemPage(itemsBack(this.store, session, { branch: branch.id, before }), page)
  }
}
