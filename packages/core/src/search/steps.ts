/** Work that is done in steps, so that other work of the process can be done between two of them. */
export type Steps<A> = Generator<undefined, A>

/** Does all steps at one go: for a little work, and where nothing can wait. */
export const atOnce = <A>(steps: Steps<A>): A => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
