/** Recall for a context: searches for the newest user message, and shows what is relevant right before it. */
import { Effect } from "effect"
import { text, user } from "@memfold/message/Message"
import { ofMessage } from "@memfold/message/TokenCounter"
import { isMaterial, lowest } from "@memfold/message/Origin"
import type { Trust } from "../policy/Strategy.js"
import type { Addition, AdditionsBefore } from "../render/Additions.js"
import { quoted } from "../summary/Wording.js"
import { type RecalledMessage, transcript } from "./transcript.js"
import { questionIndex } from "../session/question.js"
import type { SessionState } from "../session/SessionState.js"
import { recalledHeading } from "./heading.js"
import { type Reading, recallMessages } from "./recallMessages.js"

/** How long a context waits for recall. */
const timeout = "10 seconds"

/** A long message is searched for only by its start and its end: this many UTF-16 code units of each. */
const searched = 2_000

const queryOf = (message: string): string =>
  message.length <= 2 * searched ? message : `${message.slice(0, searched)} ${message.slice(-searched)}`

/**
 * The recalled section of a context; `null` if nothing is relevant, or if there is no question. A context never fails
 * because of it (law L8).
 *
 * @param shown - the indexes of the messages that the context shows without it
 * @param request - the most tokens of the section, and whether material stands in a message of its own
 */
export const recalledSection = (
  reading: Reading,
  state: SessionState,
  shown: ReadonlySet<number>,
  { tokens, trust }: { readonly tokens: number; readonly trust?: Trust | undefined },
): Effect.Effect<AdditionsBefore | null> =>
  Effect.gen(function* () {
    const at = questionIndex(state)
    const question = at === null ? undefined : state.uncovered.at(at)?.message
    if (at === null || question === undefined || !shown.has(at)) return null
    const messageOf = (found: string) => user(`${recalledHeading}\n${found}`)
    const materialOf = (found: string) => messageOf(quoted(found))
    const addition = (
      all: ReadonlyArray<RecalledMessage>,
      write: typeof messageOf,
    ): ReadonlyArray<Addition> => {
      const [first, last] = [all[0], all.at(-1)]
      if (first === undefined || last === undefined) return []
      const message = write(transcript(all))
      const origin = lowest(all.map((one) => one.origin)) ?? "external"
      const [from, to] = [first.index, last.index + 1]
      return [{ section: "recalled", from, to, message, tokens: ofMessage(reading.counter, message), origin }]
    }
    // A line break less than what stands around the text: counters may count it together with what follows.
    const around = ofMessage(reading.counter, messageOf("")) + 1
    for (let room = tokens - around; room > 0;) {
      const { messages } = yield* reading.inPlace(
        recallMessages(reading, state, {
          query: queryOf(text(question)),
          tokens: room,
          before: at,
          without: (index) => shown.has(index),
          question: `${state.clears}.${at}`,
        }),
      )
      if (messages.length === 0) return null
      const isApart = (one: RecalledMessage) => trust === "separate" && isMaterial(one.origin)
      const additions = [
        ...addition(messages.filter(isApart), materialOf),
        ...addition(
          messages.filter((one) => !isApart(one)),
          messageOf,
        ),
      ]
      const size = additions.reduce((sum, one) => sum + one.tokens, 0)
      if (size <= tokens) return { index: at, additions }
      room -= size - tokens
    }
    return null
  }).pipe(
    Effect.timeout(timeout),
    Effect.catchAllCause(() =>
      Effect.logWarning("nothing was recalled for a context").pipe(
        Effect.annotateLogs({ session: state.session }),
        Effect.as(null),
      ),
    ),
  )
