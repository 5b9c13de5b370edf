/** Whether a session may begin. */

/** Rejects if a session may not begin that is not there yet. */
export type Begins = (session: string) => Promise<void>

/** A session may not begin: there are too many. */
export class MayNotBegin extends Error {
  override readonly name = "MayNotBegin"
}

/** Asks whether sessions may begin; without an answer to that, all may. Rejects with {@link MayNotBegin}. */
export const beginning =
  (mayBegin: Begins | undefined): Begins =>
  async (session) => {
    try {
      await mayBegin?.(session)
    } catch (error) {
      throw new MayNotBegin(`the session "${session}" may not begin: there are too many`, { cause: error })
    }
  }
