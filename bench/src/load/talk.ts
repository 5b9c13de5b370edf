/** What is said in a load run, and where it is stored. */
import { sharded } from "@memfold/sharded"

/** Compacts every eight messages, and keeps four. */
export const strategy = { strategy: "rolling-buffer", settings: { bufferSize: 4 } } as const

export const sessionOf = (at: number): string => `chat-${String(at).padStart(6, "0")}`

/** The two messages of a turn: some hundred characters each, and others in each turn. */
export const turnOf = (session: string, turn: number) => {
  const about = `order ${session}/${turn}`
  return [
    {
      role: "user" as const,
      content: `Where is my ${about}? It should have come on day ${turn}, and nobody has rung so far.`,
    },
    {
      role: "assistant" as const,
      content: `The ${about} left the house; the carrier says it comes within ${2 + (turn % 5)} days, before noon.`,
    },
  ]
}

/** The shards that a load run names, as JSON: the URL of each by its name. */
export const shardsIn = (store: string) =>
  sharded({ shards: JSON.parse(store) as Readonly<Record<string, string>> })

/** The store that a load run names: a URL, or shards. */
export const storeIn = (store: string) => (store.startsWith("{") ? shardsIn(store) : store)
