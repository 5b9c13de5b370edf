import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { appended } from "@memfold/testing"
import { said } from "@memfold/harness/engine"
import { InMemoryEventLog, Session } from "../index.js"
import { LayersError, type Service } from "../layers/MemoryLayers.js"
import { estimating } from "@memfold/message/TokenCounter"
import { noSpend } from "./Spend.js"
import * as Learning from "./Learning.js"

const failing: Service = {
  learn: () => Effect.fail(new LayersError({ session: "s", operation: "learn", detail: "down" })),
  recall: () => Effect.succeed([]),
  facts: () => Effect.succeed([]),
  change: () => Effect.succeed(false),
  forgetMessage: () => Effect.void,
  logOf: () => null,
  forgetSessions: () => Effect.void,
}

const append = (sessions: Session.Sessions) =>
  sessions.transact("s", () => ({ events: appended(said(4)), answer: undefined }))

describe("turns that the layers failed to learn from", () => {
  it.effect("wait for the next turn; turns of a session begun anew at the same length do not", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const sessions = Session.make(log)
      const elsewhere = Session.make(log)
      const learning = Learning.make({ sessions, counter: estimating, spend: noSpend }, failing)
      const isDue = Effect.map(sessions.load("s"), learning.isDue)
      yield* append(sessions)
      expect(yield* isDue).toBe(true)
      yield* learning.learnDue("s")
      expect(yield* isDue).toBe(false)
      // Deleted and begun anew by another process, which does not report it.
      yield* elsewhere.delete("s")
      yield* append(elsewhere)
      expect(yield* isDue).toBe(true)
      yield* learning.learnDue("s")
      expect(yield* isDue).toBe(false)
      yield* sessions.transact("s", () => ({ events: [{ _tag: "SessionCleared" }], answer: undefined }))
      yield* append(sessions)
      expect(yield* isDue).toBe(true)
    }),
  )
})
