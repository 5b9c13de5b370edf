/** Tokens of tenants: what each one may do, and that no request with one reaches the sessions of another. */
import { storeFile } from "@memfold/harness/storeFile"
import { OpenApi } from "@effect/platform"
import { createClient } from "@memfold/client"
import { api } from "@memfold/client/api"
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeToken, type StoredToken } from "../src/index.js"
import { ask, started, turn } from "./services.js"

const all = ["read", "write", "erase"] as const
const tokenOf = (tenant: string, rights: StoredToken["rights"] = all) => makeToken({ tenant, rights })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const secret = "SECRET-4711"

/** The operations of the declaration: how each one is called. */
const operations = Object.entries(OpenApi.fromApi(api).paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    name: (operation as { readonly operationId: string }).operationId,
  })),
)

/** What each operation with a body is sent. */
const bodies: Readonly<Record<string, (session: string) => object>> = {
  "sessions.describe": () => ({ owner: "ann", title: "Mine now" }),
  "sessions.fork": (session) => ({ to: session }),
  "sessions.recallOf": () => ({ owner: "ann", query: secret }),
  "conversation.append": () => ({ messages: { role: "user", content: "intruded" }, owner: "ann" }),
  "conversation.replace": () => ({ messages: [] }),
  "conversation.edit": () => ({ from: 0, messages: { role: "user", content: "intruded" } }),
  "conversation.regenerate": () => ({}),
  "conversation.checkout": () => ({ branch: 0 }),
  "conversation.undo": () => ({}),
  "conversation.clear": () => ({}),
  "conversation.redact": () => ({ message: 0 }),
  "governance.erase": () => ({ reason: "intruded" }),
  "governance.restore": () => ({ reason: "intruded" }),
  "governance.hold": () => ({ reason: "intruded" }),
  "governance.holdOf": () => ({ reason: "intruded" }),
  "memory.recall": () => ({ query: secret }),
  "memory.compact": () => ({ which: "all" }),
  "memory.revert": () => ({}),
  "memory.callTool": () => ({ name: "search_memory", arguments: { query: secret } }),
}

describe("a token", () => {
  it("is asked for, must be known, and allows what it has the right to", async () => {
    const reader = tokenOf("acme", ["read"])
    const writer = tokenOf("acme", ["read", "write"])
    const { url } = await started({ tokens: [reader.stored, writer.stored] })
    const session = `${url}/v1/sessions/s`
    const body = { messages: turn(1) }
    const status = async (
      headers: Record<string, string>,
      given?: object,
      path = "/messages",
      method?: string,
    ) =>
      (
        await ask(session + path, {
          headers,
          ...(given === undefined ? {} : { body: given }),
          ...(method === undefined ? {} : { method }),
        })
      ).status
    expect(await status({})).toBe(401)
    expect(await status(bearer("mf_unknown"))).toBe(401)
    expect(await status({ authorization: reader.token })).toBe(401)
    expect(await status(bearer(reader.stored.sha256))).toBe(401)
    expect(await status(bearer(reader.token), body)).toBe(403)
    expect(await status(bearer(writer.token), body)).toBe(201)
    expect(await status(bearer(reader.token))).toBe(200)
    expect(await status(bearer(writer.token), { message: 0 }, "/redact")).toBe(403)
    expect(await status(bearer(writer.token), undefined, "", "DELETE")).toBe(403)
    // Whether the service lives, anybody may ask.
    expect((await ask(`${url}/health`)).status).toBe(200)
    expect((await ask(`${url}/ready`)).status).toBe(200)
  })

  it("is needed for every operation of the declaration, and named in the document", async () => {
    const { url } = await started({ tokens: [tokenOf("acme").stored] })
    for (const { path, method, name } of operations.filter(({ name }) => !name.startsWith("service."))) {
      const body = bodies[name]?.("s")
      const { status } = await ask(url + path.replaceAll(/\{\w+\}/g, "s"), {
        method,
        ...(body === undefined ? {} : { body }),
      })
      expect([name, status]).toEqual([name, 401])
    }
  })
})

describe("a tenant", () => {
  it("has a way to its own sessions only, whatever is asked for and however it is named", async () => {
    const [mine, theirs] = [tokenOf("acme"), tokenOf("other")]
    const store = storeFile()
    // A request that is refused because there were too many shows nothing.
    const rate = 100_000
    const { url, close } = await started({ store, tokens: [mine.stored, theirs.stored], rate })
    const owner = createClient({ url, token: mine.token })
    await owner.append(
      "chat",
      { role: "user", content: `The code is ${secret}.` },
      { owner: "ann", title: secret },
    )
    await owner.append("chat", turn(1))
    const before = await owner.events("chat")
    const names = [
      "chat",
      "acme/chat",
      "/acme/chat",
      "../acme/chat",
      "other/../acme/chat",
      "acme%2Fchat",
      "acme\\chat",
    ]
    for (const { path, method, name } of operations) {
      for (const session of names) {
        const body = bodies[name]?.(session)
        if (name === "log.changes") continue
        const { status, body: answer } = await ask(
          url +
            path
              .replace("{session}", encodeURIComponent(session))
              .replace("{fact}", "f")
              .replace("{owner}", encodeURIComponent(session.replace("chat", "ann"))),
          { method, headers: bearer(theirs.token), ...(body === undefined ? {} : { body }) },
        )
        expect([name, session, JSON.stringify(answer).includes(secret)]).toEqual([name, session, false])
        expect([name, session, status]).not.toEqual([name, session, 429])
      }
    }
    for (const session of names) {
      const stop = new AbortController()
      const path = `/v1/sessions/${encodeURIComponent(session)}/changes`
      const response = await fetch(url + path, { headers: bearer(theirs.token), signal: stop.signal })
      const { value } = await response.body!.getReader().read()
      expect(Buffer.from(value!).toString()).not.toContain(secret)
      stop.abort()
    }
    const intruder = createClient({ url, token: theirs.token })
    await intruder.append("own", turn(2), { owner: "acme/ann" })
    for (const [at, name] of names.entries()) await intruder.fork("own", `${name}-${at}`)
    expect(await owner.events("chat")).toEqual(before)
    expect((await owner.session("chat")).owner).toBe("ann")
    expect((await owner.sessions()).sessions.map(({ session }) => session)).toEqual(["chat"])
    expect((await owner.sessions({ owner: "ann" })).sessions).toMatchObject([
      { session: "chat", owner: "ann" },
    ])
    expect((await owner.recallOf("ann", secret)).text).toContain(secret)
    expect((await owner.recallOf("ann", secret)).text).not.toContain("acme/")
    await close()
    const whole = createClient({ url: (await started({ store })).url })
    const { sessions } = await whole.sessions({ limit: 1000 })
    expect(
      sessions.filter(({ session }) => !session.startsWith("other/")).map(({ session }) => session),
    ).toEqual(["acme/chat"])
    expect(
      sessions.every(({ session, owner }) => owner === undefined || owner.startsWith(session.split("/")[0]!)),
    ).toBe(true)
  })

  it("lists what it has, as if nobody else was there", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            tenant: fc.constantFrom("a", "a.b", "a-b", "b"),
            session: fc.oneof(
              fc.constantFrom("a", "b", "a/b", "z", "\u{1F600}"),
              fc.string({ minLength: 1, maxLength: 6 }),
            ),
            owner: fc.constantFrom("ann", "bob", undefined),
          }),
          { maxLength: 12 },
        ),
        fc.integer({ min: 1, max: 4 }),
        async (appends, limit) => {
          const tokens = new Map(["a", "a.b", "a-b", "b"].map((tenant) => [tenant, tokenOf(tenant)]))
          const { url } = await started({
            tokens: [...tokens.values()].map(({ stored }) => stored),
            rate: 100_000,
          })
          const expected = new Map<string, Map<string, string | undefined>>()
          for (const { tenant, session, owner } of appends) {
            const client = createClient({ url, token: tokens.get(tenant)!.token })
            // A path cannot name these: the client's URL makes another path of them.
            if ([".", ".."].includes(session) || session.trim() === "") continue
            const kept = expected.get(tenant) ?? new Map<string, string | undefined>()
            if (kept.get(session) !== undefined && owner !== kept.get(session)) continue
            await client.append(session, turn(1), owner === undefined ? {} : { owner })
            expected.set(tenant, kept.set(session, owner))
          }
          for (const [tenant, { token }] of tokens) {
            const client = createClient({ url, token })
            for (const owner of [undefined, "ann", "bob"]) {
              const found: Array<string> = []
              for (let cursor: string | undefined; ;) {
                const page = await client.sessions({ owner, limit, cursor })
                found.push(...page.sessions.map(({ session }) => session))
                if (page.next === null) break
                cursor = page.next
              }
              const wanted = [...(expected.get(tenant) ?? [])].filter(
                ([, whose]) => owner === undefined || whose === owner,
              )
              expect(found.toSorted()).toEqual(wanted.map(([session]) => session).toSorted())
            }
          }
        },
      ),
      { numRuns: often(6, 50) },
    )
  })
})
