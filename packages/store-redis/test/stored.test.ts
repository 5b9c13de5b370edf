/** Databases of released versions. */
import type { Redis } from "ioredis"
import { readFileSync } from "node:fs"
import { describe, expect, it, vi } from "vitest"
import { servers } from "@memfold/harness/redisServers"
import {
  expectedOf,
  fill,
  problemsOf,
  readStored,
  storedFile,
  storedVersions,
  writeStored,
} from "@memfold/harness/stored"
import { withLog } from "./support.js"

const { server } = servers()
vi.setConfig({ testTimeout: 120_000 })

/** Each key as its server dumps it, a line of JSON for one. Redis 7.0 wrote them, the oldest one that the store runs on. */
const dumped = async (client: Redis): Promise<string> => {
  const lines: Array<string> = []
  for (const key of (await client.keysBuffer("*")).toSorted(Buffer.compare)) {
    const dump = (await client.dumpBuffer(key)).toString("base64")
    lines.push(JSON.stringify({ key: key.toString("base64"), dump }))
  }
  return `${lines.join("\n")}\n`
}

const restore = async (client: Redis, lines: string): Promise<void> => {
  for (const line of lines.trimEnd().split("\n")) {
    const { key, dump } = JSON.parse(line) as { readonly key: string; readonly dump: string }
    await client.restore(Buffer.from(key, "base64"), 0, Buffer.from(dump, "base64"))
  }
}

describe.each(storedVersions)("a database of memfold %s", (version) => {
  it("reads as it did, and is sound", async () => {
    await writeStored(version, "redis.jsonl", async () => {
      const { url, client } = await server()
      await fill(url as `redis://${string}`)
      return dumped(client)
    })
    const { url, client } = await server()
    await restore(client, readFileSync(storedFile(version, "redis.jsonl"), "utf8"))
    await writeStored(
      version,
      "redis.json",
      async () => `${JSON.stringify(await readStored(url as `redis://${string}`))}\n`,
    )
    expect(await withLog({ url }, problemsOf)).toEqual([])
    expect(await readStored(url as `redis://${string}`)).toEqual(expectedOf(version, "redis"))
  })
})
