/** `memfold trace SESSION`: the messages that a summary, or a text, rests on; and the summaries that a message lives on in. */
import { Args, Options } from "@effect/cli"
import { Memory } from "@memfold/core"
import { Effect, Option } from "effect"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"
import { short } from "./timeline.js"
import { clean, color, json as toJson, percent, several, printLines } from "../terminal/terminal.js"

/** A sentence with its messages, as lines of text. */
const sentenceLines = ({
  text,
  supported,
  messages,
  missing,
}: Memory.TracedSentence): ReadonlyArray<string> => [
  `${supported ? color.green("✓") : color.red("✗")} ${clean(text)}`,
  ...(missing.length === 0 ? [] : [color.red(`    no message has ${clean(missing.join(", "))}`)]),
  ...messages.map(({ index, share, words }) =>
    color.dim(
      `    ${String(index).padStart(5)}  ${percent(share, 0).padStart(4)}  ${clean(words.join(" "))}`,
    ),
  ),
]

/** A summary and what of a message lives on in it, as lines of text. */
const summaryLines = ({ summary, status, sentences }: Memory.TracedSummary): ReadonlyArray<string> => [
  `summary …${short(summary)} (${status}): ` +
    (sentences.length === 0 ? color.yellow("nothing of the message") : several(sentences.length, "sentence")),
  ...sentences.map(({ text, share }) => color.dim(`    ${percent(share, 0).padStart(4)}  ${clean(text)}`)),
]

/** What is traced: a text, a summary, or the active summary. */
const tracedText = (
  memory: Memory.Service,
  session: string,
  { text, summary }: { readonly text: Option.Option<string>; readonly summary: Option.Option<string> },
) =>
  Effect.gen(function* () {
    if (Option.isSome(text)) return yield* memory.trace(session, text.value)
    const active = (yield* memory.state(session)).summary?.id
    const id = Option.getOrElse(summary, () => active)
    if (id === undefined)
      return yield* new UsageError({
        problem: `session "${session}" has no active summary; name one with --summary, or a text with --text`,
      })
    return yield* memory.trace(session, { summary: id })
  })

export const command = options.command(
  "trace",
  "Show which messages each sentence of a summary rests on; exit code 1 if no message supports one of them.",
  {
    session: Args.text({ name: "SESSION" }),
    ...options.stored,
    text: Options.text("text").pipe(
      Options.optional,
      Options.withDescription("Trace this text; by default the active summary is traced."),
    ),
    summary: options.optionalText("summary", "ID", "Trace this summary; memfold summaries lists them."),
    message: options.optionalInteger(
      "message",
      "INDEX",
      "Show instead in which summaries the message with this index lives on.",
    ),
    json: options.json,
  },
  ({ session, store, archive, json, ...what }) =>
    Effect.gen(function* () {
      const given = [Option.isSome(what.text), Option.isSome(what.summary), Option.isSome(what.message)]
      if (given.filter(Boolean).length > 1)
        return yield* new UsageError({ problem: "--text, --summary and --message: name one of them" })
      yield* options.requireSession(session, store)
      const memory = yield* Memory.Memory
      if (Option.isSome(what.message)) {
        const summaries = yield* memory.traceMessage(session, what.message.value)
        const lines = json
          ? summaries.map((one) => toJson({ type: "traced-summary", session, ...one }))
          : summaries.flatMap(summaryLines)
        const none = json ? [] : [color.dim("no summary covers the message")]
        return yield* printLines(lines.length === 0 ? none : lines)
      }
      const { sentences } = yield* tracedText(memory, session, what)
      const wrong = sentences.filter(({ supported }) => !supported).length
      const lines = json
        ? sentences.map((one) => toJson({ type: "traced-sentence", session, ...one }))
        : [
            ...sentences.flatMap(sentenceLines),
            color.dim(`${several(sentences.length, "sentence")}, ${wrong} without support`),
          ]
      yield* printLines(lines)
      if (wrong > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.quietMemory({ store, archive }))),
)
