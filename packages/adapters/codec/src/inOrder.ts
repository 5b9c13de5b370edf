/** Work on a session, one after the other within a process: an answer is stored before what is said next. */

const queues = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs work behind all earlier work on the same session of the same memory. Work that fails does not stop what comes behind
 * it.
 */
export const inOrder = <A>(memory: object, session: string, work: () => Promise<A>): Promise<A> => {
  const queue = queues.get(memory) ?? new Map<string, Promise<unknown>>()
  queues.set(memory, queue)
  const result = (queue.get(session) ?? Promise.resolve()).then(work)
  const settle = async () => {
    try {
      await result
    } catch {
      // The caller has the error.
    }
  }
  const ended = settle()
  queue.set(session, ended)
  const forget = async () => {
    await ended
    // The last one leaves nothing behind.
    if (queue.get(session) === ended) queue.delete(session)
  }
  void forget()
  return result
}
