/** Messages as sources of quotations: who speaks, in which pieces. */
import { Item, Message, Structure } from "@memfold/core"
import { type Steps } from "@memfold/log/breathe"
import type { Piece, Source } from "./digest.js"
import { callPiece, labelled } from "./digest.js"
import { readable } from "./json.js"
import type { Sentence } from "./text.js"
import { clip, collapse, sentences, slice } from "./text.js"

/** Of a longer text, this many UTF-16 units at its start and at its end are read. */
const limits = { spoken: { head: 16_000, tail: 4_000 }, output: { head: 1_200, tail: 800 } }

/** Lines of a long tool output that are read wherever they stand: the words programs report trouble with. */
const trouble = /\b(?:errors?|exception|fail(?:ed|ures?)?|fatal|panic|traceback|denied|warning)\b/giu
const troubles = 8
const around = 120

interface Excerpt {
  readonly text: string
  /** Whether something was left out before it. */
  readonly gap: boolean
}

const ends = (
  text: string,
  limit: { readonly head: number; readonly tail: number },
): ReadonlyArray<Excerpt> =>
  text.length <= limit.head + limit.tail
    ? [{ text, gap: false }]
    : [
        { text: slice(text, 0, limit.head), gap: false },
        { text: slice(text, text.length - limit.tail), gap: true },
      ]

/** The parts of a tool's output worth reading: its ends, and the lines between them that report trouble. */
const excerpts = (output: string): ReadonlyArray<Excerpt> => {
  const [first, last] = ends(output, limits.output)
  if (first === undefined || last === undefined) return ends(output, limits.output)
  const found: Array<Excerpt> = []
  const until = output.length - limits.output.tail
  let from = limits.output.head
  for (const match of output.slice(from, until).matchAll(trouble)) {
    const at = limits.output.head + match.index
    if (at < from) continue
    const start = Math.max(from, at - around, output.lastIndexOf("\n", at) + 1)
    const lineEnd = output.indexOf("\n", at)
    from = Math.min(lineEnd === -1 ? until : lineEnd, at + around, until)
    found.push({ text: slice(output, start, from), gap: true })
    if (found.length === troubles) break
  }
  return [first, ...found, last]
}

/** Code between fences is marked as such; the fences themselves, heading and emphasis marks are dropped. */
const prose = (text: string): ReadonlyArray<{ readonly text: string; readonly code: boolean }> =>
  text.split(/^[ \t]*(?:```|~~~).*$/mu).map((block, position) => ({
    text:
      position % 2 === 1
        ? block
        : block
            .replace(/^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)/gmu, "")
            .replace(/(^|\s)\*\*([^\s*][^*\n]*)\*\*/gmu, "$1$2"),
    code: position % 2 === 1,
  }))

/** Numbers the pieces so that pieces said together follow each other. */
const number = (
  parts: ReadonlyArray<{
    readonly sentences: ReadonlyArray<Sentence>
    readonly gap: boolean
    readonly code: boolean
  }>,
): ReadonlyArray<Piece> => {
  let position = -1
  return parts.flatMap((part) => {
    if (part.gap) position++
    return part.sentences.map((sentence) => ({ ...sentence, position: ++position, code: part.code }))
  })
}

const dayOf = (message: Message.Message): string | undefined => {
  if (message.time === undefined) return undefined
  const date = new Date(message.time)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10)
}

const longestArgument = 96

/** A value on one line. A long path keeps its end, which says which file it is. */
const written = (value: unknown): string => {
  const text = collapse(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
  if (text.length <= longestArgument || /\s/.test(text)) return clip(text, longestArgument)
  return `${slice(text, 0, 24)}…${slice(text, text.length - longestArgument + 25)}`
}

/** The arguments of a call as a person would note them: `src/a.ts`, or `path=src/a.ts, limit=20`. */
const argumentsOf = (call: Message.ToolCall): string => {
  try {
    const parsed: unknown = JSON.parse(call.arguments)
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return written(parsed)
    const entries = Object.entries(parsed)
    const [only] = entries
    if (entries.length === 1 && only !== undefined) return written(only[1])
    // The first argument mostly says on what; a long one after it is content, not a name of anything.
    const given = entries.map(([key, value], at) => {
      const whole = written(value)
      return at > 0 && whole.length > 40 ? "…" : `${labelled(key)}=${whole}`
    })
    return clip(given.filter((one, at) => one !== "…" || given[at - 1] !== "…").join(", "), 140)
  } catch {
    // Not JSON: the model's own text is all there is.
    return written(call.arguments)
  }
}

const speakerLabel = ({ role, name }: Message.Message): string => {
  const known = clip(labelled(name ?? ""), 40)
  return known === "" ? role : `${role} (${known})`
}

const toolLabel = (name: string | undefined, call: Message.ToolCall | undefined): string => {
  const tool = clip(labelled(name ?? "").replace(/ /gu, "_"), 64)
  const given = call === undefined ? "" : argumentsOf(call)
  return "tool" + (tool === "" ? "" : ` ${tool}`) + (given === "" ? "" : `(${given})`)
}

/** An output this short is told with the call; a longer one can be quoted from, or left out. */
const told = 80

const ofTool = (
  call: Message.ToolCall | undefined,
  result: Message.ToolResult | undefined,
  day: string | undefined,
): Source => {
  const failed = result !== undefined && Message.failed(result)
  const output = readable(result?.output ?? "")
  const found = number(
    excerpts(output).map(({ text, gap }) => ({ sentences: sentences(text), gap, code: false })),
  )
  const last = found.length - 1
  const quotable = found.map((piece, at) => ({ ...piece, began: at > 0, goesOn: at < last }))
  const nothing = result === undefined ? "(no result)" : "(no output)"
  const short = failed || (last === 0 && output.length <= told)
  return {
    speaker: "tool",
    label: toolLabel(call?.name ?? result?.name, call) + (failed ? " failed" : ""),
    day,
    failed,
    old: false,
    pieces:
      last === -1
        ? [{ ...callPiece(), text: nothing, began: false, goesOn: false }]
        : short
          ? quotable
          : [callPiece(), ...quotable],
  }
}

/** A text as what is said: its sentences, and its code apart. */
const spokenText = (text: string): Parameters<typeof number>[0] =>
  ends(text, limits.spoken).flatMap((excerpt) =>
    prose(excerpt.text).map(({ text: said, code }) => ({
      sentences: sentences(said),
      gap: excerpt.gap,
      code,
    })),
  )

interface Called {
  readonly call: Message.ToolCall
  readonly id: string
  readonly name: string
  readonly slot: number
  readonly day: string | undefined
}

/**
 * The sources of a conversation, in its order. A tool call and its result are one source, where the call was
 * made; reasoning, and items of a provider without text, are not quoted.
 */
export function* ofMessages(messages: ReadonlyArray<Message.Message>): Steps<ReadonlyArray<Source>> {
  const sources: Array<Source | null> = []
  let open = new Structure.OpenCalls<Called>()
  // A call is a source with its result, or at the end without one.
  const unanswered = new Set<Called>()
  for (const message of messages) {
    yield
    const day = dayOf(message)
    const spoken: Array<Parameters<typeof number>[0][number]> = []
    const after: Array<() => void> = []
    for (const part of message.parts) {
      switch (part.type) {
        case "text":
          spoken.push(...spokenText(part.text))
          break
        case "opaque":
          if (!Message.isBound(part)) spoken.push(...spokenText(Item.textOf(part)))
          break
        case "file":
          spoken.push(...spokenText(Item.textOf(part)))
          spoken.push({
            sentences: sentences(`[file ${[part.name, part.mediaType].filter(Boolean).join(", ")}]`),
            gap: false,
            code: false,
          })
          break
        case "tool-call":
          after.push(() => {
            const waiting = { call: part, id: part.id, name: part.name, slot: sources.push(null) - 1, day }
            open.add(waiting)
            unanswered.add(waiting)
          })
          break
        case "tool-result":
          after.push(() => {
            const waiting = open.answer(part)
            const source = ofTool(waiting?.call, { ...part, output: Item.outputText(part) }, day)
            if (waiting === undefined) sources.push(source)
            else {
              sources[waiting.slot] = source
              unanswered.delete(waiting)
            }
          })
          break
      }
    }
    if (message.role === "user") open = new Structure.OpenCalls()
    const said = number(spoken)
    if (said.length > 0) {
      sources.push({
        speaker: message.role,
        label: message.role === "tool" ? toolLabel(message.name, undefined) : speakerLabel(message),
        day,
        failed: false,
        old: false,
        pieces: said,
      })
    }
    for (const place of after) place()
  }
  for (const { slot, call, day } of unanswered) sources[slot] = ofTool(call, undefined, day)
  return sources.filter((source) => source !== null)
}
