/** Databases of released versions. */
import type { Redis } from "ioredis"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { servers } from "@memfold/harness/redisServers"
import {
  expectedOf,
  fill,
  problemsOf,
  readOnly,
  readStored,
  recordsOf,
  storedFile,
  storedVersions,
  writeStored,
} from "@memfold/harness/stored"
import { openingFails, withLog } from "./support.js"

const { server } = servers()
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

describe("the form of the keys", () => {
  const formKeys = async (client: Redis) =>
    (await client.keys("memfold:*")).filter((key) => key.endsWith("}:form"))

  it("is said by the first write, and a database without it is of the first form", async () => {
    const { url, client } = await server()
    await withLog({ url }, (log) => log.head("s"))
    expect(await formKeys(client)).toEqual([])
    await fill(url as `redis://${string}`)
    const [key] = await formKeys(client)
    expect(await client.get(key!)).toBe("1")
    const stored = await readStored(url as `redis://${string}`)
    await client.del(key!)
    expect(await withLog({ url }, problemsOf)).toEqual([])
    expect(await readStored(url as `redis://${string}`)).toEqual(stored)
  })

  it("that is newer is read, and takes no writes", async () => {
    const { url, client } = await server()
    await fill(url as `redis://${string}`)
    const [key] = await formKeys(client)
    await client.set(key!, "2")
    const before = await dumped(client)
    const records = await withLog({ url, readonly: true }, recordsOf)
    expect((await openingFails({ url })).reason).toBe(
      `${url.replace(/\/?$/u, "/0")} has form 2 of the keys with the prefix "memfold", this memfold knows form 1; update memfold, or read it with memfold export`,
    )
    expect(await withLog({ url, readonly: true }, readOnly)).toEqual({
      records,
      problems: [],
      refused: Array(5).fill(expect.stringContaining("is open to be read, and takes no writes")),
    })
    expect(await dumped(client)).toBe(before)
  })
})
