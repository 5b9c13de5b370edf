/**
 * Every route of every handler, as they are declared: who may ask, when the answer comes before the body, how many sessions may begin,
 * and that no tenant is told or given what another one has said.
 */
import { mcpHandler } from "@memfold/mcp"
import { providerServer } from "@memfold/strict-providers"
import { cpuTime } from "@memfold/harness/cpuTime"
import { often } from "@memfold/harness/depth"
import { storeFile } from "@memfold/harness/storeFile"
import { mkdtempSync, rmSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeToken, type ServeOptions, type StoredToken } from "../src/index.js"
import { foreignRoutes, ownRoutes, type Route } from "../src/routes.js"
import { ask, started, turn } from "./services.js"

const secret = "SECRET-4711"
const all = ["read", "write", "erase"] as const

/** The requests that what goes on to an upstream is tried with. */
const onward: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/messages/count_tokens"],
  ["POST", "/v1/responses/resp_elsewhere/cancel"],
  ["GET", "/v1/models"],
  ["DELETE", "/v1/files/f"],
]

/** A request to a route: its method, its path as it is declared, and what it is sent. */
interface Row extends Route {
  readonly isForeign: boolean
}

const rows: ReadonlyArray<Row> = [
  ...ownRoutes.map((route) => ({ ...route, isForeign: false })),
  ...foreignRoutes
    .flatMap((route) =>
      route.path === "/v1/*" ? onward.map(([method, path]) => ({ ...route, method, path })) : [route],
    )
    .map((route) => ({ ...route, method: route.method === "*" ? "PUT" : route.method, isForeign: true })),
]

const item = { type: "message", role: "user", content: "intruded" }

/** A call of a tool that changes a session. */
const called = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "append_messages",
    arguments: { session: "chat", messages: [{ ...item, type: undefined }] },
  },
}

/** What each route with a body is sent; `{}` if it is not named. */
const bodies: Readonly<Record<string, object>> = {
  "POST /mcp": called,
  // Room for all: ids are random, and where one takes more tokens, less is left for what is found.
  "POST /v1/recall": { owner: "ann", query: secret, tokens: 50_000 },
  "PATCH /v1/sessions/:session": { title: "Mine now" },
  "POST /v1/sessions/:session/compare": { strategy: "rounds" },
  "POST /v1/sessions/:session/fork": { to: "forked" },
  "POST /v1/sessions/:session/messages": { messages: { role: "user", content: "intruded" } },
  "PUT /v1/sessions/:session/messages": { messages: [{ role: "user", content: "intruded" }] },
  "POST /v1/sessions/:session/edit": { from: 0, messages: { role: "user", content: "intruded" } },
  "POST /v1/sessions/:session/checkout": { branch: 0 },
  "POST /v1/sessions/:session/redact": { message: 0 },
  "POST /v1/sessions/:session/recall": { query: secret },
  "POST /v1/sessions/:session/trace": { text: "It was sent." },
  "POST /v1/sessions/:session/tools": { name: "search_memory", arguments: { query: secret } },
  "POST /v1/conversations": { items: [item] },
  "POST /v1/conversations/:conversation/items": { items: [item] },
  "POST /v1/chat/completions": { model: "m", messages: [{ role: "user", content: "Hi" }] },
  "POST /v1/messages": { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  "POST /v1/messages/count_tokens": { model: "m", messages: [{ role: "user", content: "Hi" }] },
}

interface Ids {
  readonly fact?: string
  readonly session: string
  readonly conversation: string
  readonly response: string
  readonly item: string
}

const pathOf = ({ path }: Row, ids: Ids): string =>
  path
    .replaceAll(
      /:(\w+)/g,
      (_, name: string) => ({ owner: "ann", message: "0", fact: "f", ...ids })[name] ?? name,
    )
    .replace("/*", "/index.html")

const bodyOf = ({ method, path }: Row, { conversation }: Ids): object | undefined => {
  if (method === "GET" || method === "DELETE") return undefined
  if (/^\/v1\/responses(?:\/input_tokens|\/compact)?$/.test(path))
    return { model: "m", input: "And then?", conversation }
  return bodies[`${method} ${path}`] ?? {}
}

const headersOf = ({ isForeign }: Row, token: string | null): Record<string, string> => ({
  "x-session-id": isForeign ? "chat" : "",
  ...(isForeign ? { "x-memfold-owner": "ann" } : {}),
  accept: "application/json, text/event-stream",
  ...(token === null ? {} : isForeign ? { "x-memfold-token": token } : { authorization: `Bearer ${token}` }),
})

const send = async (
  url: string,
  row: Row,
  ids: Ids,
  token: string | null,
  also: object = {},
  headers: Readonly<Record<string, string>> = {},
) => {
  const own = bodyOf(row, ids)
  const body = own === undefined || Object.keys(own).length > 0 ? own : { ...own, ...also }
  // Of a stream that goes on, the first bytes are enough.
  const signal = /\/(?:changes|feed)\b/.test(row.path) ? AbortSignal.timeout(500) : null
  return ask(url + pathOf(row, ids), {
    method: row.method,
    // The name of a session would make these requests ones of the proxy.
    headers: {
      ...headersOf(row, token),
      ...(row.path.startsWith("/v1/responses") ? { "x-session-id": "" } : {}),
      ...headers,
    },
    signal,
    ...(body === undefined ? {} : { body }),
  }).catch(() => ({ status: 200, body: {} }))
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`

const tokenOf = (tenant: string, rights: StoredToken["rights"], name?: string) => ({
  rights,
  ...makeToken({ tenant, rights, ...(name === undefined ? {} : { name }) }),
})

/** A service with an upstream, in which a tenant has said a secret in a session, a conversation and a response. */
const spoken = async ({
  also = [],
  ...options
}: ServeOptions & { readonly also?: ReadonlyArray<{ readonly stored: StoredToken }> } = {}) => {
  const provider = await providerServer({ answer: () => ({ text: "An answer." }) })
  onTestFinished(provider.close)
  const [mine, theirs] = [tokenOf("acme", all), tokenOf("other", all)]
  const some = ([["read"], ["write"], ["erase"], ["read", "write"]] as const).map((one) =>
    tokenOf("acme", one),
  )
  const { url } = await started({
    upstream: provider.anthropicURL,
    tokens: [mine, theirs, ...some, ...also].map(({ stored }) => stored),
    rate: 100_000,
    mcp: mcpHandler,
    site: new Map([["index.html", { type: "text/html", body: Buffer.from("studio"), named: false }]]),
    ...options,
  })
  /** What is said with a token, under the names that all have. */
  const speak = async (token: string, words: string): Promise<Ids> => {
    const headers = {
      authorization: `Bearer ${token}`,
      "x-memfold-token": token,
      "x-memfold-owner": "ann",
    }
    const post = async (path: string, body: object): Promise<Record<string, unknown>> =>
      (await ask(`${url}/v1/${path}`, { headers, body })).body as Record<string, unknown>
    await post("sessions/chat/messages", { messages: { role: "user", content: words }, owner: "ann" })
    await post("sessions/chat/messages", { messages: turn(1) })
    const { id: conversation } = await post("conversations", {
      items: [{ type: "message", role: "user", content: words }],
    })
    const { id: response } = await post("responses", { model: "m", conversation, input: `Again: ${words}` })
    const items = await ask(`${url}/v1/conversations/${String(conversation)}/items?order=asc`, {
      headers: { "x-memfold-token": token },
    })
    const { data } = items.body as unknown as { readonly data: ReadonlyArray<{ readonly id: string }> }
    return { session: "chat", conversation, response, item: data[0]!.id } as Ids
  }
  const ids = await speak(mine.token, secret)
  const sessions = async (token: string): Promise<ReadonlyArray<string>> => {
    const { body } = await ask(`${url}/v1/sessions?limit=1000`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return (body as unknown as { sessions: ReadonlyArray<{ session: string }> }).sessions.map(
      ({ session }) => session,
    )
  }
  return { url, provider, mine, theirs, some, ids, sessions, speak }
}

/** The status of a request whose body is announced and never comes. */
const unfinished = (url: string, row: Row, ids: Ids, token: string | null): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...headersOf(row, token),
      "content-length": "5000000",
      "content-type": "application/json",
    }
    const sent = request(url + pathOf(row, ids), { method: row.method, headers }, (response) => {
      resolve(response.statusCode ?? 0)
      sent.destroy()
    })
    sent.on("error", reject)
    sent.flushHeaders()
  })

/** What comes first for a client that waits with its body, of so many bytes, until it is told to go on. */
const expecting = (url: string, row: Row, ids: Ids, token: string | null, length: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...headersOf(row, token),
      "content-length": String(length),
      "content-type": "application/json",
      expect: "100-continue",
    }
    const sent = request(url + pathOf(row, ids), { method: row.method, headers }, (response) => {
      // What came behind it could be the body, or another request.
      resolve(response.headers.connection === "close" ? (response.statusCode ?? 0) : 0)
      sent.destroy()
    })
    sent.once("continue", () => {
      resolve(100)
      sent.destroy()
    })
    sent.on("error", reject)
    sent.flushHeaders()
  })

const missing = (row: Row, rights: ReadonlyArray<string>): boolean =>
  !row.rights.every((right) => rights.includes(right))

/** What takes something away comes behind those who would find it. */
const late = [
  /regenerate|undo|revert$/,
  /^DELETE.*:fact/,
  /:fact.revert/,
  /redact/,
  /items.:item/,
  /^DELETE.*:(?:resp|conv)/,
  /^DELETE.*:session$/,
  /^DELETE.*:owner$/,
  /erase$/,
  /restore$/,
  /hold$/,
]
const rank = (row: Row) => late.findLastIndex((one) => one.test(nameOf(row)))
const rowsInOrder = rows.toSorted((one, other) => rank(one) - rank(other))

describe("L19: every route that reads", () => {
  /** These are a context or have one: it is as large as the strategy lets it become. A stream and an export come as they are taken. */
  const whole = [
    "GET /v1/owners/:owner/events",
    "POST /v1/sessions/:session/preview",
    "GET /v1/sessions/:session/context",
    "GET /v1/sessions/:session/changes",
  ]

  it("answers with a page that is bounded by its text, and has all page by page", async () => {
    const { url } = await started({ compaction: { mode: "off" }, mcp: mcpHandler })
    const ids: Ids = { session: "chat", conversation: "", response: "", item: "" }
    const content = "a word or so ".repeat(2 ** 17)
    const title = "t".repeat(1_000)
    for (let at = 0; at < 10; at++) {
      const body = { messages: { role: "user", content: `${at} ${content}` }, owner: "ann", title }
      expect((await ask(`${url}/v1/sessions/chat/messages`, { body })).status).toBe(201)
    }
    const reading = rows.filter(({ rights, isForeign }) => !isForeign && rights.join() === "read")
    const long: Array<string> = []
    for (const row of reading) {
      const path = /\/(?:messages|events|feed|sessions)$/.test(row.path) ? `${row.path}?limit=1000` : row.path
      const { body } = await send(url, { ...row, path }, ids, null)
      // A page of 4 MiB, and what goes beyond it.
      if (JSON.stringify(body).length > 2 ** 22 + content.length + 10_000) long.push(nameOf(row))
    }
    expect(whole).toEqual(expect.arrayContaining(long))
    const found: Array<string> = []
    let pages = 0
    for (let before: string | null = ""; before !== null; pages++) {
      const query = before === "" ? "" : `&before=${before}`
      const { body } = await ask(`${url}/v1/sessions/chat/messages?limit=1000${query}`)
      const page = body as unknown as { messages: ReadonlyArray<{ content: string }>; before: string | null }
      found.unshift(...page.messages.map((one) => one.content.slice(0, 3)))
      before = page.before
    }
    expect(pages).toBeGreaterThan(3)
    expect(found.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, at) => `${at} ${content}`.slice(0, 3)))
  })
})

/** Values that a client may send in place of any other, as texts of JSON. */
const hostile: Readonly<Record<string, string>> = {
  "lists in lists": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  "objects in objects": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  "half a character": '"a\\ud83d"',
  "a name of half a character": '{"\\ud83d":1}',
  "the prototype": '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  "the names of all objects": '["__proto__","constructor","toString","hasOwnProperty"]',
  "a number without end": "1e400",
  "a number below zero without end": "-1e400",
  "no number at all": "-0",
  "a long number": "9007199254740993",
  "a name twice": '{"a":1,"a":{"b":2}}',
  nothing: "null",
  "an empty text": '""',
  "a list": "[]",
}

/** Each place of a value, as a text in which the value there is another one; and the value with a field beside it. */
const places = (value: unknown, put: string): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return [put]
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  const written = (fields: ReadonlyArray<readonly [string, string]>): string =>
    isList
      ? `[${fields.map(([, text]) => text).join()}]`
      : `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
  const plain = entries.map(([name, inner]) => [name, JSON.stringify(inner)] as const)
  return [
    put,
    written([...plain, ["__proto__", put]]),
    ...entries.flatMap(([name, inner], at) => [
      ...places(inner, put).map((text) => written(plain.with(at, [name, text]))),
      // A name twice: the last one is said.
      ...(isList ? [] : [written([[name, put], ...plain])]),
    ]),
  ]
}

describe("L19: every route with a body", () => {
  /** In a quick run, each value is at every second place, and each place has half of the values. */
  const each = often(2, 1)
  const values = Object.entries(hostile).map(([what, put], at) => [what, put, at % each] as const)

  it.each(values)("answers or refuses %s, at each place of it", async (_, put, first) => {
    const { url, mine, ids } = await spoken()
    const passed = cpuTime()
    let [tried, count] = [0, 0]
    for (const row of rows.filter(({ method }) => method !== "GET" && method !== "DELETE"))
      for (const text of places(bodyOf(row, ids), put)) {
        if (tried++ % each !== first) continue
        const answer = await fetch(url + pathOf(row, ids), {
          method: row.method,
          headers: { ...headersOf(row, mine.token), "content-type": "application/json" },
          body: text,
        })
        const told = await answer.text()
        count++
        const what = `${nameOf(row)} ${text.slice(0, 200)}`
        // What is too deep for the memory goes on as it came, and its upstream says what it likes.
        const isOfUpstream = answer.headers.has("request-id")
        expect([what, answer.status, told.slice(0, 200)]).toEqual([
          what,
          isOfUpstream ? expect.any(Number) : expect.toSatisfy((status: number) => status < 500),
          expect.any(String),
        ])
        if (answer.status >= 400 && !row.isForeign && row.path !== "/mcp")
          expect([what, told]).toEqual([what, expect.stringContaining('"urn:memfold:')])
      }
    expect(count).toBeGreaterThan(100)
    expect(Object.prototype).not.toHaveProperty("polluted")
    // What is refused unread costs about as much as it is long.
    expect(passed() / count).toBeLessThan(200)
  })

  it("reads back what it has taken, digit for digit and name for name", async () => {
    const { url } = await started()
    const taken = Object.entries(hostile).filter(([name]) => !name.includes(" in "))
    for (const [at, [, put]] of taken.entries()) {
      const input = `{"v":${put}}`
      const messages = `[{"role":"user","content":"Look"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]`
      const path = `${url}/v1/sessions/s-${at}/messages?format=anthropic`
      const appended = await fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: `{"messages":${messages}}`,
      })
      expect([put, appended.status]).toEqual([put, 201])
      // A number that no double holds is a text with its digits; a zero has no sign.
      const said = /^-?\d/.test(put) ? (put === "-0" ? "0" : `"${put}"`) : JSON.stringify(JSON.parse(put))
      expect([put, await (await fetch(path)).text()]).toEqual([
        put,
        expect.stringContaining(`"input":{"v":${said}}`),
      ])
    }
  })
})

it("L19: a conversation has the digits of numbers in its items, and its upstream has what else was sent", async () => {
  const { url, mine, provider } = await spoken()
  const post = async (path: string, body: string) => {
    const headers = { "x-memfold-token": mine.token, "content-type": "application/json" }
    const answer = await fetch(`${url}/v1/${path}`, { method: "POST", headers, body })
    return answer.text()
  }
  const click = (at: string): string =>
    `[{"role":"user","content":"Look"},{"type":"computer_call","id":"cu","call_id":"c","status":"completed","pending_safety_checks":[],"action":{"type":"click","button":"left","x":${at},"y":1}}]`
  const long = "9007199254740993"
  const { id } = JSON.parse(await post("conversations", `{"items":${click(long)}}`)) as { id: string }
  const items = await fetch(`${url}/v1/conversations/${id}/items`, {
    headers: { "x-memfold-token": mine.token },
  })
  expect(await items.text()).toContain(`"x":"${long}"`)
  const tool = `{"type":"function","name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":${long}}}}}`
  await post("responses", `{"model":"m","input":"Hi","tools":[${tool}]}`)
  expect(JSON.stringify(provider.received.at(-1))).not.toContain(`"${long}"`)
})

describe("L21: every route", () => {
  it("asks for the rights that it declares, before anything of a body has come", async () => {
    const { url, mine, some, ids } = await spoken()
    const kinds = [null, makeToken({ tenant: "acme", rights: all }).token] as const
    for (const row of rows) {
      for (const token of kinds) {
        const { status } = await send(url, row, ids, token)
        if (row.rights.length === 0) expect([nameOf(row), status]).not.toEqual([nameOf(row), 401])
        else {
          expect([nameOf(row), status]).toEqual([nameOf(row), 401])
          expect([nameOf(row), await unfinished(url, row, ids, token)]).toEqual([nameOf(row), 401])
        }
      }
      for (const { token, rights } of some.filter((one) => missing(row, one.rights))) {
        const what = `${nameOf(row)} with ${rights.join(", ")}`
        expect([what, (await send(url, row, ids, token)).status]).toEqual([what, 403])
        expect([what, await unfinished(url, row, ids, token)]).toEqual([what, 403])
      }
    }
    // What is allowed is answered, whatever it does to what is there.
    for (const row of rows)
      for (const { token, rights } of [...some, mine].filter((one) => !missing(row, one.rights))) {
        const what = `${nameOf(row)} with ${rights.join(", ")}`
        const { status, body } = await send(url, row, ids, token)
        const isRefused = status === 401 || (status === 403 && !JSON.stringify(body).includes("all tenants"))
        expect([what, status, isRefused]).toEqual([what, status, false])
      }
  })

  it("is no other one where an id is left out: a variable that is not set names no session", async () => {
    const { url } = await started({})
    await ask(`${url}/v1/sessions/chat/messages`, { body: { messages: turn(0) } })
    for (const row of rows.filter(({ path, isForeign }) => path.includes(":") && !isForeign)) {
      const path = row.path.replace(/:\w+/, "").replaceAll(/:\w+/g, "chat")
      // A slash at the end is none of an id: a list answers there.
      for (const written of new Set(
        [path, path.replace(/\/\w+$/, "/chat")].filter((one) => !one.endsWith("/")),
      )) {
        const { status } = await ask(url + written, {
          method: row.method,
          ...(row.method === "GET" ? {} : { body: {} }),
        })
        expect([400, 404], `${row.method} ${written}`).toContain(status)
      }
    }
    expect((await ask(`${url}/v1/sessions/chat`)).body).toMatchObject({ total: 2 })
  })

  it("answers another method with those that its path has", async () => {
    const { url } = await started({})
    const own = rows.filter(({ isForeign }) => !isForeign)
    for (const path of new Set(own.map((row) => row.path))) {
      const has = own.flatMap((row) => (row.path === path ? [row.method] : []))
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        if (has.includes(method === "HEAD" ? "GET" : method)) continue
        const asked = await fetch(url + path.replaceAll(/:\w+/g, "1"), { method })
        const allowed = asked.headers.get("allow")?.split(", ")
        expect([method, path, asked.status, allowed]).toEqual([
          method,
          path,
          405,
          has.includes("GET") ? [...has, "HEAD"] : has,
        ])
      }
    }
    expect((await fetch(`${url}/nowhere`, { method: "PUT" })).status).toBe(404)
  })

  it("lets nobody send a body that it is not to read", async () => {
    const { url, mine, some, ids } = await spoken({ maxBody: 100_000 })
    for (const row of rows) {
      const asked = async (token: string | null, length: number) => [
        nameOf(row),
        await expecting(url, row, ids, token, length),
      ]
      if (row.rights.length > 0) expect(await asked(null, 5)).toEqual([nameOf(row), 401])
      for (const { token } of some.filter(({ rights }) => missing(row, rights)))
        expect(await asked(token, 5)).toEqual([nameOf(row), 403])
      // What is larger goes on unread, if it may be for an upstream alone.
      const goesOn =
        row.isForeign &&
        !/:(?:conversation|response)|conversations|responses\/(?:input|compact)/.test(row.path)
      const hasBody = row.method === "POST" || (!row.isForeign && row.method.startsWith("P"))
      const first = goesOn ? 100 : 413
      if (!hasBody) continue
      expect(await asked(mine.token, 100_001)).toEqual([nameOf(row), first])
      expect(await asked(mine.token, 100_000)).toEqual([nameOf(row), 100])
    }
    const [row] = rows
    expect(await expecting(url, { ...row!, method: "POST", path: "/nowhere" }, ids, null, 5)).toBe(404)
  })

  it("asks for the right to erase where a text leaves the store", () => {
    const erasing = rows.filter(({ rights }) => rights.includes("erase")).map(nameOf)
    expect(erasing.toSorted()).toEqual([
      "DELETE /v1/conversations/:conversation/items/:item",
      "DELETE /v1/owners/:owner",
      "DELETE /v1/responses/:response",
      "DELETE /v1/sessions/:session",
      "POST /v1/owners/:owner/erase",
      "POST /v1/owners/:owner/restore",
      "POST /v1/sessions/:session/facts/:fact/redact",
      "POST /v1/sessions/:session/redact",
      "PUT /v1/owners/:owner/hold",
      "PUT /v1/sessions/:session/hold",
    ])
    expect(rows.filter(({ rights }) => rights.length === 0).map(nameOf)).toEqual([
      "GET /health",
      "GET /ready",
      "GET /docs",
      "GET /openapi.json",
      "GET /studio/*",
    ])
  })

  it("has no words of another tenant, and changes nothing of it", async () => {
    const { url, provider, mine, theirs, ids, sessions } = await spoken()
    const events = async () =>
      JSON.stringify(
        await Promise.all(
          (await sessions(mine.token)).map((session) =>
            ask(`${url}/v1/sessions/${encodeURIComponent(session)}/events`, {
              headers: { authorization: `Bearer ${mine.token}` },
            }),
          ),
        ),
      )
    const before = await events()
    expect(before).toContain(secret)
    const received = provider.received.length
    for (const row of rows) {
      const { body } = await send(url, row, ids, theirs.token)
      const isTold = JSON.stringify(body).replaceAll(`"query":"${secret}"`, "").includes(secret)
      expect([nameOf(row), isTold]).toEqual([nameOf(row), false])
    }
    expect(JSON.stringify(provider.received.slice(received))).not.toContain(secret)
    expect(await events()).toBe(before)
  })

  it("L20: answers a tenant as if nobody else was there, who does all of it under the same names", async () => {
    /**
     * An answer without times, ids, places in the whole store, and the tokens that random ids have. The entries of a trail are sorted: those
     * of one millisecond stand in the order of their random ids.
     */
    const shown = ({ status, body }: Awaited<ReturnType<typeof send>>) => ({
      status,
      body: JSON.stringify(body)
        .replaceAll(/"(?:position|after|turn|next|before|head)":"[^"]*"|"tokens":\d+/g, '"place"')
        // Before times: a random id may have ten digits in a row.
        .replaceAll(/\b(?:msg|resp|cmp|chatcmpl)[-_]\d+(?:_\d+)?\b|[\w-]{20,}|token [0-9a-f]{12}/g, "id")
        .replaceAll(/\d{10,}/g, "time")
        .split(/(?<="entries":\[)|,(?=\{"time":)|(?<=\})(?=\])/)
        .toSorted()
        .join(""),
    })
    const answers = async (isAlone: boolean) => {
      const { url, mine, theirs, ids, speak } = await spoken({ layers: true, compaction: { mode: "inline" } })
      const words = "Nobody hears OTHER-4712."
      const others = isAlone ? null : await speak(theirs.token, words)
      const told: Array<readonly [name: string, answer: ReturnType<typeof shown>]> = []
      for (const row of rowsInOrder) {
        const headers = row.takes.has("idempotency-key") ? { "idempotency-key": nameOf(row) } : {}
        const reason = /hold|erase|restore/.test(row.path) ? { reason: "asked for" } : {}
        const asked = (ids: Ids, token: string) => send(url, row, ids, token, reason, headers)
        if (others !== null)
          expect([nameOf(row), JSON.stringify((await asked(others, theirs.token)).body)]).toEqual([
            nameOf(row),
            expect.not.stringMatching(`It is ${secret}|acme`),
          ])
        told.push([nameOf(row), shown(await asked(ids, mine.token))])
      }
      return told
    }
    const [alone, together] = [await answers(true), await answers(false)]
    expect(JSON.stringify(together)).not.toContain("OTHER-4712")
    for (const [at, one] of together.entries()) expect(one).toEqual(alone[at])
  })

  it("begins a session only if it says so, and never more than are allowed", async () => {
    // What was spoken is a session, and a conversation with its register.
    const { url, mine, ids, sessions } = await spoken({ maxSessions: 3 })
    const had = await sessions(mine.token)
    expect(had).toHaveLength(3)
    const fresh = { ...ids, session: "fresh" }
    const refused: Array<string> = []
    for (const row of rows.filter(({ rights }) => !rights.includes("erase"))) {
      const { status } = await send(url, row, row.isForeign ? ids : fresh, mine.token)
      if (status === 429) refused.push(nameOf(row))
      expect([nameOf(row), (await sessions(mine.token)).toSorted()]).toEqual([nameOf(row), had.toSorted()])
    }
    expect(refused.toSorted()).toEqual([
      "PATCH /v1/sessions/:session",
      "POST /v1/conversations",
      "POST /v1/sessions/:session/fork",
      "POST /v1/sessions/:session/messages",
      "POST /v1/sessions/:session/revert",
      "PUT /v1/sessions/:session/messages",
    ])
    // These find their session by themselves.
    const own = { "x-memfold-token": mine.token }
    for (const body of [
      { model: "m", input: "Hi" },
      { model: "m", input: "Hi", background: true },
      { model: "m", input: "Hi", previous_response_id: ids.response },
    ])
      expect((await ask(`${url}/v1/responses`, { headers: own, body })).status).toBe(429)
    const named = { ...own, "x-session-id": "another" }
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }] }
    const passed = await ask(`${url}/v1/chat/completions`, { headers: named, body })
    expect(passed.headers.get("x-memfold-reason")).toBe("too-many-sessions")
    expect((await sessions(mine.token)).toSorted()).toEqual(had.toSorted())
  })
})

describe("every route over a sealed store", () => {
  /** A service with facts, whose store is sealed, in which everything belongs to ann. */
  const governed = async (options: Parameters<typeof spoken>[0] = {}) => {
    const keys = mkdtempSync(join(tmpdir(), "memfold-keys-"))
    onTestFinished(() => rmSync(keys, { recursive: true, force: true }))
    const service = await spoken({
      store: `sealed:${keys},${storeFile()}`,
      layers: true,
      compaction: { mode: "inline" },
      ...options,
    })
    const headers = { authorization: `Bearer ${service.mine.token}` }
    const api = async (path: string, body?: object, method?: string) =>
      (
        await ask(`${service.url}/v1/${path}`, {
          headers,
          ...(body === undefined ? {} : { body, ...(method === undefined ? {} : { method }) }),
        })
      ).body as object
    await api("sessions/chat/messages", {
      messages: [
        { role: "user", content: "Hi, I'm Ada. I live in Graz." },
        { role: "assistant", content: "Noted." },
      ],
    })
    const [{ id: fact }] = ((await api("sessions/chat/facts")) as { facts: [{ id: string }] }).facts
    return { ...service, api, ids: { ...service.ids, fact: encodeURIComponent(fact) } }
  }

  it("takes nothing away that is held, and names the hold", async () => {
    const { url, api, mine, ids } = await governed()
    const body = { reason: "case 17" }
    const taking = rows.filter((row) => row.rights.includes("erase") && !/\/(?:hold|restore)$/.test(row.path))
    await api("owners/ann/hold", body, "PUT")
    const headers = { authorization: `Bearer ${mine.token}` }
    const said = async () => {
      const lines = await fetch(`${url}/v1/owners/ann/events`, { headers })
      return (await lines.text()).split("\n").filter((line) => line.includes("MessageAppended"))
    }
    const before = await said()
    expect(before.length).toBeGreaterThan(3)
    for (const row of taking) {
      const { status, body: answer } = await send(url, row, ids, mine.token, body)
      const told = JSON.stringify(answer)
      // In a conversation, its items stay: the log has all of it.
      if (nameOf(row) !== "DELETE /v1/responses/:response")
        expect([nameOf(row), status, told]).toEqual([nameOf(row), 409, expect.stringContaining("case 17")])
      expect(told).not.toContain("acme/")
      expect([nameOf(row), await said()]).toEqual([nameOf(row), expect.arrayContaining(before)])
    }
    await api("owners/ann/hold", { reason: null }, "PUT")
    // Of what one of them has taken, the next one finds nothing.
    for (const row of taking.toReversed())
      expect([nameOf(row), (await send(url, row, ids, mine.token, body)).status]).not.toEqual([
        nameOf(row),
        409,
      ])
  })

  it.each(["case 17", null])(
    "marks a conversation and a response in it as deleted, and keeps every word: hold %s",
    async (reason) => {
      const [writer, eraser] = [tokenOf("acme", ["write"], "writer"), tokenOf("acme", ["erase"], "eraser")]
      const { url, api, mine, ids } = await governed({ also: [writer, eraser] })
      const headers = { authorization: `Bearer ${mine.token}` }
      const said = async () => {
        const events = await fetch(`${url}/v1/sessions/${ids.conversation}/events`, { headers })
        return events.text()
      }
      const before = await said()
      expect(before).toContain(secret)
      if (reason !== null) await api("owners/ann/hold", { reason }, "PUT")
      for (const [name, { token }] of [
        ["/v1/responses/:response", eraser],
        // It takes no text away, so it needs no right to erase.
        ["/v1/conversations/:conversation", writer],
      ] as const) {
        const at = (method: string) => rows.find((row) => nameOf(row) === `${method} ${name}`)!
        const { status, body } = await send(url, at("DELETE"), ids, token)
        expect([name, status, body]).toEqual([name, 200, expect.objectContaining({ deleted: true })])
        expect([name, (await send(url, at("GET"), ids, mine.token)).status]).toEqual([name, 404])
        expect([name, await said()]).toEqual([name, before])
      }
      const { entries } = (await api("owners/ann/audit")) as {
        entries: ReadonlyArray<{ session: string; act: string; actor: { id: string } | null }>
      }
      const marks = entries.filter(({ session }) => session === `${ids.conversation}.register`).slice(-2)
      expect(marks.map(({ act, actor }) => [act, actor?.id])).toEqual([
        ["append", "eraser"],
        ["append", "writer"],
      ])
    },
  )

  it("has an entry of whoever asked, and never a word", async () => {
    const tokens = rows.map((row) => tokenOf("acme", all, nameOf(row)))
    const { url, api, ids } = await governed({ audit: { reads: true }, also: tokens })
    const told = new Set<string>()
    const look = async () => {
      for (const of of ["owners/ann", "sessions/chat", "sessions/forked", `sessions/${ids.conversation}`]) {
        const report = await api(`${of}/audit`)
        expect(JSON.stringify(report)).not.toMatch(/SECRET|Graz|intruded/)
        for (const { brokenAt } of (report as { trails: ReadonlyArray<{ brokenAt: number | null }> }).trails)
          expect(brokenAt).toBeNull()
        for (const { actor } of (report as { entries: ReadonlyArray<{ actor: { id: string } | null }> })
          .entries)
          if (actor !== null) told.add(actor.id)
      }
    }
    for (const row of rowsInOrder) {
      const { token } = tokens[rows.indexOf(row)]!
      const body = /hold|erase|restore/.test(row.path) ? { reason: "asked for" } : {}
      await send(url, row, ids, token, body)
      // What takes a session away is looked behind at once.
      if (rank(row) >= 0 || rows.indexOf(row) % 10 === 0) await look()
    }
    await look()
    const untold = rows
      // Anybody may ask for these, or nothing is behind them.
      .filter(({ rights, path }) => rights.length > 0 && !/\/\*$|resp_elsewhere|mcp$/.test(path))
      .map(nameOf)
      .filter((name) => !told.has(name))
    // They show no words of a session, or had nothing to do here; and the feed is of the whole store, with its trails.
    expect(untold.toSorted()).toEqual([
      "DELETE /v1/feed/groups/:group",
      "DELETE /v1/feed/groups/:group/given-up/:id",
      "DELETE /v1/files/f",
      "DELETE /v1/owners/:owner/facts/rebuild",
      "GET /v1/access",
      "GET /v1/feed",
      "GET /v1/feed/groups/:group/given-up",
      "GET /v1/models",
      "GET /v1/owners/:owner/audit",
      "GET /v1/responses",
      "GET /v1/sessions",
      "GET /v1/sessions/:session/audit",
      "GET /v1/sessions/:session/branches",
      "GET /v1/settings",
      "GET /v1/tools",
      "POST /v1/feed/groups/:group",
      "POST /v1/sessions/:session/compact",
      "POST /v1/sessions/:session/revert",
      "PUT /v1/conversations",
      "PUT /v1/settings",
    ])
  })
})
