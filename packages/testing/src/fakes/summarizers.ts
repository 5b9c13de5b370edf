/** Summarizers that do what a model's API does on a bad day, and one that says what it covers. */
import { EchoSummarizer, Summarizer } from "@memfold/core"
import { Deferred, type Duration, Effect } from "effect"

/** Writes the range it covers, `[0,12)`, and no more: coverage, loss and doubling can be read off a context. */
export const echo = EchoSummarizer.make

/**
 * Fails the first `times` calls (all of them by default), then echoes.
 *
 * @example
 * ```ts
 * import { Fakes } from "@memfold/testing"
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

/** Echoes after a while, by Effect's clock. */
export const slow = (duration: Duration.DurationInput): Summarizer.Service => ({
  name: "slow",
  summarize: (request) => Effect.delay(echo().summarize(request), duration),
})

/** Is cut off by the model's limit every time, and says so. */
export const truncating = (): Summarizer.Service => ({
  name: "truncating",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to}`, finish: "length" }),
})

/** Answers with more than it was given: `factor` (2) times the tokens that its text is to replace. */
export const inflating = (factor = 2): Summarizer.Service => ({
  name: "inflating",
  summarize: ({ from, to, replacesTokens }) =>
    Effect.succeed({ text: `[${from},${to}) ${"and so on, ".repeat(Math.ceil(factor * replacesTokens))}` }),
})

/** Dies of a defect, as a program with a mistake in it does. */
export const dying = (): Summarizer.Service => ({
  name: "dying",
  summarize: () => Effect.die(new TypeError("a fake defect")),
})

/** Echoes, and keeps the requests. */
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

/** A summarizer that starts, tells that it did (`entered`), and answers once the `gate` is opened. */
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

/** The fakes that need no setting, by name. */
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
