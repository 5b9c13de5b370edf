/** Summarizers that fail in the ways a model's API does, and a summarizer that writes the range it covers. */
import { EchoSummarizer, Summarizer } from "@memfold/core"
import { Deferred, type Duration, Effect } from "effect"

/** Writes only the range it covers, like `[0,12)`, so a test can read coverage from a context. */
export const echo = EchoSummarizer.make

/**
 * Fails the first `times` calls (all by default) with a `SummarizerError`, then writes the range like {@link echo}.
 *
 * @example
 * ```ts
 * import * as Fakes from "@memfold/testing/fakes"
 *
 * const recovering = Fakes.failing({ times: 2, reason: "timeout" })
 * ```
 */
export const failing = ({
  times = Number.POSITIVE_INFINITY,
  reason = "unavailable",
}: {
  readonly times?: number
  readonly reason?: Summarizer.SummarizerError["reason"]
} = {}): Summarizer.Service => {
  let calls = 0
  return {
    name: "failing",
    summarize: (request) =>
      Effect.suspend(() =>
        calls++ < times
          ? Effect.fail(
              new Summarizer.SummarizerError({ session: request.session, reason, detail: "a fake" }),
            )
          : echo().summarize(request),
      ),
  }
}

/** Like {@link echo}, after a delay of Effect's clock. */
export const slow = (duration: Duration.DurationInput): Summarizer.Service => ({
  name: "slow",
  summarize: (request) => Effect.delay(echo().summarize(request), duration),
})

/** Returns `finish: "length"` at every call, like a model that reaches its output limit. */
export const truncating = (): Summarizer.Service => ({
  name: "truncating",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to}`, finish: "length" }),
})

/** Returns a text longer than the messages it replaces: `factor` (2) times their tokens. */
export const inflating = (factor = 2): Summarizer.Service => ({
  name: "inflating",
  summarize: ({ from, to, replacesTokens }) =>
    Effect.succeed({ text: `[${from},${to}) ${"and so on, ".repeat(Math.ceil(factor * replacesTokens))}` }),
})

/** Dies with a defect, like a summarizer with a bug. */
export const dying = (): Summarizer.Service => ({
  name: "dying",
  summarize: () => Effect.die(new TypeError("a fake defect")),
})

/** Like {@link echo}; also records its requests. */
export const recording = (): {
  readonly summarizer: Summarizer.Service
  readonly requests: ReadonlyArray<Summarizer.Request>
} => {
  const requests: Array<Summarizer.Request> = []
  const summarize: Summarizer.Service["summarize"] = (request) =>
    Effect.suspend(() => {
      requests.push(request)
      return echo().summarize(request)
    })
  return { requests, summarizer: { name: "recording", summarize } }
}

/** A summarizer that completes `entered` when it is called, and returns after the `gate` is opened. */
export const gated = Effect.gen(function* () {
  const entered = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const summarizer: Summarizer.Service = {
    name: "gated",
    summarize: (request) =>
      Deferred.succeed(entered, undefined).pipe(
        Effect.zipRight(Deferred.await(gate)),
        Effect.zipRight(echo().summarize(request)),
      ),
  }
  return { entered, gate, summarizer }
})

/** The fakes that need no settings, by name. */
export const summarizers: ReadonlyMap<string, () => Summarizer.Service> = new Map<
  string,
  () => Summarizer.Service
>([
  ["echo", echo],
  ["failing", () => failing()],
  ["recovering", () => failing({ times: 3 })],
  ["slow", () => slow("5 seconds")],
  ["truncating", truncating],
  ["inflating", () => inflating()],
  ["dying", dying],
])
