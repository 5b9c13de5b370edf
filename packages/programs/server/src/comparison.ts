/** A session under a strategy, as curves: what its calls would have cost, and what their contexts would have had. */
import { strategyNamed } from "@memfold/catalog"
import { problem, type schemas, wrongIn } from "@memfold/client/api"
import type { Memory, Message } from "@memfold/core"
import { curveOf, fullHistory, ofTranscript } from "@memfold/lab"
import { Prices } from "@memfold/prices"
import { Effect, Either, ParseResult, Schema } from "effect"
import type { StrategySetting } from "./requests.js"
import type { TenantMemory } from "./TenantMemory.js"

/** A longer session takes longer than a request may: the lab replays it. Each call with the full history reads all of it. */
const mostMessages = { compacted: 20_000, full: 3_000 } as const

/** The conversation as it was said, the oldest message first. */
const conversationOf = (memory: TenantMemory, session: string, kind: keyof typeof mostMessages) =>
  Effect.gen(function* () {
    const pages: Array<ReadonlyArray<Message.Message>> = []
    let before: string | null = null
    do {
      const from: { readonly before?: string } = before === null ? {} : { before }
      const page: Memory.MessagePage = yield* memory.messages(session, { limit: 1_000, ...from })
      const most = mostMessages[kind]
      if (page.total > most)
        return yield* Effect.fail(
          problem(
            400,
            "SessionTooLong",
            `The session has ${page.total.toLocaleString("en-US")} messages, and at most ${most.toLocaleString("en-US")} are compared${kind === "full" ? " without compactions" : ""}; memfold export and memfold lab compare it`,
            session,
          ),
        )
      pages.unshift(
        page.messages.map((message, at) => ({ ...message, time: message.time ?? page.times[at]! })),
      )
      before = page.before
    } while (before !== null)
    return pages.flat()
  })

const pricesOf = (given: typeof schemas.Compare.Type.prices): Either.Either<Prices.Prices, Error> => {
  if (typeof given === "object")
    return Either.mapLeft(
      Schema.decodeUnknownEither(Prices.Prices)(given),
      (error) => new Error(`${wrongIn(ParseResult.ArrayFormatter.formatErrorSync(error))}, of "prices"`),
    )
  const preset = Object.entries(Prices.presets).find(([name]) => name === (given ?? "claude-sonnet-5.5"))?.[1]
  return preset === undefined
    ? Either.left(
        new Error(`there are no prices "${given}"; allowed: ${Object.keys(Prices.presets).join(", ")}`),
      )
    : Either.right(preset)
}

/** Compares a session: its curve under a strategy, or in full. */
export const comparison = (
  memory: TenantMemory,
  session: string,
  { strategy, settings, prices }: typeof schemas.Compare.Type,
  { file, environmentPrefix, tell }: StrategySetting & { readonly tell: (done: number) => void },
): Effect.Effect<typeof schemas.Compared.Type, unknown> =>
  Effect.gen(function* () {
    const wrong = (error: Error) => problem(400, "WrongPrices", error.message, session)
    const charged = yield* Either.mapLeft(pricesOf(prices), wrong)
    const tried =
      strategy === null
        ? fullHistory
        : yield* strategyNamed(strategy, { request: settings, file, environmentPrefix })
    const messages = yield* conversationOf(memory, session, strategy === null ? "full" : "compacted")
    // A caller who has gone, or a request that takes too long, ends the replay.
    const curve = yield* Effect.promise((signal) =>
      curveOf(ofTranscript(session, messages), tried, { prices: charged, signal, onMessage: tell }),
    )
    return { strategy, prices: charged.model, messages: messages.length, ...curve }
  })
