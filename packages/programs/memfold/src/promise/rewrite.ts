/** Rewriting a conversation in the format of the memory. */
import type { Memory, Message } from "@memfold/core"

/** How messages of a format are read and written, one by one. */
export interface ListCodec<Item> {
  readonly decode: (items: ReadonlyArray<Item>) => ReadonlyArray<Message.Message>
  /** The items of one message: some formats take several for one. */
  readonly encode: (message: Message.Message) => ReadonlyArray<Item>
}

/**
 * A rewrite of messages, made of one of items in a format. The messages at the beginning whose items come back as they were given
 * stay as they are; only what follows is read again.
 */
export const rewriteIn =
  <Item>(
    rewrite: (items: ReadonlyArray<Item>) => ReadonlyArray<Item> | null,
    { decode, encode }: ListCodec<Item>,
  ): Memory.Rewrite =>
  (messages) => {
    const given = messages.map(encode)
    const wanted = rewrite(given.flat())
    if (wanted === null) return null
    let [kept, at] = [0, 0]
    for (const items of given) {
      if (!items.every((item, offset) => wanted[at + offset] === item)) break
      kept++
      at += items.length
    }
    return [...messages.slice(0, kept), ...decode(wanted.slice(at))]
  }
