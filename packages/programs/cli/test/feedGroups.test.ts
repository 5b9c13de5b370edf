/** Consumers of the feed in groups, as processes that are killed while others append; and webhooks. */
import { createHmac } from "node:crypto"
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createMemory } from "memfold"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { often } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { postgresServers } from "@memfold/harness/postgresServers"
import { environment, inFolder, lines, program, programAt } from "@memfold/harness/program"
import { servers } from "@memfold/harness/redisServers"

const { folder, memfold } = inFolder("feed-groups")
const { server: postgres } = postgresServers()
const redis = servers()

const said = (content: string) => ({ role: "user" as const, content })

/** A process of a group; it is killed when the test ends. */
const consumer = (store: string, onLine: (line: string) => void) => {
  const args = [
    program,
    "feed",
    "--store",
    store,
    "--group",
    "g",
    "--follow",
    "--json",
    // A busy machine keeps it, and a consumer that is killed holds the others up for so long.
    "--lease",
    "3",
  ]
  const running = spawn(process.execPath, args, { env: environment(), stdio: ["ignore", "pipe", "inherit"] })
  const closed = once(running, "close")
  createInterface({ input: running.stdout }).on("line", onLine)
  const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
    running.kill(signal)
    await closed
  }
  onTestFinished(() => kill())
  return { kill }
}

const stores: ReadonlyArray<readonly [name: string, open: () => Promise<string>]> = [
  ["SQLite", async () => `sqlite:${join(folder, "killed.db")}`],
  ["PostgreSQL", async () => (await postgres({ config: ["fsync = off"] })).url],
  ["Redis", async () => (await redis.server()).url],
]

describe.each(stores)("a group on %s", (name, open) => {
  it("misses no event, though its consumers are killed while others append", async () => {
    const store = await open()
    const [writers, appends, killedAfter] = [4, 40, 30]
    // Each kill takes a lease; one store has them all in a quick run.
    const kills = name === "SQLite" ? 6 : often(2, 6)
    const memories = Array.from({ length: writers }, () =>
      createMemory({ store, compaction: { mode: "manual" } }),
    )
    const memory = memories[0]!
    onTestFinished(async () => void (await Promise.all(memories.map((memory) => memory.close()))))
    const found = new Set<string>()
    const readers = new Set<ReturnType<typeof consumer>>()
    let killed = 0
    const begin = (): void => {
      let printed = 0
      const reader = consumer(store, (line) => {
        // The line that a process was killed in comes again.
        if (!line.endsWith("}")) return
        const { session, version } = JSON.parse(line) as { session: string; version: number }
        found.add(`${session} ${version}`)
        if (++printed !== killedAfter || killed === kills) return
        killed++
        readers.delete(reader)
        void reader.kill()
        begin()
      })
      readers.add(reader)
    }
    const expected = new Set<string>()
    // A store has to be there for those who read it.
    await memory.append("s0", said("first"))
    begin()
    begin()
    await Promise.all(
      memories.map(async (memory, writer) => {
        for (let at = 0; at < appends; at++) {
          const session = `s${(writer * 7 + at) % 9}`
          const { version } = await memory.append(session, [said("a"), said("b")])
          expected.add(`${session} ${version}`)
        }
      }),
    )
    // Each consumer may read more than it is killed after: then there is more to read.
    let appended = 1 + writers * appends * 2
    await eventually(
      "enough consumers are killed",
      async () => {
        if (killed < kills && found.size >= appended) {
          const more = Array.from({ length: 2 * killedAfter }, () => said("more"))
          appended += more.length
          await memory.append("s0", more)
        }
        return killed === kills
      },
      200,
    )
    for (let at = 0; at < 9; at++)
      for await (const { session, version } of memory.events(`s${at}`)) expected.add(`${session} ${version}`)
    await eventually(
      "all events come to the group",
      async () => [...expected].every((one) => found.has(one)),
      200,
    )
    expect([...found].toSorted()).toEqual([...expected].toSorted())
    await Promise.all([...readers].map(({ kill }) => kill("SIGTERM")))
    // What was done and not kept yet comes again, and then no more.
    const rest = () => memfold("feed", "--store", store, "--group", "g", "--json")
    await rest()
    expect((await rest()).out).toBe("")
  })
})

it("goes on behind events only when their lines have left the process: a slow reader loses none with a killed one", async () => {
  const store = `sqlite:${join(folder, "slow.db")}`
  const memory = createMemory({ store, compaction: { mode: "manual" } })
  for (let at = 0; at < 20; at++)
    await memory.append(
      "s",
      Array.from({ length: 100 }, (_, index) => said(`${at} ${index} ${"x".repeat(200)}`)),
    )
  await memory.close()
  const found = new Set<number>()
  const take = (text: string): void => {
    for (const line of text.split("\n"))
      if (line.endsWith("}")) found.add((JSON.parse(line) as { readonly version: number }).version)
  }
  const call = ["feed", "--store", store, "--group", "slow", "--json", "--lease", "1"]
  const running = spawn(process.execPath, [program, ...call, "--follow"], {
    env: environment(),
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => void running.kill("SIGKILL"))
  // Nothing is read until it is killed: what it has printed by then is in the pipe, or was not handed over.
  await once(running.stdout, "readable")
  await memfold("feed", "--store", store, "--group", "another", "--json")
  running.kill("SIGKILL")
  take((await running.stdout.setEncoding("utf8").toArray()).join(""))
  expect(found.size).toBeGreaterThan(0)
  expect(found.size).toBeLessThan(2_000)
  await eventually(
    "the turn of the killed process ends",
    async () => {
      take((await memfold(...call)).out)
      return found.size === 2_000
    },
    30,
  )
})

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

it("posts events with the signature of Standard Webhooks, tries again, gives up what is not taken, and posts that again when it is asked to", async () => {
  const store = `sqlite:${join(folder, "webhook.db")}`
  const memory = createMemory({ store })
  for (const session of ["one", "refused", "two"]) await memory.append(session, said(`to ${session}`))
  await memory.close()
  const posted: Array<string> = []
  let hasRecovered = false
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => void (body += text))
    request.on("end", () => {
      const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = request.headers
      const key = Buffer.from(secret.slice(6), "base64")
      const signed = createHmac("sha256", key)
        .update(`${String(id)}.${String(time)}.${body}`)
        .digest("base64")
      const { type, data } = JSON.parse(body) as { type: string; data: { session: string; event: object } }
      posted.push(`${type} ${data.session} ${String(signature === `v1,${signed}`)} ${String(id)}`)
      response.writeHead(data.session === "refused" && !hasRecovered ? 500 : 204).end()
    })
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/path-is-secret`
  vi.stubEnv("MEMFOLD_TEST_SECRET", secret)
  onTestFinished(() => void vi.unstubAllEnvs())
  const posting = programAt(program, folder)
  const call = [
    "feed",
    "--store",
    store,
    "--group",
    "crm",
    "--webhook",
    url,
    "--secret-env",
    "MEMFOLD_TEST_SECRET",
  ]
  const ran = await posting(...call, "--attempts", "2")
  expect(ran.code).toBe(0)
  expect(posted.map((line) => line.split(" ").slice(0, 3))).toEqual(
    ["one", "refused", "refused", "two"].map((session) => ["MessageAppended", session, "true"]),
  )
  // An event has one id, however often it is posted.
  const ids = posted.map((line) => line.split(" ").at(-1))
  expect(ids[1]).toBe(ids[2])
  expect(new Set(ids).size).toBe(3)
  const [letter, ...more] = lines(
    (await memfold("feed", "--store", store, "--group", "crm", "--given-up", "--json")).out,
  )
  expect(letter).toMatchObject({ session: "refused", version: 1, attempts: 2 })
  expect(letter!["reason"]).toMatch(/127\.0\.0\.1:\d+ answered with status 500/)
  expect(more).toEqual([])
  for (const text of [ran.out, ran.err, JSON.stringify(letter)])
    for (const hidden of ["to refused", "path-is-secret", secret]) expect(text).not.toContain(hidden)
  // Nothing is posted again, until it is asked for.
  await posting(...call)
  expect(posted).toHaveLength(4)
  const again = async () => {
    const { code, out } = await posting(...call, "--redeliver", "--json")
    return { code, said: lines(out) }
  }
  const failing = await again()
  expect(failing.code).toBe(1)
  expect(failing.said).toMatchObject([
    { type: "redelivered", session: "refused", version: 1, outcome: "failed", reason: letter!["reason"] },
    { type: "redelivery", delivered: 0, gone: 0, failed: 1 },
  ])
  hasRecovered = true
  const recovered = await again()
  expect(recovered.code).toBe(0)
  expect(recovered.said).toEqual([
    { type: "redelivered", session: "refused", version: 1, outcome: "delivered" },
    { type: "redelivery", delivered: 1, gone: 0, failed: 0 },
  ])
  expect((await again()).said).toEqual([{ type: "redelivery", delivered: 0, gone: 0, failed: 0 }])
  // It has the id of its first delivery.
  expect(posted.slice(4).map((line) => line.split(" ").at(-1))).toEqual([ids[1], ids[1]])
  expect((await memfold("feed", "--store", store, "--group", "crm", "--given-up", "--json")).out).toBe("")
  const deleting = () => memfold("feed", "--store", store, "--group", "crm", "--delete", "--json")
  expect(lines((await deleting()).out)).toEqual([{ type: "group", group: "crm", deleted: true }])
  expect(lines((await deleting()).out)).toEqual([{ type: "group", group: "crm", deleted: false }])
  await posting(...call)
  expect(posted.slice(6).map((line) => line.split(" ").at(-1))).toEqual([ids[0], ids[1], ids[3]])
})

it("says what a webhook needs", async () => {
  const at = ["feed", "--store", `sqlite:${join(folder, "webhook.db")}`]
  const wrong = async (...more: ReadonlyArray<string>) => (await memfold(...at, ...more)).err
  expect(await wrong("--webhook", "https://example.com")).toContain("--group")
  expect(await wrong("--group", "g", "--webhook", "https://example.com")).toContain("--secret-env")
  expect(await wrong("--group", "g", "--webhook", "ftp://x", "--secret-env", "MEMFOLD_NONE")).toContain(
    "--webhook must be",
  )
  expect(await wrong("--group", "g", "--webhook", "https://x.y", "--secret-env", "MEMFOLD_NONE")).toContain(
    "MEMFOLD_NONE",
  )
  expect(await wrong("--group", "g", "--after", "1")).toContain("--after")
  for (const flag of [
    ["--from", "end"],
    ["--secret-env", "X"],
    ["--redeliver"],
    ["--delete"],
    ["--done", "3"],
  ])
    expect(await wrong(...flag)).toContain("--group")
})

it("prints what a group has given up once more, and takes one of it from the list", async () => {
  const store = `sqlite:${join(folder, "again.db")}`
  const memory = createMemory({ store, compaction: { mode: "manual" } })
  for (const session of ["one", "two", "three", "gone"]) await memory.append(session, said(`to ${session}`))
  const failing = () => {
    throw new RangeError("not now")
  }
  await memory.consume("crm", failing, { attempts: 1, batch: 1, follow: false })
  await memory.delete("gone")
  await memory.close()
  const at = ["feed", "--store", store, "--group", "crm", "--json"]
  const given = async () => lines((await memfold(...at, "--given-up")).out)
  const listed = await given()
  expect(listed.map(({ session, reason }) => `${session} ${reason}`)).toEqual(
    ["one", "two", "three", "gone"].map((session) => `${session} RangeError`),
  )
  const { id } = listed[1]!
  const shown = (await memfold("feed", "--store", store, "--group", "crm", "--given-up")).out
  expect(shown).toMatch(new RegExp(`^ *${id} +two `, "mu"))
  const done = async (one: unknown) => lines((await memfold(...at, "--done", String(one))).out)
  expect(await done(id)).toEqual([{ type: "done", group: "crm", id, done: true }])
  expect(await done(1)).toEqual([{ type: "done", group: "crm", id: 1, done: false }])
  expect((await given()).map(({ session }) => session)).toEqual(["one", "three", "gone"])
  const again = await memfold(...at, "--redeliver")
  expect([again.code, lines(again.out)]).toMatchObject([
    0,
    [
      { session: "one", version: 1 },
      { session: "three", version: 1 },
      { type: "redelivered", session: "gone", version: 1, outcome: "gone" },
      { type: "redelivery", delivered: 2, gone: 1, failed: 0 },
    ],
  ])
  expect(again.out).toContain("to one")
  expect(await given()).toEqual([])
})
