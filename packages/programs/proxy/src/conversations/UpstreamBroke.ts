/** An upstream whose answer is none. */
import { Unclear } from "../Unclear.js"

/** The upstream broke off within its answer. */
export class UpstreamBroke extends Error {
  override readonly name = "UpstreamBroke"
  constructor() {
    super("the upstream broke off within its answer")
  }
}

/** What a server says unclearly is no answer: a conversation that is kept here must know what was said in it. */
export const certain = <A>(read: () => A): A => {
  try {
    return read()
  } catch (error) {
    throw error instanceof Unclear ? new UpstreamBroke() : error
  }
}
