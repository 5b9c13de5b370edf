/** The report of a run: what the replays of each policy came to together. */
import { Cost, type Prices } from "@memfold/prices"
import { Record } from "effect"
import type { Conversation } from "./Conversation.js"
import type { Policy } from "./jobs.js"
import { type AnswerSum, answerTexts, type Answers } from "./answered.js"
import type { Replayed } from "./replay.js"

/** The parts of a cost. */
export interface CostParts {
  readonly total: number
  /** Prompt tokens read from the cache. */
  readonly cached: number
  /** Prompt tokens written to the cache. */
  readonly written: number
  /** Input that is neither: what summarizers read. */
  readonly newInput: number
  /** What summarizers wrote. */
  readonly summarizerOutput: number
}

/** What all calls cost by one of the prices, summaries paid, without the answers of the model. */
export interface PolicyCost {
  /** In dollars. */
  readonly dollars: CostParts
  /**
   * In percent of what the full history costs; `null` if no conversation has a call. Each conversation counts the same,
   * however long it is.
   */
  readonly share: CostParts | null
  /** The share of all prompt tokens that was read from the cache, from 0 to 1; `null` if no conversation has a call. */
  readonly cached: number | null
}

/** What was needed again, and what of it was in the context. */
export interface IdentifierCoverage {
  /** How many times an assistant message used an identifier that was said earlier, but not recently. */
  readonly needed: number
  /** How many times the context of the call had it. */
  readonly there: number
}

/** What of the evidence was in the context when a question was asked. Shares from 0 to 1, on average over the questions. */
export interface EvidenceCoverage {
  /** How many times a question was asked. */
  readonly asked: number
  /** The tokens of the context, on average. */
  readonly tokens: number
  /** In uncovered messages, word for word. */
  readonly raw: number
  /** In summaries only, word for word. */
  readonly inSummaries: number
  /** Only in what the context recalled by itself; 0 for a policy without automatic recall. */
  readonly recalled: number
  /** In the newest messages of the same size as the context. */
  readonly newest: number
  /** In the context, or in what recall finds for the question: recall on demand. */
  readonly withRecall: number
}

/** What of expected answers stood in a text, on average. */
export interface AnswerShare {
  /** The share of the words, from 0 to 1. */
  readonly words: number
  readonly tokens: number
  /** The share per 1,000 tokens, from 0; 0 for a text without tokens. */
  readonly perThousand: number
}

/** The words of expected answers, by the texts that {@link Answers} names. */
export interface AnswerCoverage extends Readonly<Record<keyof Omit<Answers, "asked">, AnswerShare>> {
  /** How many times a question with an expected answer was asked. */
  readonly asked: number
}

/** A conversation under a policy. */
export interface ReplayReport {
  readonly conversation: string
  /** The tokens of the context of each call, in order. */
  readonly contexts: ReadonlyArray<number>
  readonly compactions: number
  /** The total in percent of the full history, for each of the prices; `null` without a call. */
  readonly cost: ReadonlyArray<number | null>
}

/** A policy over all conversations. */
export interface PolicyReport {
  readonly name: string
  /** For each of the prices. */
  readonly costs: ReadonlyArray<PolicyCost>
  readonly compactions: number
  /** Compactions that failed; the messages stayed in the context. */
  readonly failures: number
  /** Why the first of them failed; `null` if none did. */
  readonly firstFailure: string | null
  /** The tokens of the context of a call, on average, and of the largest one; 0 without a call. */
  readonly meanContext: number
  readonly largestContext: number
  readonly identifiers: IdentifierCoverage
  /** `null` if no conversation has questions. */
  readonly evidence: EvidenceCoverage | null
  /** `null` if no question has an answer that is expected. */
  readonly answers: AnswerCoverage | null
  /** The tokens that each context may recall by itself; `null` if none does. */
  readonly automaticRecall: number | null
  /** The tokens of all calls that memory layers and automatic recall added to the conversation. */
  readonly added: number
  readonly replays: ReadonlyArray<ReplayReport>
}

/** The report of a run. */
export interface Report {
  readonly prices: ReadonlyArray<Prices.Prices>
  /** How many tokens a search for a question could find. */
  readonly recallTokens: number
  readonly conversations: ReadonlyArray<{
    readonly name: string
    readonly messages: number
    readonly calls: number
    readonly questions: number
    /** From the first time to the last, in milliseconds; `null` if no message has a time: caches never expire then. */
    readonly lasted: number | null
  }>
  /** The full history first, then the policies in the order in which they were given. */
  readonly policies: ReadonlyArray<PolicyReport>
}

const partsOf = (spent: Replayed["spent"][number], prices: Prices.Prices): CostParts => {
  const { total, cached, written, summarizerInput, summarizerOutput } = Cost.total(spent, prices)
  return { total, cached, written, newInput: summarizerInput, summarizerOutput }
}

const none: CostParts = { total: 0, cached: 0, written: 0, newInput: 0, summarizerOutput: 0 }

const sum = (parts: ReadonlyArray<CostParts>): CostParts =>
  parts.reduce((sum, one) => Record.map(sum, (part, name) => part + one[name]), none)

const scaled = (parts: CostParts, factor: number): CostParts => Record.map(parts, (part) => part * factor)

/**
 * What a policy costs on several conversations, by one of the prices.
 *
 * @param replays - The replays of the policy.
 * @param full - The replays of the full history of the same conversations, in the same order.
 * @param prices - The prices.
 * @param at - The position of the prices in the replays.
 */
export const costOf = (
  replays: ReadonlyArray<Pick<Replayed, "spent">>,
  full: ReadonlyArray<Pick<Replayed, "spent">>,
  prices: Prices.Prices,
  at: number,
): PolicyCost => {
  const parts = replays.map(({ spent }) => partsOf(spent[at]!, prices))
  const shares = parts.flatMap((one, position) => {
    const { total } = partsOf(full[position]!.spent[at]!, prices)
    return total === 0 ? [] : [scaled(one, 100 / total)]
  })
  const tokens = (of: "cached" | "written") => replays.reduce((sum, { spent }) => sum + spent[at]![of], 0)
  const prompt = tokens("cached") + tokens("written")
  return {
    dollars: sum(parts),
    share: shares.length === 0 ? null : scaled(sum(shares), 1 / shares.length),
    cached: prompt === 0 ? null : tokens("cached") / prompt,
  }
}

/** What replays kept of the evidence; `null` if no question was asked. */
export const evidenceOf = (replays: ReadonlyArray<Pick<Replayed, "answered">>): EvidenceCoverage | null => {
  const total = (of: keyof Omit<Replayed["answered"], "answers">) =>
    replays.reduce((sum, { answered }) => sum + answered[of], 0)
  const asked = total("asked")
  if (asked === 0) return null
  return {
    asked,
    tokens: total("tokens") / asked,
    raw: total("raw") / asked,
    inSummaries: (total("kept") - total("raw")) / asked,
    recalled: (total("said") - total("kept")) / asked,
    newest: total("newest") / asked,
    withRecall: total("found") / asked,
  }
}

/** What replays had of the words of expected answers; `null` if no question has one. */
export const answersOf = (replays: ReadonlyArray<Pick<Replayed, "answered">>): AnswerCoverage | null => {
  const all = replays.map(({ answered }) => answered.answers)
  const asked = all.reduce((sum, one) => sum + one.asked, 0)
  if (asked === 0) return null
  const shareOf = (sums: ReadonlyArray<AnswerSum>): AnswerShare => {
    const [words, tokens] = (["words", "tokens"] as const).map(
      (of) => sums.reduce((sum, one) => sum + one[of], 0) / asked,
    ) as [number, number]
    return { words, tokens, perThousand: tokens === 0 ? 0 : (1_000 * words) / tokens }
  }
  const shares = answerTexts.map((name) => [name, shareOf(all.map((one) => one[name]))])
  return { asked, ...(Object.fromEntries(shares) as Omit<AnswerCoverage, "asked">) }
}

const lastedOf = ({ messages }: Conversation): number | null => {
  const times = messages.flatMap(({ time }) => time ?? [])
  return times.length === 0
    ? null
    : times.reduce((one, other) => Math.max(one, other)) - times.reduce((one, other) => Math.min(one, other))
}

/** Sums up a run. `replays` has a list of replays for each conversation, the full history first. */
export const reportOf = ({
  conversations,
  policies,
  prices,
  recallTokens,
  replays,
}: {
  readonly conversations: ReadonlyArray<Conversation>
  readonly policies: ReadonlyArray<Pick<Policy, "name" | "automaticRecall">>
  readonly prices: ReadonlyArray<Prices.Prices>
  readonly recallTokens: number
  readonly replays: ReadonlyArray<ReadonlyArray<Replayed>>
}): Report => {
  const full = replays.map((one) => one[0]!)
  return {
    prices,
    recallTokens,
    conversations: conversations.map((conversation, position) => ({
      name: conversation.name,
      messages: conversation.messages.length,
      calls: full[position]!.contexts.length,
      questions: conversation.questions.length,
      lasted: lastedOf(conversation),
    })),
    policies: policies.map(({ name, automaticRecall = null }, policy): PolicyReport => {
      const own = replays.map((one) => one[policy]!)
      const contexts = own.flatMap((one) => one.contexts)
      const total = (of: (one: Replayed) => number) => own.reduce((sum, one) => sum + of(one), 0)
      return {
        name,
        costs: prices.map((one, at) => costOf(own, full, one, at)),
        compactions: total(({ compactions }) => compactions),
        failures: total(({ failures }) => failures),
        firstFailure: own.find((one) => one.firstFailure !== null)?.firstFailure ?? null,
        meanContext: contexts.length === 0 ? 0 : contexts.reduce((a, b) => a + b) / contexts.length,
        largestContext: contexts.reduce((a, b) => Math.max(a, b), 0),
        identifiers: {
          needed: total(({ identifiers }) => identifiers.needed),
          there: total(({ identifiers }) => identifiers.there),
        },
        evidence: evidenceOf(own),
        answers: answersOf(own),
        automaticRecall,
        added: total(({ added }) => added),
        replays: own.map((one, position) => ({
          conversation: conversations[position]!.name,
          contexts: one.contexts,
          compactions: one.compactions,
          cost: prices.map((price, at) => costOf([one], [full[position]!], price, at).share?.total ?? null),
        })),
      }
    }),
  }
}
