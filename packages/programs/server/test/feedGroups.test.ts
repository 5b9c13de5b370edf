/** Consumers of the feed in groups over HTTP: processes that are killed, services that start again, and turns that are lost. */
import { createClient } from "@memfold/client"
import { bundled, type Child, start } from "@memfold/harness/children"
import { postgresServers } from "@memfold/harness/postgresServers"
import { storeFile } from "@memfold/harness/storeFile"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { makeToken } from "../src/index.js"
import { ask, started, turn } from "./services.js"

const { server: postgres } = postgresServers()
const script = bundled(new URL("./", import.meta.url), ["consumer"])

const stores: ReadonlyArray<readonly [name: string, open: () => Promise<string>]> = [
  ["SQLite", async () => storeFile()],
  ["PostgreSQL", async () => (await postgres({ config: ["fsync = off"] })).url],
]

describe.each(stores)("a group on %s", (_, open) => {
  it("misses no event, though its consumers are killed and a service starts again while others append", async () => {
    const store = await open()
    const [first, second] = [await started({ store }), await started({ store })]
    const [turns, killedAfter] = [60, 20]
    const found = new Set<string>()
    let [kills, nextKill] = [0, killedAfter]
    /** The consumer that has its turn is killed, and another one begins. */
    const follow = async (child: Child, url: string): Promise<void> => {
      for (let line = await child.line(); line !== undefined; line = await child.line()) {
        found.add(line)
        if (found.size < nextKill) continue
        nextKill += killedAfter
        kills++
        child.kill()
        void follow(start(script("consumer"), url, "crm"), url)
      }
    }
    for (const { url } of [first, second]) void follow(start(script("consumer"), url, "crm"), url)
    const memory = createClient({ url: second.url })
    for (let at = 0; at < turns; at++) {
      await memory.append(`s${at % 7}`, turn(at))
      if (at !== turns / 2) continue
      await first.close()
      await started({ store, port: Number(new URL(first.url).port) })
    }
    const expected: Array<string> = []
    for (let at = 0; at < 7; at++)
      for (const { session, version } of await memory.events(`s${at}`, { limit: 1_000 }))
        expected.push(`${session} ${version}`)
    await vi.waitFor(() => expect([...found].toSorted()).toEqual(expected.toSorted()), { timeout: 90_000 })
    expect(kills).toBeGreaterThan(4)
  })
})

interface Answer {
  readonly turn: string | null
  readonly events: ReadonlyArray<{ readonly session: string; readonly position: string }>
  readonly after: string | null
}

/** A consumer in any language, in the group of a service. */
const asking =
  (url: string, group = "g", token?: string) =>
  async (body: object = {}) => {
    const answer = await ask(`${url}/v1/feed/groups/${group}`, {
      method: "POST",
      body,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    })
    return { status: answer.status, ...(answer.body as unknown as Answer & { readonly type?: string }) }
  }

const sessionsOf = ({ events }: Answer) => events.map(({ session }) => session)

it("has one turn at a time: it is kept, ended, lost when its lease ends, and what was not kept comes again", async () => {
  const { url } = await started()
  const memory = createClient({ url })
  for (const session of ["one", "two", "three"]) await memory.append(session, turn(1).slice(0, 1))
  const consumer = asking(url)
  const mine = await consumer({ lease: 60, limit: 2 })
  expect(sessionsOf(mine)).toEqual(["one", "two"])
  expect(await consumer()).toEqual({ status: 200, turn: null, events: [], after: null })
  const done = mine.events[0]!.position
  const kept = await consumer({ turn: mine.turn, done, lease: 60 })
  expect(sessionsOf(kept)).toEqual(["two", "three"])
  // A consumer that collects has not done what it has read.
  expect(sessionsOf(await consumer({ turn: mine.turn, after: kept.events[0]!.position, lease: 60 }))).toEqual(
    ["three"],
  )
  expect(await consumer({ turn: mine.turn, lease: 0 })).toMatchObject({ turn: null, after: done })
  const theirs = await consumer({ lease: 0.05 })
  expect(sessionsOf(theirs)).toEqual(["two", "three"])
  expect(await consumer({ turn: mine.turn, done: kept.after })).toMatchObject({ status: 409 })
  // Whoever waits has the turn when the lease of one that was killed ends.
  const waiting = await consumer({ wait: 30, lease: 60 })
  expect(sessionsOf(waiting)).toEqual(["two", "three"])
  expect(await consumer({ turn: theirs.turn })).toMatchObject({ status: 409, type: "urn:memfold:TurnLost" })
})

it("keeps the turn of who waits for an event, and gives it back when its connection ends", async () => {
  const { url } = await started()
  const memory = createClient({ url })
  const consumer = asking(url)
  const { turn: mine } = await consumer({ lease: 3 })
  const waiting = consumer({ turn: mine, wait: 30, lease: 3 })
  const other = async () => (await consumer({ lease: 3 })).turn
  for (let looks = 0; looks < 5; looks++) {
    expect(await other()).toBeNull()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  await memory.append("one", turn(1).slice(0, 1))
  expect(sessionsOf(await waiting)).toEqual(["one"])
  const leaving = new AbortController()
  const left = fetch(`${url}/v1/feed/groups/other`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ from: "end", wait: 30, lease: 3600 }),
    signal: leaving.signal,
  }).catch(() => null)
  const theirs = asking(url, "other")
  await vi.waitFor(async () => expect((await theirs({ from: "end", lease: 0 })).turn).toBeNull(), 60_000)
  leaving.abort()
  await left
  await vi.waitFor(async () => expect((await theirs()).turn).not.toBeNull(), 60_000)
})

it("lists what was given up page by page, goes on behind it, and begins anew once it is deleted", async () => {
  const [acme, globex, eraser] = [
    makeToken({ tenant: "acme", rights: ["read", "write"] }),
    makeToken({ tenant: "globex", rights: ["read", "write"] }),
    makeToken({ tenant: "acme", rights: ["erase"] }),
  ] as const
  const { url } = await started({ tokens: [acme, globex, eraser].map(({ stored }) => stored) })
  const [mine, theirs, without] = [acme, globex, eraser].map(({ token }) => createClient({ url, token }))
  for (const session of ["one", "two", "three"]) await mine!.append(session, turn(1).slice(0, 1))
  const consumer = asking(url, "g", acme.token)
  const first = await consumer({ lease: 60 })
  const letters = first.events.slice(0, 2).map(({ session, position }) => ({
    session,
    version: 1,
    position,
    attempts: 5,
    reason: "not today",
  }))
  const given = await consumer({
    turn: first.turn,
    done: letters[1]!.position,
    givenUp: letters,
    lease: 60,
  })
  expect(sessionsOf(given)).toEqual(["three"])
  // It is noted once: the turn of before is over.
  expect(await consumer({ turn: first.turn, done: letters[1]!.position, givenUp: letters })).toMatchObject({
    status: 409,
  })
  const listed = await mine!.givenUp("g")
  expect(listed.map(({ id: _id, time: _time, ...letter }) => letter)).toEqual(letters)
  expect(await mine!.givenUp("g", { limit: 1 })).toEqual(listed.slice(0, 1))
  expect(await mine!.givenUp("g", { after: listed[0]!.id })).toEqual(listed.slice(1))
  for (const [other, group] of [
    [theirs, "g"],
    [theirs, "acme/g"],
    [mine, "other"],
  ] as const) {
    expect(await other!.givenUp(group)).toEqual([])
    expect(await other!.deleteGroup(group)).toEqual({ deleted: false })
  }
  await expect(without!.givenUp("g")).rejects.toMatchObject({ status: 403 })
  await expect(without!.deleteGroup("g")).rejects.toMatchObject({ status: 403 })
  expect(await mine!.deleteGroup("g")).toEqual({ deleted: true })
  expect(await consumer({ turn: given.turn, lease: 60 })).toMatchObject({ status: 409 })
  expect(await mine!.givenUp("g")).toEqual([])
  expect(sessionsOf(await consumer())).toEqual(["one", "two", "three"])
})

it("hands over again what was given up, once what is taken, while a consumer has its turn", async () => {
  const [acme, globex, reader] = [
    makeToken({ tenant: "acme", rights: ["read", "write", "erase"] }),
    makeToken({ tenant: "globex", rights: ["read", "write"] }),
    makeToken({ tenant: "acme", rights: ["read"] }),
  ] as const
  const { url } = await started({ tokens: [acme, globex, reader].map(({ stored }) => stored) })
  const [mine, theirs, without] = [acme, globex, reader].map(({ token }) => createClient({ url, token }))
  for (const session of ["one", "two", "three"]) await mine!.append(session, turn(1).slice(0, 1))
  const refusing = () => {
    throw Object.assign(new Error("a secret of the conversation"), { reason: "not today" })
  }
  await mine!.consume("g", refusing, { attempts: 1, batch: 1, follow: false })
  const listed = await mine!.givenUp("g")
  expect(listed.map(({ session }) => session)).toEqual(["one", "two", "three"])
  const consumer = asking(url, "g", acme.token)
  const { turn: held } = await consumer({ lease: 60 })
  await mine!.delete("two")
  const redelivered = async (handle: Parameters<ReturnType<typeof createClient>["redeliver"]>[1]) => {
    const found = []
    for await (const one of mine!.redeliver("g", handle)) found.push(one)
    return found
  }
  const taken: Array<string> = []
  expect(
    await redelivered(([event]) => {
      if (event!.session === "one") refusing()
      taken.push(`${event!.session} ${event!.version} ${event!.position}`)
    }),
  ).toEqual([
    { session: "one", version: 1, outcome: "failed", reason: "not today" },
    { session: "two", version: 1, outcome: "gone" },
    { session: "three", version: 1, outcome: "delivered" },
  ])
  expect(taken).toEqual([`three 1 ${listed[2]!.position}`])
  expect(await mine!.givenUp("g")).toEqual(listed.slice(0, 1))
  const path = `v1/feed/groups/g/given-up/${listed[0]!.id}`
  const removed = async (token: string, at = path) => {
    const headers = { authorization: `Bearer ${token}` }
    const { status, body } = await ask(`${url}/${at}`, { method: "DELETE", headers })
    return status === 200 ? (body as { readonly deleted: boolean }).deleted : status
  }
  expect(await removed(reader.token)).toBe(403)
  expect(await removed(globex.token)).toBe(false)
  // Records of the group that are no events, and none at all.
  for (const id of [1, 0, 1_000])
    expect(await removed(acme.token, `v1/feed/groups/g/given-up/${id}`)).toBe(false)
  expect(await removed(acme.token, "v1/feed/groups/g/given-up/-1")).toBe(400)
  await expect(without!.redeliver("g", () => {}).next()).rejects.toMatchObject({ status: 403 })
  expect((await theirs!.redeliver("g", () => {}).next()).done).toBe(true)
  expect(await mine!.givenUp("g")).toEqual(listed.slice(0, 1))
  expect(await redelivered(() => {})).toEqual([{ session: "one", version: 1, outcome: "delivered" }])
  expect(await redelivered(refusing)).toEqual([])
  expect(await consumer({ turn: held, lease: 60 })).toMatchObject({ status: 200, turn: held })
})

it("refuses what is no turn and no position, and is not stuck by it", async () => {
  const { url } = await started()
  await createClient({ url }).append("one", turn(1).slice(0, 1))
  const consumer = asking(url)
  const { turn: mine } = await consumer()
  for (const [body, status] of [
    [{ turn: "nonsense" }, 409],
    [{ turn: "1:nonsense" }, 409],
    [{ turn: "0:" }, 409],
    [{ done: "1" }, 400],
    [{ turn: mine, done: "nonsense" }, 400],
    [{ turn: mine, after: "nonsense" }, 400],
    [{ turn: mine, lease: -1 }, 400],
    [{ turn: mine, limit: 1_001 }, 400],
    [{ turns: mine }, 400],
    [{ turn: mine, givenUp: [] }, 400],
    [{ givenUp: [] }, 400],
    [{ turn: mine, done: "1", givenUp: [{ session: "one" }] }, 400],
  ] as const)
    expect({ body, status: (await consumer(body)).status }).toEqual({ body, status })
  expect((await asking(url, "%20")()).status).toBe(400)
  for (const [path, method] of [
    ["%20/given-up", "GET"],
    ["%20", "DELETE"],
    ["g/given-up?limit=1001", "GET"],
  ] as const)
    expect((await ask(`${url}/v1/feed/groups/${path}`, { method })).status).toBe(400)
  expect(sessionsOf(await consumer({ turn: mine }))).toEqual(["one"])
})

it("asks for the rights to read and to write, and is of its tenant", async () => {
  const [acme, globex, reader, writer] = [
    makeToken({ tenant: "acme", rights: ["read", "write"] }),
    makeToken({ tenant: "globex", rights: ["read", "write"] }),
    makeToken({ tenant: "acme", rights: ["read"] }),
    makeToken({ tenant: "acme", rights: ["write"] }),
  ] as const
  const { url } = await started({ tokens: [acme, globex, reader, writer].map(({ stored }) => stored) })
  await createClient({ url, token: acme.token }).append("mine", turn(1))
  await createClient({ url, token: globex.token }).append("theirs", turn(1))
  for (const { token } of [reader, writer]) expect((await asking(url, "g", token)()).status).toBe(403)
  // A name of a group is one of its tenant: both have their turn, and their own events.
  for (const [{ token }, own] of [
    [acme, "mine"],
    [globex, "theirs"],
  ] as const)
    expect(new Set(sessionsOf(await asking(url, "g", token)({ lease: 60 })))).toEqual(new Set([own]))
})

describe("the client", () => {
  it("keeps what its consumer has done: all, up to a position, nothing of a call that fails", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    for (const session of ["one", "two", "three"]) await memory.append(session, turn(1).slice(0, 1))
    const calls: Array<ReadonlyArray<string>> = []
    const consume = (answer: (events: Answer["events"]) => string | null | void, batch = 100) =>
      memory.consume(
        "g",
        (events) => {
          calls.push(events.map(({ session }) => session))
          return answer(events)
        },
        { follow: false, batch },
      )
    const failing = () => {
      throw new Error("not today")
    }
    await expect(consume(failing)).rejects.toThrow("not today")
    await consume(() => null, 2)
    await consume(([event]) => event!.position)
    await consume(() => undefined)
    await consume(() => undefined)
    expect(calls).toEqual([
      ["one", "two", "three"],
      ["one", "two"],
      ["three"],
      ["one", "two", "three"],
      ["two", "three"],
    ])
  })

  it("keeps its turn while its consumer works, and ends it when it is aborted", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    await memory.append("one", turn(1).slice(0, 1))
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const found: Array<string> = []
    const consumer = (who: string, signal: AbortSignal, milliseconds: number) =>
      memory.consume(
        "g",
        async (events) => {
          found.push(...events.map(({ session }) => `${who} ${session}`))
          await new Promise((resolve) => setTimeout(resolve, milliseconds))
        },
        { lease: 4, signal },
      )
    const first = consumer("first", stop.signal, 9_000)
    await vi.waitFor(() => expect(found).toEqual(["first one"]), 60_000)
    const last = new AbortController()
    const second = consumer("second", last.signal, 0)
    await memory.append("two", turn(1).slice(0, 1))
    await vi.waitFor(() => expect(found).toEqual(["first one", "first two"]), { timeout: 60_000 })
    stop.abort()
    await first
    await memory.append("three", turn(1).slice(0, 1))
    await vi.waitFor(() => expect(found).toEqual(["first one", "first two", "second three"]), {
      timeout: 60_000,
    })
    last.abort()
    await second
  })

  it("takes its turn again when it has lost it, and goes on where the other one has come to", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    for (const session of ["one", "two"]) await memory.append(session, turn(1).slice(0, 1))
    const other = asking(url)
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const found: Array<string> = []
    // What would keep its turn does not come through.
    const cut: typeof globalThis.fetch = async (to, init) => {
      if (new TextDecoder().decode(init?.body as Uint8Array).includes('"limit":0')) throw new Error("cut off")
      return fetch(to, init)
    }
    const losing = createClient({ url, fetch: cut }).consume(
      "g",
      async ([event]) => {
        found.push(event!.session)
        if (event!.session === "one")
          await vi.waitFor(async () => {
            const { turn: theirs, events } = await other({ limit: 1 })
            expect(await other({ turn: theirs, done: events[0]!.position, lease: 0 })).toMatchObject({
              status: 200,
            })
          }, 60_000)
        if (event!.session === "two") stop.abort()
      },
      { batch: 1, lease: 0.3, signal: stop.signal },
    )
    await losing
    expect(found).toEqual(["one", "two"])
  })

  it("gives up what fails as often as is allowed, goes on behind it, and names no text", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    for (const session of ["one", "bad", "two"]) await memory.append(session, turn(1).slice(0, 1))
    const tried: Array<string> = []
    const consume = (attempts: number, signal?: AbortSignal) =>
      memory.consume(
        "g",
        ([event]) => {
          tried.push(event!.session)
          if (event!.session !== "bad") return
          throw Object.assign(new Error(JSON.stringify(event)), { reason: "not today" })
        },
        { follow: false, batch: 1, attempts, ...(signal && { signal }) },
      )
    // Who is stopped between two attempts has given nothing up.
    const stop = new AbortController()
    const stopped = consume(1_000, stop.signal)
    await vi.waitFor(() => expect(tried).toEqual(["one", "bad", "bad"]), 60_000)
    stop.abort()
    await stopped
    expect(await memory.givenUp("g")).toEqual([])
    await consume(2)
    expect(tried).toEqual(["one", "bad", "bad", "bad", "bad", "two"])
    expect(await memory.givenUp("g")).toMatchObject([
      { session: "bad", version: 1, attempts: 2, reason: "not today" },
    ])
    await consume(2)
    expect(tried).toHaveLength(6)
  })

  it("refuses what is no number of events, of attempts and no lease", async () => {
    const memory = createClient({ url: "http://127.0.0.1:9" })
    for (const wrong of [{ batch: 0 }, { attempts: 0 }, { lease: 0 }, { lease: "soon" as never }])
      await expect(memory.consume("g", () => undefined, wrong)).rejects.toMatchObject({
        error: "InvalidInput",
      })
  })
})
