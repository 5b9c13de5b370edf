/** Answers that are being written in this process: one at a time for each conversation. */
import { ApiError } from "./ApiError.js"
import type { Place } from "./Places.js"

/** Keeps others away from a conversation while its answer is written. */
export interface Hold {
  /** The answer has ended. */
  readonly done: () => void
  /** No answer came. */
  readonly giveUp: () => Promise<void>
}

export class UnderWay {
  private readonly busy = new Set<string>()
  /** By the ids of their responses. */
  private readonly answers = new Map<string, Promise<void>>()

  /** @param drop - takes back what was begun at a place that gets no answer */
  constructor(private readonly drop: (place: Place) => Promise<void>) {}

  /** Fails if an answer is being written for a conversation. */
  checkFree(conversation: string): void {
    if (this.busy.has(conversation))
      throw new ApiError(
        409,
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
        { code: "conversation_locked" },
      )
  }

  /** Settled when the answer with an id has ended; `undefined` if it is not under way. */
  get(id: string): Promise<void> | undefined {
    return this.answers.get(id)
  }

  begin(id: string, place: Place): Hold {
    const { conversation } = place
    if (conversation !== null) {
      this.checkFree(conversation)
      this.busy.add(conversation)
    }
    let end = (): void => undefined
    this.answers.set(id, new Promise<void>((resolve) => (end = resolve)))
    const done = (): void => {
      if (conversation !== null) this.busy.delete(conversation)
      this.answers.delete(id)
      end()
    }
    return { done, giveUp: () => this.drop(place).finally(done) }
  }
}
