/** Makes values that throw when they are changed. */
import type { Strategy } from "@memfold/core"

/** Freezes a value and everything in it. */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

/** A copy of plain data that cannot be changed; the original stays as it is. */
export const frozenCopy = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as A
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, frozenCopy(inner)])),
  ) as A
}

/** A part changed a value that it may only read. */
export class Changed extends Error {
  override readonly name = "Changed"
}

/** A proxy that throws when the object is changed, also where frozen objects ignore it. */
const lent = <A extends object>(what: string, value: A): A => {
  const refuse = (doing: string) => (_target: A, key: string | symbol) => {
    throw new Changed(`it ${doing} \`${String(key)}\` of ${what}`)
  }
  return new Proxy(value, {
    set: refuse("sets"),
    defineProperty: refuse("defines"),
    deleteProperty: refuse("deletes"),
    setPrototypeOf: () => {
      throw new Changed(`it sets the prototype of ${what}`)
    },
  })
}

/** The strategy, with read-only values as the input of its parts. */
export const lending = (strategy: Strategy.Strategy): Strategy.Strategy => {
  const { when, keep, batchSize, split, pin, prune } = strategy
  const { dueTime } = when
  const lentKeep = (one: typeof keep): typeof keep => ({
    ...one,
    from: (view) => one.from(lent("its view", view)),
  })
  return {
    ...strategy,
    when: {
      due: (view) => when.due(lent("its view", view)),
      ...(dueTime === undefined ? {} : { dueTime: (view) => dueTime(lent("its view", view)) }),
    },
    keep: lentKeep(keep),
    batchSize: { to: (view, tailFrom) => batchSize.to(lent("its view", view), tailFrom) },
    ...(split === undefined
      ? {}
      : { split: { ...split, prefix: (tail) => split.prefix(lent("the tail", tail)) } }),
    ...(pin === undefined
      ? {}
      : {
          pin: {
            pins: (message, before) => pin.pins(lent("a message", message), lent("the structure", before)),
          },
        }),
    ...(prune === undefined ? {} : { prune: prune.map((rule) => ({ ...rule, keep: lentKeep(rule.keep) })) }),
  }
}
