/**
 * Something that a format cannot express, so that encoding left it out.
 *
 * - `message`: the position of the message in the list that was encoded, from 0
 * - `part`: the type of the part (`file`, `reasoning`, `opaque`, …), or `name` for the author's name, or `is-error` for
 *   the mark of a failed tool call
 */
export interface Omitted {
  readonly message: number
  readonly part: string
}

/** Collects what the encoding of a conversation leaves out. */
export class Omissions {
  readonly all: Array<Omitted> = []
  /** The position of the message that is being encoded. */
  message = 0

  /** Notes a part of the message that is left out. Nothing is written in its place. */
  readonly add = (part: string): ReadonlyArray<never> => {
    this.all.push({ message: this.message, part })
    return []
  }
}
