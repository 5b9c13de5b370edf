/** The memory of memfold that takes a neighbour's place: the sliding window in a file, with the neighbour's durability. */
import * as SqliteEventLog from "@memfold/store-sqlite"
import { createMemory } from "memfold"
import { join } from "node:path"
import { kept, summary } from "./Neighbour.js"

/** The store as the documentation shows it. Another durability than the default is an option of the store's own package. */
const storeIn = (filename: string, synchronous: "full" | "normal") =>
  synchronous === "full" ? (`sqlite:${filename}` as const) : SqliteEventLog.layer({ filename, synchronous })

export const memoryIn = (folder: string, synchronous: "full" | "normal") =>
  createMemory({
    store: storeIn(join(folder, "chats.db"), synchronous),
    strategy: "sliding-window",
    settings: { tailKeepSize: kept },
    summarizer: async () => summary,
  })
