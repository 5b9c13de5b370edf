/** What the questions about a conversation come to: the evidence and the answers that stand in its contexts. */
import { Message, Recall, type Render } from "@memfold/core"
import { type AnswerWord, newestWithin, share, type Shown, shownText, textOf, wordsIn } from "./evidence.js"
import type { FoundWords } from "./prepare.js"

/** What stood of expected answers in one kind of text: the shares of their words, from 0 to 1, and the tokens, summed up. */
export interface AnswerSum {
  readonly words: number
  readonly tokens: number
}

/** The texts in which the words of an answer are looked for. */
export const answerTexts = [
  "context",
  "newest",
  "summaries",
  "summariesWithRecall",
  "recall",
  "oracle",
] as const

/**
 * What stood of the answers that are expected, over the questions that have one.
 *
 * - `context`: all that the context says
 * - `newest`: the newest messages of its size
 * - `summaries`: its summaries alone
 * - `recall`: what a search for the question finds; `summariesWithRecall`: that and the summaries
 * - `oracle`: the messages that answer the question, and nothing else
 */
export interface Answers extends Readonly<Record<(typeof answerTexts)[number], AnswerSum>> {
  readonly asked: number
}

/** What the questions came to. The shares of evidence are sums over `asked`, each from 0 to 1. */
export interface Answered {
  readonly answers: Answers
  /** How many times a question was asked. */
  readonly asked: number
  /** The tokens of the contexts. */
  readonly tokens: number
  /** Evidence in uncovered messages, word for word. */
  readonly raw: number
  /** Evidence in uncovered messages or in summaries. */
  readonly kept: number
  /** Evidence in the context at all: also in what it recalled by itself. */
  readonly said: number
  /** Evidence in the newest messages of the same size as the context. */
  readonly newest: number
  /** Evidence in the context, or found by a search. */
  readonly found: number
}

/** Whether a message of a context is what it recalled by itself. */
const isRecalled = (message: Message.Message): boolean =>
  message.role === "user" && Message.text(message).startsWith(Recall.recalledHeading)

/** The texts of a context in which evidence is looked for. */
export interface Texts extends Readonly<Record<"raw" | "kept" | "all" | "newest", string>> {
  readonly tokens: number
  readonly shown: Readonly<Record<"context" | "newest" | "summaries", Shown>>
}

/** @param shown the messages of the conversation until then */
export const textsOf = (
  { messages, sources, tokens }: Pick<Render.Context, "messages" | "sources" | "tokens">,
  shown: ReadonlyArray<Message.Message>,
): Texts => {
  const [all, newest] = [textOf(messages), newestWithin(shown, tokens)]
  const summaries = messages.filter((message, at) => sources[at] === null && !isRecalled(message))
  return {
    tokens,
    raw: textOf(messages.filter((_, at) => sources[at] !== null)),
    kept: textOf(messages.filter((message) => !isRecalled(message))),
    all,
    newest,
    shown: {
      context: shownText(all, tokens),
      newest: shownText(newest, tokens),
      summaries: shownText(textOf(summaries)),
    },
  }
}

/** What the questions have come to so far. */
export class Evidence {
  readonly answers = {
    asked: 0,
    ...(Object.fromEntries(answerTexts.map((name) => [name, { words: 0, tokens: 0 }])) as Record<
      (typeof answerTexts)[number],
      { words: number; tokens: number }
    >),
  }
  readonly answered = {
    asked: 0,
    tokens: 0,
    raw: 0,
    kept: 0,
    said: 0,
    newest: 0,
    found: 0,
    answers: this.answers as Answers,
  }

  /** Counts a question: how much of the wanted sentences the texts have, and which of them a search finds. */
  add(texts: Texts, wanted: ReadonlyArray<string>, finds: ReadonlyArray<boolean>): void {
    const { answered } = this
    const isIn = (text: string) => wanted.map((sentence) => text.includes(sentence))
    const said = isIn(texts.all)
    answered.asked++
    answered.tokens += texts.tokens
    answered.raw += share(isIn(texts.raw))
    answered.kept += share(isIn(texts.kept))
    answered.said += share(said)
    answered.newest += share(isIn(texts.newest))
    answered.found += share(said.map((isSaid, at) => isSaid || finds[at] === true))
  }

  /** Counts an answer: which of its words the texts have, and a search finds, and the evidence has. */
  addAnswer(words: ReadonlyArray<AnswerWord>, { shown }: Texts, found: FoundWords, oracle: Shown): void {
    if (words.length === 0) return
    const { answers } = this
    answers.asked++
    const add = (name: (typeof answerTexts)[number], isThere: ReadonlyArray<boolean>, tokens: number) => {
      answers[name].words += share(isThere)
      answers[name].tokens += tokens
    }
    for (const name of ["context", "newest", "summaries"] as const)
      add(name, wordsIn(words, shown[name]), shown[name].tokens)
    const inSummaries = wordsIn(words, shown.summaries)
    add("recall", found.words, found.tokens)
    add(
      "summariesWithRecall",
      inSummaries.map((isThere, at) => isThere || found.words[at] === true),
      shown.summaries.tokens + found.tokens,
    )
    add("oracle", wordsIn(words, oracle), oracle.tokens)
  }
}
