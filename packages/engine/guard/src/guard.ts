/** The guard: what it looks for in each text of a message, and what becomes of it. */
import { Guard, Memory, type Message, OptionGroup } from "@memfold/core"
import { Predicate, Schema } from "effect"
import { emails, phones } from "./contacts.js"
import { encodedIn } from "./encoded.js"
import { cards, ibans, type Piece } from "./numbers.js"
import { recommendedRules, type SecretRule, secretsBy } from "./secrets.js"

/** Finds pieces of a text that are not to be stored, such as names and addresses. `kind` is a word that is stored in their place. */
export type Find = (text: string, about: Guard.About) => ReadonlyArray<Piece> | Promise<ReadonlyArray<Piece>>

const finders = { cards, ibans, emails, phones } as const

/** What the guard looks for by itself. */
export type GuardKind = "secrets" | keyof typeof finders

/** The names of what the guard looks for by itself. */
export const guardKinds: ReadonlyArray<GuardKind> = ["secrets", "cards", "ibans", "emails", "phones"]

/** Options of {@link guard}. */
export interface GuardOptions {
  /** What it looks for; `["secrets", "cards", "ibans"]` by default. */
  readonly kinds?: ReadonlyArray<GuardKind>
  /** The rules of secretlint for secrets; {@link recommendedRules} by default. */
  readonly rules?: ReadonlyArray<SecretRule>
  /** Finds what only the application can know: names, addresses, numbers of customers. */
  readonly find?: Find
  /**
   * What becomes of a message in which something is found. `redact` (default): it is stored with `[redacted: KIND]` in its place. `refuse`:
   * the append fails with `GuardRefused`, and nothing is stored.
   */
  readonly found?: "redact" | "refuse"
}

const { Callable, check, option } = OptionGroup

const guardOptions = {
  kinds: option(Schema.Array(Schema.Literal(...guardKinds)), `some of ${guardKinds.join(", ")}`),
  rules: option(Schema.Array(Schema.Object), "a list of rules of secretlint, such as recommendedRules"),
  find: option(Callable, "a function that finds pieces of a text"),
  found: option(Schema.Literal("redact", "refuse"), "redact or refuse"),
} satisfies Record<keyof GuardOptions, Schema.Schema.AnyNoContext>

const checkOptions = (options: unknown): void => {
  if (!Predicate.isRecord(options))
    throw new Memory.InvalidOption({ option: "options", allowed: 'an object like { found: "refuse" }' })
  check(guardOptions, options)
}

/** A mark of an earlier redaction, by this guard or by `redact`: there is nothing left to find. */
const isMark = (text: string, { from, to }: Piece): boolean =>
  /^\[redacted(?:: [^\]]*)?\]$/.test(text.slice(from, to))

/** Texts that stand one behind the other, each in a part of its own: models and clients divide one text into blocks wherever they like. */
const blocksOf = (
  { parts }: Message.Message,
  texts: ReadonlyArray<Guard.TextOf>,
): ReadonlyArray<ReadonlyArray<Guard.TextOf>> => {
  const byPlace = new Map(texts.map((one) => [one.place, one]))
  const runs: Array<Array<Guard.TextOf>> = []
  for (const [at, { type }] of parts.entries()) {
    const text = type === "text" ? byPlace.get(`parts.${at}.text`) : undefined
    if (text === undefined) continue
    if (at > 0 && parts[at - 1]!.type === "text") runs.at(-1)!.push(text)
    else runs.push([text])
  }
  return runs.filter((run) => run.length > 1)
}

/** The spans of a piece that stands in several blocks; none for a piece of one block, which is found there. */
const acrossBlocks = (
  blocks: ReadonlyArray<Guard.TextOf>,
  { from, to, kind }: Piece,
): ReadonlyArray<Guard.Span> => {
  let start = 0
  const spans: Array<Guard.Span> = []
  for (const { place, text } of blocks) {
    const [first, last] = [Math.max(from - start, 0), Math.min(to - start, text.length)]
    if (first < last) spans.push({ place, from: first, to: last, kind })
    start += text.length
  }
  return spans.length > 1 ? spans : []
}

/**
 * A guard for the option `beforeAppend` of a memory: secrets, numbers of cards and of accounts are left out of messages before they are
 * stored; what was left out is in no store, summary, index or log.
 *
 * @param options - what it looks for
 * @throws InvalidOption: an option is not allowed, or there is none of that name
 *
 * @example
 * ```ts
 * import { guard } from "@memfold/guard"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "memory:", beforeAppend: guard() })
 * await memory.append("chat-1", { role: "user", content: "My card is 4111 1111 1111 1111." })
 * console.log((await memory.context("chat-1")).messages)
 * await memory.close()
 * ```
 */
export const guard = (options: GuardOptions = {}): Guard.BeforeAppend => {
  checkOptions(options)
  const { kinds = ["secrets", "cards", "ibans"], rules = recommendedRules, find, found = "redact" } = options
  const secrets = secretsBy(rules)
  const plainIn = async (text: string, about: Guard.About): Promise<ReadonlyArray<Piece>> => {
    const all = await Promise.all([
      ...kinds.map((kind) => (kind === "secrets" ? secrets(text) : finders[kind](text))),
      ...(find === undefined ? [] : [find(text, about)]),
    ])
    return all.flat().filter((piece) => !isMark(text, piece))
  }
  const piecesIn = async (text: string, about: Guard.About): Promise<ReadonlyArray<Piece>> => {
    const found = [...(await plainIn(text, about))]
    const encoded = encodedIn(text)
    // Nearly always there is nothing in any of them, which one look says.
    const together = encoded.map(({ says }) => says).join("\n")
    if (together === "" || (await plainIn(together, about)).length === 0) return found
    for (const { says, from, to } of encoded)
      for (const { kind } of await plainIn(says, about)) found.push({ from, to, kind })
    return found
  }
  return async (message, about) => {
    const spans: Array<Guard.Span> = []
    const texts = Guard.textsOf(message)
    for (const { place, text } of texts)
      for (const piece of await piecesIn(text, about)) spans.push({ ...piece, place })
    for (const blocks of blocksOf(message, texts))
      for (const piece of await piecesIn(blocks.map(({ text }) => text).join(""), about))
        spans.push(...acrossBlocks(blocks, piece))
    const [first] = spans
    if (first === undefined) return Guard.keep
    return found === "refuse" ? Guard.refuse(first.kind, first.place) : Guard.redact(spans)
  }
}
