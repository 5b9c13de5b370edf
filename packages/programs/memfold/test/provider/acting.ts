/**
 * A conversation played as an agent would have it: each assistant message answers a request with the context of that
 * moment. Every context, at every version, is checked against the rules of every provider; reasoning is signed for the
 * request it answers, and checked in all later ones.
 */
import {
  EchoSummarizer,
  type EventLog,
  Memory,
  Message,
  type Render,
  type Strategy,
  Summarizer,
} from "@memfold/core"
import { Effect } from "effect"
import { TranscriptClock } from "@memfold/lab"
import { account, type Target, targets } from "./targets.js"

/** What happens to the past right after a message. */
export type Change = { readonly after: number } & (
  | { readonly change: "revert" }
  | { readonly change: "redact"; readonly message: number }
)

/** A conversation to be played. */
export interface Play {
  readonly messages: ReadonlyArray<Message.Message>
  readonly strategy: Strategy.Strategy
  readonly summarizer?: Summarizer.Service
  readonly changes?: ReadonlyArray<Change>
}

/** A context that a provider refuses. */
export interface Refused {
  readonly format: string
  readonly version: number
  readonly rule: string
  readonly path: string
  readonly message: string
}

/** What came of a play. */
export interface Played {
  /** How many contexts were checked, in all formats together. */
  readonly contexts: number
  readonly compactions: number
  /** How many thinking blocks were signed, and how often one was sent back and accepted. */
  readonly signed: number
  readonly sentBack: number
  readonly refused: ReadonlyArray<Refused>
}

/** Whether the last message asks for something: what the user says, even if it is blank, or results of the assistant's calls. */
const asks = (messages: ReadonlyArray<Message.Message>): boolean => {
  const last = messages.at(-1)
  if (last?.role === "user") return true
  const caller = messages.findLast(({ role }) => role !== "tool")
  if (last?.role !== "tool" || caller?.role !== "assistant") return false
  const calls = new Set(caller.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])))
  return last.parts.some((part) => part.type === "tool-result" && calls.has(part.id))
}

/** The messages as the next request has them: it ends with the user's words, or with the results of tools. */
const asRequest = (
  memory: Memory.Service,
  session: string,
  { messages }: Pick<Render.Context, "messages">,
): Effect.Effect<ReadonlyArray<Message.Message>, Memory.MemoryError> =>
  asks(messages)
    ? Effect.succeed(messages)
    : Effect.map(
        memory.context(session, { draft: { messages: [Message.user("Go on.")] } }),
        (context) => context.messages,
      )

/** The message of the assistant with this reasoning in place of its own. */
const thinking = (message: Message.Message, text: string, signature: string): Message.Message => ({
  ...message,
  parts: [
    { type: "reasoning", text, signature },
    ...message.parts.filter((part) => part.type !== "reasoning"),
  ],
})

const signedIn = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce(
    (sum, { parts }) =>
      sum + parts.filter((part) => part.type === "reasoning" && part.signature !== undefined).length,
    0,
  )

/** Plays a conversation in a session of its own. */
export const play = (
  { messages, strategy, summarizer = EchoSummarizer.make(), changes = [] }: Play,
  session: string,
  formats: ReadonlyArray<Target> = targets,
): Effect.Effect<Played, Error, EventLog.EventLog> =>
  Effect.gen(function* () {
    const time = TranscriptClock.make(Math.trunc(messages.find((one) => one.time !== undefined)?.time ?? 0))
    const memory = yield* Memory.make({ strategy, compaction: { mode: "manual" } }).pipe(
      Effect.provideService(Summarizer.Summarizer, summarizer),
    )
    const anthropic = formats.find(({ format }) => format === "anthropic")
    const refused: Array<Refused> = []
    const count = { contexts: 0, compactions: 0, signed: 0, sentBack: 0 }

    const check = Effect.gen(function* () {
      const context = yield* memory.context(session)
      const { version } = yield* memory.state(session)
      const asked = yield* asRequest(memory, session, context)
      for (const { format, request, violations, mismatches } of formats) {
        const body = yield* Effect.promise(async () => request(asked))
        count.contexts++
        for (const { rule, path, message } of violations(body)) {
          refused.push({ format, version, rule, path, message })
        }
        const wrong = mismatches(body)
        for (const { path, problem } of wrong) {
          refused.push({ format, version, rule: `reasoning ${problem}`, path, message: "" })
        }
        if (format === "anthropic") count.sentBack += signedIn(asked) - wrong.length
      }
      return context
    })

    /** The assistant's message as the provider would send it: with reasoning for this very request. */
    const answered = (message: Message.Message, at: number) =>
      Effect.gen(function* () {
        const context = yield* memory.context(session)
        const asked = yield* asRequest(memory, session, context)
        const unsigned = { ...message, parts: message.parts.filter((part) => part.type !== "reasoning") }
        // Who says more without being asked has no request that this could be the answer to.
        if (anthropic === undefined || asked !== context.messages) return { message: unsigned, context }
        const text = `thought ${at}`
        const request = yield* Effect.promise(async () => anthropic.request(asked))
        const [signature] = account.sign(request, [text])
        count.signed++
        return { message: thinking(message, text, signature!), context }
      })

    const step = (message: Message.Message, at: number) =>
      Effect.gen(function* () {
        time.moveTo(message.time)
        if (message.role === "assistant") {
          const { message: said, context } = yield* answered(message, at)
          yield* memory.append(session, said, { prefix: context.prefix })
        } else {
          yield* memory.append(session, message)
        }
        yield* check
        const outcomes = yield* memory.compact(session, { which: "due" })
        if (outcomes.length > 0) yield* check
        count.compactions += outcomes.filter(({ _tag }) => _tag === "Committed").length
        for (const change of changes.filter(({ after }) => after === at)) {
          if (change.change === "revert") yield* memory.revert(session, { pauseFor: 3 })
          else
            yield* memory
              .redact(session, change.message)
              .pipe(Effect.catchTag("UnknownMessage", () => Effect.void))
          yield* check
        }
      }).pipe(Effect.withClock(time.clock))

    yield* Effect.forEach(messages, step, { discard: true })
    return { ...count, refused }
  }).pipe(Effect.scoped)

/** The first refusal of each rule and format, with how many there are: a report that can be read. */
export const byRule = (refused: ReadonlyArray<Refused>): ReadonlyArray<string> => {
  const groups = new Map<string, { readonly first: Refused; count: number }>()
  for (const one of refused) {
    const key = `${one.format}: ${one.rule}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { first: one, count: 1 })
    else group.count++
  }
  return [...groups].map(
    ([key, { first, count }]) =>
      `${count} × ${key}, first at version ${first.version}, ${first.path}: ${first.message}`,
  )
}
