/** The Worker of the README: a chat in D1 at `/d1`, and one in an object of its own at `/object`. */
import { layerD1, layerObject } from "../../src/index.js"
import { createMemory, SlidingWindow } from "memfold"

const answer = async (memory, request) => {
  const text = await request.text()
  if (text !== "") await memory.append("chat", { role: "user", content: text })
  return Response.json((await memory.context("chat")).messages.map(({ content }) => content))
}

const settings = {
  strategy: SlidingWindow({ tailKeepSize: 2, contextSize: 4, compressionWindowSize: 1 }),
  // What goes on behind an answer is ended with it.
  compaction: { mode: "inline" },
}

export class Chat {
  constructor(context) {
    this.memory = createMemory({ store: layerObject(context), ...settings })
  }
  async fetch(request) {
    return answer(this.memory, request)
  }
}

export default {
  async fetch(request, { DB, CHATS }) {
    if (new URL(request.url).pathname === "/object") return CHATS.get(CHATS.idFromName("chat")).fetch(request)
    const memory = createMemory({ store: layerD1({ database: DB }), ...settings })
    try {
      return await answer(memory, request)
    } finally {
      await memory.close()
    }
  },
}
