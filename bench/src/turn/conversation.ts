/** The turns that this benchmark writes: a user message of 120 characters and a reply of 480. */

const words =
  "the order that I placed last week has not arrived yet and nobody could tell me where the parcel is or when it will come although I asked twice and gave the number of the order to everyone who wanted to know it "

/** A text of the given length that starts differently for each message. */
const textOf = (index: number, length: number): string =>
  `${index}: ${words.repeat(Math.ceil(length / words.length))}`.slice(0, length)

/** The texts of a turn. */
export interface Turn {
  readonly user: string
  readonly assistant: string
}

/** The turn at an index, from 0. */
export const turnAt = (index: number): Turn => ({
  user: textOf(2 * index, 120),
  assistant: textOf(2 * index + 1, 480),
})

/** How many turns of the session are written before anything is measured: 5,000 messages. */
export const turnsBefore = 2_500
