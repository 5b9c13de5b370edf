/** A search over HTTP says that it is partial: to the client, to any program, and to an agent behind MCP. */
import { createClient } from "@memfold/client"
import { start } from "@memfold/harness/children"
import { driverPath, lockProgram } from "@memfold/harness/sqlite"
import { serve } from "@memfold/server"
import { createMemory } from "memfold"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { mcpHandler } from "../src/index.js"
import { folderFor, overHttp } from "./clients.js"

const file = join(folderFor("partial"), "chats.db")

/** More messages than a search takes in by itself. */
const many = 2_100

it("as long as the index of a session is behind, and no longer", async () => {
  const store = `sqlite:${file}`
  await using writer = createMemory({
    store,
    compaction: { mode: "off" },
    recall: { fullTextIndex: "searches" },
  })
  const messages = Array.from({ length: many }, (_, at) => ({
    role: "user" as const,
    content: `Parcel ${at} is late.`,
  }))
  await writer.append("chat", messages, { owner: "ann" })
  const { url, close } = await serve({ store, port: 0, log: "none", mcp: mcpHandler })
  onTestFinished(close)
  const [client, agent] = [createClient({ url }), await overHttp(`${url}/mcp`)]
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    return (await response.json()) as { readonly unsearched?: number; readonly unsearchedSessions?: number }
  }
  const query = "late parcel"
  const all = async () => {
    const [session, owner, raw, rawOwner, tool] = await Promise.all([
      client.recall("chat", query),
      client.recallOf("ann", query),
      post("/sessions/chat/recall", { query }),
      post("/recall", { query, owner: "ann" }),
      agent.call("search_memory", { session: "chat", query }),
    ])
    return [
      session.unsearched,
      owner.unsearchedSessions,
      raw.unsearched,
      rawOwner.unsearchedSessions,
      tool["unsearched"],
    ]
  }
  // Nobody can write a part of the index.
  const holder = start(lockProgram, driverPath, file, "BEGIN IMMEDIATE", "60000")
  expect(await holder.line()).toBe("locked")
  expect(await all()).toEqual([many, 1, many, 1, many])
  holder.kill()
  await expect.poll(all).toEqual(Array.from({ length: 5 }, () => undefined))
  await agent.close()
})
