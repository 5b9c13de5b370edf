/** Rewriting a conversation in the format of the memory. */
import { Memory, type Message } from "@memfold/core"

/** How messages of a format are read and written, one by one. */
export interface ListCodec<Item> {
  readonly decode: (items: ReadonlyArray<Item>) => ReadonlyArray<Message.Message>
  /** The items of one message: some formats take several for one. */
  readonly encode: (message: Message.Message) => ReadonlyArray<Item>
}

const isList = <Item>(value: unknown): value is ReadonlyArray<Item> => Array.isArray(value)

/**
 * A rewrite of messages, made of one of items in a format. The messages at the beginning whose items come back as they were given
 * stay as they are; only what follows is read again.
 */
export const rewriteIn =
  <Item>(
    session: string,
    rewrite: (items: ReadonlyArray<Item>) => ReadonlyArray<Item> | null,
    { decode, encode }: ListCodec<Item>,
  ): Memory.Rewrite =>
  (messages) => {
    const given = messages.map(encode)
    const wanted: unknown = typeof rewrite === "function" ? rewrite(given.flat()) : undefined
    if (wanted === null) return null
    if (!isList<Item>(wanted)) {
      const detail = '"rewrite" must be a function that returns a list of messages, or null'
      throw new Memory.InvalidInput({ session, detail })
    }
    let [kept, at] = [0, 0]
    for (const items of given) {
      if (!items.every((item, offset) => wanted[at + offset] === item)) break
      kept++
      at += items.length
    }
    return [...messages.slice(0, kept), ...decode(wanted.slice(at))]
  }
