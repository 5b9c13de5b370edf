/** A library with a memory of conversations, as its documentation shows a chat: an agent without tools, in one process. */

/** What the model gets in a call, as texts from oldest to newest, and what it says. */
export type Model = (prompt: ReadonlyArray<string>) => Promise<string>

/** An agent whose memory is in files of one folder. */
export interface Chat {
  /** Resolves when the library says that the turn is over. */
  readonly ask: (session: string, question: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** What a turn may take at most, measured by a turn of another neighbour of the library in the same run. */
export interface Bound {
  /** The name of the other neighbour. */
  readonly than: string
  /** So many times its processor time; once by default. */
  readonly times?: number
  /** And so many milliseconds of processor time more; none by default. */
  readonly more?: number
  /** Whether what it keeps on the disk is a bound, too. */
  readonly disk?: boolean
}

/** An agent of one library with one memory. */
export interface Neighbour {
  readonly name: string
  readonly bound?: Bound
  /** What the store waits for at a commit, or that there is none. */
  readonly durability: string
  readonly open: (folder: string, model: Model) => Promise<Chat>
}

/** How many of the newest messages a memory keeps word for word, where it has a number for that. */
export const kept = 40

/** Long enough a summary that a summarizer does not answer for free, and the same for all. */
export const summary = "The customer asked for the order. ".repeat(20)
