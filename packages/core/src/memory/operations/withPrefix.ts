/** A memory whose sessions and owners have other ids in the store. */
import type { Service } from "../MemoryService.js"
import { callOperation, eachOperation, type OperationName } from "./table.js"

/**
 * The operations of a memory, without those on the whole store, on sessions and owners whose ids begin with a prefix in the store, and are given without it. Ids in options
 * and in answers are left as they are.
 *
 * @param memory - the operations that there are to be
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * export const reading = ({ context, messages }: Memory.Service, tenant: string) =>
 *   Memory.withPrefix({ context, messages }, `${tenant}/`)
 * ```
 */
export const withPrefix = <Name extends OperationName>(
  memory: Pick<Service, Name>,
  prefix: string,
): Omit<Pick<Service, Name>, "consume" | "feed"> =>
  eachOperation((name, { ids }) =>
    // What is not about an id is about everybody's.
    name in memory && ids.length > 0
      ? (...given) =>
          callOperation(
            memory,
            name,
            given.map((one, at) => (at < ids.length ? `${prefix}${String(one)}` : one)),
          )
      : undefined,
  )
