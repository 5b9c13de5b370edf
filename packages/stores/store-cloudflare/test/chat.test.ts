/** `createMemory` in a Worker, over D1 and in a Durable Object: summaries, and what is there after the runtime has ended. */
import { expect, it } from "vitest"
import { workerOf } from "./miniflare.js"

const start = workerOf("chat", { CHATS: "Chat" }, { fromSources: false })

it.each(["d1", "object"])(
  "a chat at /%s is compacted, and is there when the runtime starts again",
  async (path) => {
    const before = await start()
    const contexts: Array<ReadonlyArray<string>> = []
    for (let message = 1; message <= 6; message++) {
      const body = `message ${message}`
      const answered = await before.dispatchFetch(`http://chat/${path}`, { method: "POST", body })
      contexts.push((await answered.json()) as ReadonlyArray<string>)
    }
    expect(contexts[0]).toEqual(["message 1"])
    const context = contexts.at(-1) ?? []
    expect(context.at(-1)).toBe("message 6")
    expect(context.length).toBeLessThan(6)
    expect(context[0]).toContain("[Conversation Summary]")

    const after = await start()
    const again = (await (await after.dispatchFetch(`http://chat/${path}`)).json()) as ReadonlyArray<string>
    expect(again).toEqual(context)
  },
)
