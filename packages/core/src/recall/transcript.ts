/** Recalled messages as text: each with its message index and author, below the day it was written. */
import type { Message, Origin, Role } from "@memfold/message/Message"
import { of as originOf } from "@memfold/message/Origin"
import type { LoggedMessage } from "./readLog.js"
import { lookOf, oneLine } from "../summary/marks.js"
import { readableText } from "./searchText.js"

/** A message that was found. */
export interface RecalledMessage {
  readonly index: number
  /** The version of the event that appended it. */
  readonly version: number
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  readonly role: Role
  /** Who stands behind its words (see `Origin.of`). */
  readonly origin: Origin
  /**
   * The message as it is in the log; of an excerpt, only its author and the excerpt. Messages with tool calls and results
   * come in whole groups or as excerpts.
   */
  readonly message: Message
  /** The text of the message, or the part of it that fits the query. */
  readonly text: string
  /** Whether `text` is only a part of the message; `…` marks what is left out. */
  readonly excerpt: boolean
  /**
   * The place of the message among what was found, from 1 for what fits the query best; the messages of a group of tool calls share
   * one place. Absent where a range was read instead of searched.
   */
  readonly rank?: number
}

/** The day of a time, which stands above the messages of that day; empty if it is none. */
export const day = (time: number): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
}

const prefixOf = ({ index, message }: Pick<LoggedMessage, "index" | "message">): string =>
  `[${index}] ${oneLine(message.name ?? message.role)}: `

/** The lines of a text but the first, and what a transcript begins a line with: a message, a day, or a session. */
const laterLines = /(?<=[^\P{Cc}\t]|[\u2028\u2029])(?:\t|[^\p{Cc}\u2028\u2029])+/gu
const head = /^(?:\[\p{N}+\]|\(\p{N}{4}-|#\s*session\b)/u

/** A message as a line. What it says cannot look like another message: a space stands in front of such a line. */
export const lineOf = (one: RecalledMessage): string =>
  prefixOf(one) + one.text.replaceAll(laterLines, (line) => (head.test(lookOf(line)) ? ` ${line}` : line))

/** Recalled messages of one session as one text, in order. */
export const transcript = (messages: ReadonlyArray<RecalledMessage>): string => {
  const lines: Array<string> = []
  let last = ""
  for (const one of messages) {
    const today = day(one.time)
    if (today !== last) lines.push(`(${today})`)
    last = today
    lines.push(lineOf(one))
  }
  return lines.join("\n")
}

export const whole = (logged: LoggedMessage): RecalledMessage => ({
  ...logged,
  role: logged.message.role,
  origin: originOf(logged.message),
  text: readableText(logged.message),
  excerpt: false,
})

export const partOf = ({ message, ...place }: LoggedMessage, text: string): RecalledMessage => ({
  ...place,
  role: message.role,
  origin: originOf(message),
  message: {
    role: message.role,
    parts: [{ type: "text", text }],
    ...(message.name === undefined ? {} : { name: message.name }),
  },
  text,
  excerpt: true,
})
