/** The queue and its worker in one process, for `npm start` without a database server. */
import { Dispatcher } from "@memfold/core"
import { Effect, Layer } from "effect"
import { createMemory } from "memfold"

const worker = createMemory({ store: "sqlite:chats.db", compaction: { mode: "manual" } })

const timers = new Map<string, NodeJS.Timeout>()

/** Looks at a session at a time, once for however many asked. */
const lookAt = (session: string, time: number): void => {
  clearTimeout(timers.get(session))
  const timer = setTimeout(
    () => {
      timers.delete(session)
      worker
        .compact(session, { which: "due" })
        .then(([outcome]) => console.log(`worker: ${session}: ${outcome?._tag ?? "nothing is due"}`))
        .catch(console.error)
    },
    Math.min(time - Date.now(), 2 ** 31 - 1),
  )
  timers.set(session, timer.unref())
}

export const localQueue = Layer.succeed(Dispatcher.Dispatcher, {
  dispatch: ({ session, time }) => Effect.sync(() => lookAt(session, time)),
})
