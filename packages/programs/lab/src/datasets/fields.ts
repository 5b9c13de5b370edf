/** What the readers of data sets share. */
import type { Conversation } from "../Conversation.js"

export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object, not a list or null. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A conversation, or why it cannot be read. */
export type ReadConversation = { readonly conversation: Conversation } | { readonly problem: string }

/** The conversation at a position of the file cannot be read. */
export const unreadable = (position: number, problem: string): ReadConversation => ({
  problem: `conversation ${position}: ${problem}`,
})
