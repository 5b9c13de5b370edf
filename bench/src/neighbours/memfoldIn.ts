/** The memory of memfold that takes a neighbour's place: the sliding window in a file, with the neighbour's durability. */
import { createMemory } from "memfold"
import { join } from "node:path"
import { kept, summary } from "./Neighbour.js"

export const memoryIn = (folder: string, synchronous: "full" | "normal") =>
  createMemory({
    store: `sqlite:${join(folder, "chats.db")}?synchronous=${synchronous}`,
    strategy: "sliding-window",
    settings: { tailKeepSize: kept },
    summarizer: async () => summary,
  })
