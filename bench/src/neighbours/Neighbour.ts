/** A library with a memory of conversations, as its documentation shows a chat: an agent without tools, in one process. */

/** What the model gets in a call, as texts from oldest to newest, and what it says. */
export type Model = (prompt: ReadonlyArray<string>) => Promise<string>

/** An agent whose memory is in files of one folder. */
export interface Chat {
  /** Resolves when the library says that the turn is over. */
  readonly ask: (session: string, question: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** An agent of one library with one memory. */
export interface Neighbour {
  readonly name: string
  /** What the store waits for at a commit, or that there is none. */
  readonly durability: string
  readonly open: (folder: string, model: Model) => Promise<Chat>
}

/** How many of the newest messages a memory keeps word for word, where it has a number for that. */
export const kept = 40

/** Long enough a summary that a summarizer does not answer for free, and the same for all. */
export const summary = "The customer asked for the order. ".repeat(20)
