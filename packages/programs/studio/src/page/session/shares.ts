/** Where the tokens of a context are. */
import { type Render, Session } from "@memfold/core"

/** What the tokens of a context are for. */
export type Share =
  | "system"
  | "pinned"
  | "facts"
  | "summary"
  | "material"
  | "verbatim"
  | "recalled"
  | "left-out"

/** The shares in the order of the bar, with their names and what they are. */
export const shares: ReadonlyArray<{ readonly share: Share; readonly name: string; readonly about: string }> =
  [
    { share: "system", name: "System", about: "the instructions at the start, always word for word" },
    { share: "pinned", name: "Pinned", about: "messages that stay word for word whatever is covered" },
    { share: "facts", name: "Facts", about: "what memory layers know about the user and the scope" },
    { share: "summary", name: "Summary", about: "stands for the messages that it covers" },
    {
      share: "material",
      name: "Material",
      about: "what tools, documents and pages said, summarized apart: nobody in the conversation has said it",
    },
    { share: "verbatim", name: "Verbatim", about: "messages that no summary covers, word for word" },
    {
      share: "recalled",
      name: "Recalled",
      about: "earlier messages and blocks that the newest question needs",
    },
    {
      share: "left-out",
      name: "Left out",
      about: "not sent: damaged, waiting for results, or refused by providers",
    },
  ]

const shareOf: Readonly<Record<Render.SectionName, Share>> = {
  pinned: "pinned",
  "user-memory": "facts",
  "scope-memory": "facts",
  "session-memory": "recalled",
  summary: "summary",
  material: "material",
  uncovered: "verbatim",
  recalled: "recalled",
  current: "verbatim",
  unreadable: "left-out",
  gap: "left-out",
  open: "left-out",
  "left-out": "left-out",
}

/** The meaning of the sections that are left out. */
export const whyLeftOut: Readonly<Partial<Record<Render.SectionName, string>>> = {
  unreadable: "damaged where they are stored",
  gap: "left out by the strategy's cap",
  open: "tool calls that wait for results, and what follows; left out until then",
  "left-out":
    "the provider would refuse it here, because what stood before it has changed, or its pair is missing; or a summary has a lower origin than is asked for",
}

/**
 * The tokens of what a model gets at a state, counted: the curve, the bar and the line of a compaction say this number. It is without
 * open calls, which wait for their results.
 */
export const sizeOf = (state: Session.SessionState): number => {
  const upTo = (index: number) => state.uncovered.at(index - 1)?.cumulativeTokens ?? state.coveredTokens
  const open = upTo(state.total) - upTo(state.structure.open?.from ?? state.total)
  return Session.contextTokens({ ...state, reported: null }) - open
}

export interface Taken {
  readonly share: Share
  /** Tokens in the context; for what is left out, the tokens that it would take. */
  readonly tokens: number
  readonly messages: number
  /** The kinds of parts that are left out of messages that are sent. */
  readonly parts: ReadonlyArray<string>
}

/** How many of the pinned tokens are the system prompt: pinned messages of the system. */
const systemTokens = (state: Session.SessionState, { from, to }: Render.Section) => {
  let [tokens, messages] = [0, 0]
  const pinned = [...state.pinned, ...state.uncovered.slice(from, to)]
  for (const entry of pinned)
    if (entry.index >= from && entry.index < to && entry.message.role === "system") {
      tokens += entry.tokens
      messages++
    }
  return { tokens, messages }
}

/** The tokens that messages would take. */
const tokensOf = (state: Session.SessionState, from: number, to: number): number =>
  state.uncovered.slice(from, to).reduce((sum, { tokens }) => sum + tokens, 0)

/** The shares of a context. Their tokens, without what is left out, are the tokens of the context. */
export const sharesOf = (
  state: Session.SessionState,
  { layout }: Pick<Render.Context, "layout">,
): ReadonlyArray<Taken> => {
  const sums = new Map(
    shares.map(({ share }) => [share, { tokens: 0, messages: 0, parts: new Set<string>() }]),
  )
  const add = (share: Share, tokens: number, messages: number) => {
    const sum = sums.get(share)!
    sum.tokens += tokens
    sum.messages += messages
  }
  for (const section of layout) {
    const count = section.to - section.from
    const share = shareOf[section.section]
    if (share === "pinned") {
      const system = systemTokens(state, section)
      add("system", system.tokens, system.messages)
      add("pinned", section.tokens - system.tokens, count - system.messages)
    } else if (share !== "left-out") add(share, section.tokens, count)
    else if (section.parts === undefined) add(share, tokensOf(state, section.from, section.to), count)
    else for (const part of section.parts) sums.get(share)!.parts.add(part)
  }
  return shares.map(({ share }) => {
    const { parts, ...sum } = sums.get(share)!
    return { share, ...sum, parts: [...parts] }
  })
}
