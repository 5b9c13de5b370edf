/** What the page asks its server for. */
import type { UIMessage } from "ai"
import type { Branch } from "./branches.js"

/** A chat in the list. */
export interface Listed {
  readonly id: string
  readonly title: string | null
}

/** A chat: its messages, and the branches of its conversation. */
export interface Stored {
  readonly messages: Array<UIMessage>
  readonly branches: ReadonlyArray<Branch>
}

/** What the model gets of a chat. */
export interface Remembered {
  readonly tokens: number
  /** How many messages the chat has. */
  readonly total: number
  /** The summary in place of the oldest messages: those before the index `coveredTo`. */
  readonly summary: { readonly text: string; readonly coveredTo: number } | null
}

const ask = async (path: string, method: "GET" | "POST" = "GET"): Promise<Response> => {
  const response = await fetch(`/api${path}`, { method })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return response
}

export const listed = async () => (await (await ask("/chats")).json()) as ReadonlyArray<Listed>
export const stored = async (chat: string) => (await (await ask(`/chats/${chat}`)).json()) as Stored
export const remembered = async (chat: string) =>
  (await (await ask(`/chats/${chat}/memory`)).json()) as Remembered
export const stop = (chat: string) => ask(`/chats/${chat}/stop`, "POST")
export const open = (chat: string, branch: number) => ask(`/chats/${chat}/branch/${branch}`, "POST")
