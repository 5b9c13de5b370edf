/**
 * Reasoning bound to what stands before it, as the documentation of preserved thinking describes it
 * (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking): each thinking block carries a signature over
 * everything before it, and is refused, or dropped, behind anything else.
 *
 * What counts: `system`, `tools` and the content of all messages before the block, by value. What does not: the marks of
 * `cache_control`, tools with `defer_loading`, whether a text stands as a string or as a block, whether neighbours of the
 * same role are one message, the order of fields, and every other parameter. Reasoning may be left out from the start of
 * the conversation, oldest first; a block that is missing between others invalidates all blocks after it. Messages that
 * the provider's own compaction has replaced count as if they were still there.
 */
import { createHash, createHmac } from "node:crypto"
import { canonical } from "./json.js"
import { messagesSequence, responsesSequence, type Sequence, type Step } from "./sequence.js"

/** A piece of reasoning whose signature does not fit. */
export interface Mismatch {
  readonly path: string
  /** Whether the signature was made behind another prefix (`bound`), or never for this text by this signer (`broken`). */
  readonly problem: "bound" | "broken"
}

/** Makes and checks signatures with one secret. Signers with the same secret accept each other's. */
export interface Signer {
  /**
   * The signatures of the reasoning that begins the answer to a request.
   *
   * @param request the request that is answered. Reasoning in it that does not fit counts as dropped.
   * @param texts what is thought, one after another
   */
  readonly sign: (request: unknown, texts: ReadonlyArray<string>) => ReadonlyArray<string>
  /**
   * Checks all reasoning of a request.
   *
   * @returns the pieces that do not fit
   */
  readonly check: (request: unknown) => ReadonlyArray<Mismatch>
  /**
   * The signature of a summary that the provider writes in place of everything in a request. Messages that followed keep
   * their reasoning behind it.
   */
  readonly compaction: (request: unknown) => string
}

const hash = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22)

/** What stands before a step: its hash, the last reasoning (its signature hashed), and the role. */
interface Prefix {
  readonly hash: string
  readonly previous: string
  readonly role: string
  /** Whether the last step was a compaction. */
  readonly compacted: boolean
}

const sequences = { messages: messagesSequence, responses: responsesSequence }

/**
 * Signs reasoning and checks it.
 *
 * @param secret whatever makes these signatures different from the signatures of another account
 * @param api the API whose requests are signed: `messages` (Anthropic, the default) or `responses` (OpenAI)
 * @returns the signer
 *
 * @example
 * ```ts
 * import { signer } from "@memfold/strict-providers"
 *
 * const { sign, check } = signer("my account")
 * const asked = { role: "user", content: "How far is it to Graz?" }
 * const [signature] = sign({ messages: [asked] }, ["By train or by car?"])
 * const answer = {
 *   role: "assistant",
 *   content: [{ type: "thinking", thinking: "By train or by car?", signature }, { type: "text", text: "200 km." }],
 * }
 * console.log(check({ messages: [asked, answer] })) // []
 * console.log(check({ messages: [{ ...asked, content: "Summary: …" }, answer] })[0]?.problem) // "bound"
 * ```
 */
export const signer = (secret: string, api: keyof typeof sequences = "messages"): Signer => {
  const mac = (text: string) => createHmac("sha256", secret).update(text).digest("base64url").slice(0, 22)
  const write = (...fields: ReadonlyArray<string>) => {
    const text = fields.join(".")
    return Buffer.from(`${text}.${mac(text)}`).toString("base64")
  }
  const read = (kind: string, signature: unknown): ReadonlyArray<string> | undefined => {
    if (typeof signature !== "string") return undefined
    const fields = Buffer.from(signature, "base64").toString("latin1").split(".")
    const signed = fields.slice(0, -1).join(".")
    return fields[0] === kind && fields.at(-1) === mac(signed) ? fields.slice(1, -1) : undefined
  }

  const opened = ({ opening }: Sequence): string => hash(canonical(opening))

  /** What stands before the step after this one, or what is wrong with this one. */
  const after = (step: Step, before: Prefix, start: string): Prefix | Mismatch["problem"] => {
    const { role } = step
    switch (step.kind) {
      case "content": {
        // The first kept message would become part of the last summarized one.
        const merged = api === "messages" && before.compacted && before.role === role
        return {
          ...before,
          hash: hash(canonical([before.hash, role, step.value, ...(merged ? ["merged"] : [])])),
          role,
          compacted: false,
        }
      }
      case "reasoning": {
        const [prefix, previous, text] = read("reasoning", step.signature) ?? []
        if (prefix === undefined || text !== hash(step.text)) return "broken"
        const follows = before.previous === "" || before.previous === previous
        return prefix === before.hash && follows
          ? { ...before, previous: hash(String(step.signature)) }
          : "bound"
      }
      case "compaction": {
        const [opening, until, lastRole] = read("compaction", step.signature) ?? []
        if (opening === undefined || until === undefined || lastRole === undefined) {
          return { ...before, hash: hash(canonical([before.hash, step.signature])) }
        }
        const kept = opening === start ? until : hash(until)
        return { hash: kept, previous: "", role: lastRole, compacted: true }
      }
    }
  }

  const walk = (sequence: Sequence, found: (mismatch: Mismatch) => void = () => undefined): Prefix => {
    const start = opened(sequence)
    let before: Prefix = { hash: start, previous: "", role: "", compacted: false }
    for (const step of sequence.steps) {
      const next = after(step, before, start)
      if (typeof next === "string") found({ path: step.path, problem: next })
      else before = next
    }
    return before
  }
  const sequenceOf = sequences[api]

  return {
    sign: (request, texts) => {
      const before = walk(sequenceOf(request))
      let { previous } = before
      return texts.map((text) => {
        const signature = write("reasoning", before.hash, previous, hash(text))
        previous = hash(signature)
        return signature
      })
    },
    check: (request) => {
      const found: Array<Mismatch> = []
      walk(sequenceOf(request), (mismatch) => found.push(mismatch))
      return found
    },
    compaction: (request) => {
      const sequence = sequenceOf(request)
      const { hash: until, role } = walk(sequence)
      return write("compaction", opened(sequence), until, role)
    },
  }
}
