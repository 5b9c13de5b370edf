/** Ids of tool calls, as a provider accepts them. */
import { digest } from "./digest.js"
import { Queues } from "./Queues.js"
import type { Server } from "./servers.js"

/**
 * What a provider accepts as the id of a call, and whether an id may come again once its call has a result.
 *
 * - `length`: how long an id is that stands for another one, of letters and digits: up to 16; without it, `call_` is in front
 */
export interface IdRules {
  readonly pattern: RegExp
  readonly reuse: boolean
  readonly length?: number | undefined
}

/** The rules of a server for ids that do not come again; without rules of its own, those of the API: a pattern. */
export const idRules = ({ callIds: length }: Server, pattern: RegExp): IdRules =>
  length === undefined
    ? { pattern, reuse: false }
    : { pattern: new RegExp(`^[a-zA-Z0-9]{${length}}$`), reuse: false, length }

/**
 * Replaces ids of calls that a provider refuses: ids that another provider made, empty ones, and ones that come again.
 * All other ids stay as they are. Give it the calls and results of a conversation in order: a result gets the id of its
 * call.
 *
 * @example
 * ```ts
 * import { CallIds } from "@memfold/codec"
 *
 * const ids = new CallIds({ pattern: /^[\w-]+$/, reuse: false })
 * console.log(ids.call("c1"), ids.result("c1"), ids.call("c1"), ids.result("c1")) // c1 c1 c1_2 c1_2
 * ```
 */
export class CallIds {
  private readonly used = new Set<string>()
  private readonly seen = new Map<string, number>()
  private readonly open = new Queues<string>()

  constructor(private readonly rules: IdRules) {}

  private fit(id: string): string {
    const { pattern, length } = this.rules
    return pattern.test(id) ? id : length === undefined ? `call_${digest(id)}` : digest(id).slice(0, length)
  }

  /**
   * The id to send for a call.
   *
   * @param kind - what kind of call it is, where answers of several kinds have ids of their own
   */
  call(id: string, kind = ""): string {
    let sent = this.fit(id)
    while (this.used.has(sent)) {
      const count = (this.seen.get(id) ?? 1) + 1
      this.seen.set(id, count)
      sent = this.fit(`${id}_${count}`)
    }
    this.used.add(sent)
    this.open.add(`${kind} ${id}`, sent)
    return sent
  }

  /** The id to send for a result: the id that was sent for the oldest open call of its kind with the result's id. */
  result(id: string, kind = ""): string {
    const sent = this.open.take(`${kind} ${id}`) ?? this.fit(id)
    if (this.rules.reuse) this.used.delete(sent)
    return sent
  }

  /** Gives up the open calls, as the user's next message does. */
  close(): void {
    this.open.clear()
    if (this.rules.reuse) this.used.clear()
  }
}
