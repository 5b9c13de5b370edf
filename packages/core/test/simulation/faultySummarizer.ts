/**
 * A summarizer that does everything a model's API has ever done. When it works, it writes down which range it covers,
 * and the marks of all it has read: what was lost on the way, or should not be there, can be seen in its text.
 */
import { Effect } from "effect"
import { Summarizer } from "../../src/index.js"
import type { History } from "./history.js"
import type { SummarizerPlan } from "./plan.js"
import { marksIn, marksOf } from "./talk.js"
import type { Process, World } from "./world.js"

const written = ({ from, to, previous = "", messages }: Summarizer.Request): string =>
  [`[${from},${to})`, ...new Set([...marksIn(previous), ...marksOf(messages)])].join(" ")

/** A summarizer of a process. */
export const faultySummarizer = (
  name: string,
  {
    world,
    history,
    process,
    plan,
  }: {
    readonly world: World
    readonly history: History
    readonly process: Process
    readonly plan: SummarizerPlan
  },
): Summarizer.Service => ({
  name,
  ...(plan.maxInputTokens === undefined ? {} : { maxInputTokens: plan.maxInputTokens }),
  summarize: (request) => {
    const { draw } = world
    const { session, from, to, messages } = request
    const fate = world.mute ? "fails" : world.calm ? "works" : draw.weighted(plan.fates)
    history.count(fate === "works" ? "summaries written" : "summarizer faults")
    world.trace(() => `${process.name}: ${name} is asked for [${from},${to}) of ${session} and ${fate}`)
    if (fate === "throws") throw new TypeError(`a defect: ${marksOf(messages).join(" ")}`)
    const answer = (): Effect.Effect<Summarizer.Result, Summarizer.SummarizerError> => {
      const text = written(request)
      switch (fate) {
        case "works":
        case "is slow":
        case "hangs":
          return Effect.succeed({ text, finish: "stop" })
        case "fails":
          return new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "simulated" })
        case "dies":
          return Effect.die(new Error("a defect in a summarizer"))
        case "refuses":
          return Effect.succeed({ text, finish: "refused" })
        case "says nothing":
          return Effect.succeed({ text: " " })
        case "is cut off":
          return Effect.succeed({ text, finish: "length" })
        case "says too much":
          return Effect.succeed({ text: text.repeat(500) })
        case "answers nonsense":
          return Effect.succeed({ text: 7 } as unknown as Summarizer.Result)
      }
    }
    // `Effect.never` would keep a timer of the real process.
    if (fate === "hangs") return Effect.async<never>(() => {})
    const delay =
      fate === "is slow"
        ? draw.between(3_000, 60_000)
        : draw.chance(0.5)
          ? draw.below(50)
          : draw.between(50, 400)
    return Effect.async<Summarizer.Result, Summarizer.SummarizerError>((resume) => {
      const timed = world.later(process, delay, `${name} answers for [${from},${to}) of ${session}`, () =>
        resume(Effect.suspend(answer)),
      )
      return Effect.sync(() => world.cancel(timed))
    })
  },
})
