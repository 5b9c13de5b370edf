/** Requests that are sent again with their idempotency key. */
import type { Fields } from "@memfold/codec"
import { createHash } from "node:crypto"
import { ApiError } from "./ApiError.js"
import type { Background } from "./Background.js"
import type { Placed } from "./compose.js"
import { itemsBack, itemsOf, messagesOf } from "./items.js"
import type { Found, KeptResponses } from "./KeptResponses.js"
import type { Places } from "./Places.js"
import type { Store } from "./Store.js"
import type { UnderWay } from "./UnderWay.js"

/** Where an earlier request can be found. */
export interface Earlier {
  readonly store: Store
  readonly kept: KeptResponses
  readonly background: Background
  readonly places: Places
  readonly underWay: UnderWay
}

/** What tells the input of a request from another one: its items, but for ids that they got here. */
const textOf = (items: ReadonlyArray<Fields>): string =>
  JSON.stringify(items.map(({ id: _id, ...item }) => item))

/** The input of a request, as a digest. */
export const digestOf = (items: ReadonlyArray<Fields>): string =>
  createHash("sha256").update(textOf(items)).digest("hex")

/** The response to an earlier request. While it is written, it is waited for. */
const found = async ({ kept, underWay }: Earlier, id: string): Promise<Found | null> => {
  for (;;) {
    const running = underWay.get(id)
    if (running === undefined) {
      const response = await kept.find(id)
      if (response !== null || underWay.get(id) === undefined) return response
    }
    await running
  }
}

/** Whether a response was made from this input. */
const isOf = async (
  { store, kept }: Earlier,
  { session, index, branch }: Found,
  asked: ReadonlyArray<Fields>,
): Promise<boolean> => {
  const response = await kept.keptAt(session, branch.id, index)
  const stored: Array<Fields> = []
  const end = index + 1 - (response?.messages || 1)
  for await (const item of itemsBack(store, session, { branch: branch.id, before: end })) {
    if (stored.length === asked.length) break
    stored.unshift(item)
  }
  // What the memory does not store is not compared.
  const items = itemsOf(await store.asStored(session, messagesOf(asked)))
  return textOf(stored) === textOf(items)
}

/**
 * Whether a request was made before.
 *
 * @throws ApiError: its key was used for another one
 */
export const wasAsked = async (earlier: Earlier, { body, asker, place, id }: Placed): Promise<boolean> => {
  if (asker.key === null) return false
  const accepted = await earlier.background.asked(id)
  const response = accepted === null ? await found(earlier, id) : null
  if (accepted === null && response === null) return false
  const items = await earlier.places.inputOf(body, place)
  const isSame = response === null ? accepted === digestOf(items) : await isOf(earlier, response, items)
  if (isSame) return true
  throw new ApiError(
    409,
    "The idempotency key was used before for another request. Use a new key for each request.",
    { code: "idempotency_key_reused" },
  )
}
