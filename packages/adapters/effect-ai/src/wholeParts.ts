/** What a stream gave, put together. */
import { Response } from "@effect/ai"
import { present } from "@memfold/codec"

type Metadata = Response.ProviderMetadata

/** Merges the metadata of a part and of its continuation: for each provider, later fields win. */
const joined = (one: Metadata, other: Metadata): Metadata => ({
  ...one,
  ...Object.fromEntries(
    Object.entries(other).map(([name, fields]) => [name, { ...one[name], ...present(fields ?? {}) }]),
  ),
})

/**
 * The parts of a response. Parts of a stream are put together: a text and its deltas become one text, at the place where it
 * began. The pieces of a call's parameters are left out, because the call has the whole parameters.
 */
export const wholeParts = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Response.AnyPart> => {
  const whole: Array<Response.AnyPart> = []
  const open = new Map<string, number>()
  const add = (kind: "text" | "reasoning", id: string, delta: string, metadata: Metadata) => {
    const at = open.get(`${kind} ${id}`)
    const before = at === undefined ? undefined : whole[at]
    if (at === undefined || before?.type !== kind) return
    whole[at] = Response.makePart(kind, {
      text: before.text + delta,
      metadata: joined(before.metadata, metadata),
    })
  }
  for (const part of parts) {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const kind = part.type === "text-start" ? "text" : "reasoning"
        open.set(`${kind} ${part.id}`, whole.length)
        whole.push(Response.makePart(kind, { text: "", metadata: part.metadata }))
        break
      }
      case "text-delta":
        add("text", part.id, part.delta, part.metadata)
        break
      case "reasoning-delta":
        add("reasoning", part.id, part.delta, part.metadata)
        break
      case "text-end":
        add("text", part.id, "", part.metadata)
        break
      case "reasoning-end":
        add("reasoning", part.id, "", part.metadata)
        break
      case "tool-params-start":
      case "tool-params-delta":
      case "tool-params-end":
        break
      default:
        whole.push(part)
    }
  }
  return whole
}

/**
 * Of a response that broke off, what stays valid: everything up to the last call that has its result. Calls without a result are
 * left out. Nothing if no tool has run.
 */
export const finishedSteps = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Response.AnyPart> => {
  const whole = wholeParts(parts)
  const answered = new Set(
    whole.flatMap((part) => (part.type === "tool-result" && !part.providerExecuted ? [part.id] : [])),
  )
  const isAnswered = (part: Response.AnyPart) => part.type === "tool-call" && answered.has(part.id)
  const end = whole.findLastIndex(isAnswered) + 1
  return whole.filter((part, at) => {
    if (part.type === "tool-result" && !part.providerExecuted) return end > 0
    if (part.type === "tool-call" && !part.providerExecuted) return isAnswered(part)
    return at < end
  })
}
