/** Options of commands that use a queue, and `memfold dead-letters`. */
import { type QueueError, queueOf, type UnknownName } from "@memfold/catalog"
import { Console, Effect, Option } from "effect"
import { clean, printJson, several, table, printResult } from "../terminal/terminal.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"

export const queue = options.text(
  "queue",
  "URL",
  "The queue: redis://HOST for BullMQ, postgres://HOST/DATABASE for pg-boss, cluster: before postgres://… or sqlite:FILE for Effect Cluster.",
)

export const queueName = options.optionalText(
  "queue-name",
  "NAME",
  "The name of the queue on its server; memfold by default.",
)

export const deadLetters = options.command(
  "dead-letters",
  "List the sessions that workers have given up, with the reason; or put them into the queue again.",
  {
    queue,
    queueName,
    retry: options.optionalText("retry", "SESSION", "Put this session into the queue again."),
    retryAll: options.flag("retry-all", "Put all sessions with dead letters into the queue again."),
    json: options.json,
  },
  (given): Effect.Effect<void, UsageError | UnknownName | QueueError> =>
    Effect.gen(function* () {
      const opened = yield* queueOf(given.queue, options.given({ queue: given.queueName }))
      yield* Effect.gen(function* () {
        const queue = yield* opened
        if (Option.isSome(given.retry) || given.retryAll) {
          const sessions = given.retryAll
            ? (yield* queue.deadLetters).map(({ session }) => session)
            : Option.toArray(given.retry)
          const revived = yield* Effect.filter(sessions, queue.revive)
          if (revived.length < sessions.length)
            return yield* new UsageError({ problem: "there is no dead letter of this session" })
          const text = `${several(revived.length, "session")} in the queue again`
          return yield* printResult(given.json, { type: "revived", sessions: revived }, text)
        }
        const letters = yield* queue.deadLetters
        if (given.json) return yield* printJson(letters.map((letter) => ({ type: "dead-letter", ...letter })))
        if (letters.length === 0) return yield* Console.log("no dead letters")
        const rows = letters.map(({ session, time, attempts, reason }) => [
          clean(session),
          new Date(time).toISOString(),
          String(attempts),
          clean(reason),
        ])
        yield* Console.log(
          table(["session", "given up", "attempts", "reason"], rows, ["left", "left", "right"]),
        )
      }).pipe(Effect.scoped)
    }),
)
