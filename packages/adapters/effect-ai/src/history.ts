/** The history of a chat as a `Ref`: it reads the log and writes to it. */
import type { Prompt } from "@effect/ai"
import { isSame, withLateResults } from "@memfold/codec"
import { Effect, Effectable, Readable, Ref } from "effect"
import { decodeMessage } from "./decode.js"
import { encodePrompt } from "./encode.js"
import type { Sessions } from "./sessions.js"

const variance = { _A: <A>(value: A): A => value }

/** Whether two messages say the same, whoever made them. */
const same = (one: Prompt.Message, other: Prompt.Message | undefined): boolean =>
  one === other ||
  (one.role === other?.role && isSame(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))))

/**
 * The whole conversation. What is added at its end is appended. Any other change goes on behind the messages that stay, and what
 * was said behind them stays in the log, as a branch. A store that fails is a defect, because a `Ref` has no errors.
 */
export class History extends Effectable.Class<Prompt.Prompt> implements Ref.Ref<Prompt.Prompt> {
  readonly [Ref.RefTypeId] = variance
  readonly [Readable.TypeId]: Readable.TypeId = Readable.TypeId
  readonly get: Effect.Effect<Prompt.Prompt>

  constructor(private readonly session: Sessions) {
    super()
    this.get = Effect.orDie(Effect.map(session.all, encodePrompt))
  }

  commit(): Effect.Effect<Prompt.Prompt> {
    return this.get
  }

  modify<B>(change: (before: Prompt.Prompt) => readonly [B, Prompt.Prompt]): Effect.Effect<B> {
    return Effect.suspend(() => {
      let answer: { readonly value: B } | undefined
      const written = this.session.rewrite((messages) => {
        const before = encodePrompt(messages)
        const [value, after] = change(before)
        answer = { value }
        if (after === before) return null
        // Messages that stay are as they are stored, with what a prompt has no place for.
        const stored = new Map(before.content.map((message, at) => [message, messages[at]!]))
        const now = after.content.map((message, at) => {
          const there = same(message, before.content[at]) ? messages[at] : stored.get(message)
          return there ?? decodeMessage(message)
        })
        const isAddition = messages.every((message, at) => message === now[at])
        return isAddition ? withLateResults(now.slice(messages.length))(messages) : now
      })
      return Effect.map(Effect.orDie(written), () => answer!.value)
    })
  }
}
