/** What a guard redacts is in no byte that a store has written, its write-ahead log included, nor in what a summarizer is asked. */
import { createClient } from "@memfold/client"
import { guard } from "@memfold/guard"
import { bytesOf } from "@memfold/harness/bytesOf"
import { foundIn, planted } from "@memfold/harness/planted"
import { postgresServers } from "@memfold/harness/postgresServers"
import { servers } from "@memfold/harness/redisServers"
import { storeFile } from "@memfold/harness/storeFile"
import { dirname } from "node:path"
import { expect, it } from "vitest"
import { started } from "./services.js"

const ofRedis = servers()
const ofPostgres = postgresServers()

/** A store, the folder of its files, and how what is only in memory gets there. */
interface Place {
  readonly store: string
  readonly folder: string
  readonly written: () => Promise<unknown>
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  "a SQLite file with its write-ahead log": async () => {
    const store = storeFile()
    return { store, folder: dirname(store.slice("sqlite:".length)), written: async () => undefined }
  },
  "a Redis with its snapshot and its append-only file": async () => {
    const server = await ofRedis.server({ config: ["appendonly yes", "appendfsync always"] })
    return { store: server.url, folder: server.folder, written: () => server.client.save() }
  },
  "a PostgreSQL with its write-ahead log": async () => {
    const { url, folder, stop } = await ofPostgres.server({})
    return { store: url, folder, written: stop }
  },
}

it.each(Object.keys(places))("%s", async (name) => {
  const { store, folder, written } = await places[name]!()
  const secrets = planted(300)
  const text = secrets.map((one) => one.text).join("\n\n")
  const asked: Array<string> = []
  const service = await started({
    store,
    beforeAppend: guard(),
    compaction: { mode: "inline" },
    summarizer: async ({ system, user }) => {
      asked.push(system, user)
      return "A summary."
    },
  })
  const memory = createClient({ url: service.url })
  const strategy = { strategy: "sliding-window", settings: { tailKeepSize: 2, contextSize: 6 } } as const
  await memory.append("s", { role: "user", content: text }, { owner: "ann" })
  await memory.describe("s", { title: "My card is 4111 1111 1111 1111" })
  await memory.edit("s", 0, [
    { role: "user", content: `Again: ${text}` },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "c1", type: "function", function: { name: "run", arguments: JSON.stringify({ text }) } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: JSON.stringify({ env: text }) },
  ])
  for (let n = 0; n < 8; n++)
    await memory.append("s", { role: "user", content: `Question ${n}? ${text}` }, strategy)
  await memory.recall("s", "redacted aws card")
  await service.close()
  await written()
  const bytes = bytesOf(folder)
  expect(bytes).toContain("[redacted: card]")
  expect(asked.join("\n")).toContain("[redacted: card]")
  for (const one of [bytes, ...asked]) expect(foundIn(one, secrets)).toEqual([])
  expect(bytes).not.toContain("4111 1111 1111 1111")
})
