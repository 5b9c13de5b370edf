/** The part of the state that decides which bound parts are still valid. It has constant size. */

/** What the state knows about the prefix of its contexts, and about who may have answered what. */
export interface PrefixState {
  /** The version of the last event that changed the prefix; 0 if none has. */
  readonly changedAt: number
  /** How many messages the session had then: bound parts of the messages before are no longer valid. */
  readonly validFrom: number
  /**
   * The version of the last commit that changed contexts and left bound parts valid, and how many messages the session had
   * then; 0 if there is none.
   */
  readonly swappedAt: number
  readonly swappedTotal: number
  /** The messages before this index include all that have valid bound parts; 0 if none has. */
  readonly boundTo: number
  /** The batch id of the newest append, and the message index at which it starts. */
  readonly batch: string
  readonly batchFrom: number
  /**
   * The message index of the first input since the assistant last spoke: from there on a request may have been sent.
   * `null` if the newest message is the assistant's, or a call waits for an answer of the client.
   */
  readonly inputFrom: number | null
}

/** The prefix of a session without events. */
export const noPrefix: PrefixState = {
  changedAt: 0,
  validFrom: 0,
  swappedAt: 0,
  swappedTotal: 0,
  boundTo: 0,
  batch: "",
  batchFrom: 0,
  inputFrom: null,
}
