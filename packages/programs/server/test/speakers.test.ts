/** Nobody hears another's words: every name that a request can have, with two keys of the upstream and no token of the service. */
import { providerServer } from "@memfold/strict-providers"
import { describe, expect, it, onTestFinished } from "vitest"
// The proxy's own table: a name is tried as soon as it is one.
import { agentHeaders, sessionHeaders } from "@memfold/proxy"
import { makeToken, type ServeOptions } from "../src/index.js"
import { ask, started } from "./services.js"

const secret = "SECRET-4711"
const [ann, bob] = ["Bearer key-of-ann", "Bearer key-of-bob"]

interface Naming {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
}

const names: ReadonlyArray<readonly [name: string, naming: Naming]> = [
  ...[...sessionHeaders, ...agentHeaders].map(
    (name) => [name, { headers: { [name]: "shared-name" } }] as const,
  ),
  ["metadata.session_id", { body: { metadata: { session_id: "shared-name" } } }],
  ["metadata.conversation_id", { body: { metadata: { conversation_id: "shared-name" } } }],
  ["session_id", { body: { session_id: "shared-name" } }],
  ["metadata.user_id, as JSON", { body: { metadata: { user_id: '{"session_id":"shared-name"}' } } }],
  ["metadata.user_id", { body: { metadata: { user_id: "user_1_session_shared-name" } } }],
]

/** What many share by its purpose. */
const shared: ReadonlyArray<readonly [name: string, body: Readonly<Record<string, unknown>>]> = [
  ["prompt_cache_key", { prompt_cache_key: "shared-name" }],
  ["user", { user: "shared-name" }],
  ["safety_identifier", { safety_identifier: "shared-name" }],
  ["metadata.user_id", { metadata: { user_id: "shared-name" } }],
  ["metadata.project", { metadata: { project: "shared-name" } }],
]

/** A request without tools never begins the session of an agent. */
const tools = [
  { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } },
]

const service = async (options: ServeOptions = {}, token?: string) => {
  let answers = 0
  const provider = await providerServer({
    answer: () => ({ text: `Answer ${++answers}.` }),
    unpublished: ["session_id"],
  })
  onTestFinished(provider.close)
  const { url } = await started({ upstream: provider.anthropicURL, strategy: "rounds", ...options })
  /** What a request of somebody brought, and what went upstream for it. */
  const said = async (
    who: string,
    method: string,
    path: string,
    { headers = {}, body }: Naming & { readonly body?: object },
  ) => {
    const before = provider.received.length
    const answer = await ask(`${url}${path}`, {
      method,
      headers: {
        authorization: who,
        ...(token === undefined ? {} : { "x-memfold-token": token }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    return {
      status: answer.status,
      headers: answer.headers,
      body: answer.body as Record<string, unknown>,
      heard: JSON.stringify(answer.body),
      up: JSON.stringify(provider.received.slice(before).map((one) => one.body)),
    }
  }
  const chat = (who: string, content: string, { headers, body }: Naming) =>
    said(who, "POST", "/v1/chat/completions", {
      ...(headers === undefined ? {} : { headers }),
      body: { model: "gpt-5", tools, ...body, messages: [{ role: "user", content }] },
    })
  return { url, said, chat }
}

describe("L20: two keys", () => {
  it.each(names)("under one name have two conversations: %s", async (_, naming) => {
    const { url, said, chat } = await service()
    await chat(ann, `It is ${secret}.`, naming)
    // An agent sends its whole conversation: from another one, this is the beginning of its own.
    const first = await chat(bob, "What was said?", naming)
    expect(first.up).not.toContain(secret)
    expect(first.headers.get("x-memfold")).toBe("memory")
    const second = await said(bob, "POST", "/v1/chat/completions", {
      headers: { ...naming.headers, "x-memfold-history": "new" },
      body: { model: "gpt-5", tools, ...naming.body, messages: [{ role: "user", content: "And then?" }] },
    })
    expect(second.up).toContain("What was said?")
    expect(second.up).not.toContain(secret)
    const counted = await said(bob, "POST", "/v1/messages/count_tokens", {
      headers: naming.headers ?? {},
      body: { model: "m", ...naming.body, messages: [{ role: "user", content: `It is ${secret}.` }] },
    })
    expect(counted.headers.get("x-memfold-reason")).toBe("not-stored")
    const mine = await said(ann, "POST", "/v1/chat/completions", {
      headers: { ...naming.headers, "x-memfold-history": "new" },
      body: { model: "gpt-5", tools, ...naming.body, messages: [{ role: "user", content: "And then?" }] },
    })
    expect(mine.up).toContain(secret)
    expect(mine.up).not.toContain("What was said?")
    // The names of sessions are no secret, and no way in.
    const { body } = await ask(`${url}/v1/sessions`)
    const { sessions } = body as unknown as { readonly sessions: ReadonlyArray<{ readonly session: string }> }
    expect(sessions).toHaveLength(2)
    for (const { session } of sessions) {
      const { up } = await chat("Bearer third", "Hello?", { headers: { "x-session-id": session } })
      expect(up).not.toMatch(/SECRET|What was said/)
    }
  })

  it.each(shared)("and one name that many share have no session at all: %s", async (_, body) => {
    const { url, said, chat } = await service()
    for (const who of [ann, bob, ann]) {
      const { up, headers } = await chat(who, who === bob ? "What was said?" : `It is ${secret}.`, { body })
      expect(up.includes(secret)).toBe(who === ann)
      expect(headers.get("x-memfold-reason")).toBe("no-session")
    }
    const input = { model: "gpt-5", store: false, ...body, input: "What was said?" }
    expect((await said(ann, "POST", "/v1/responses", { body: input })).up).not.toContain(secret)
    expect((await ask(`${url}/v1/sessions`)).body).toMatchObject({ sessions: [] })
  })

  it("hear nothing of conversations and stored responses, whatever names them", async () => {
    const { url, said, chat } = await service()
    const post = async (who: string, path: string, body: object, headers = {}) =>
      said(who, "POST", `/v1/${path}`, { body: body as Record<string, unknown>, headers })
    const item = { type: "message", role: "user", content: `It is ${secret}.` }
    const { body: created } = await post(ann, "conversations", { items: [item] })
    const conversation = created["id"] as string
    const ask1 = { model: "gpt-5", conversation, input: `Again: ${secret}` }
    const { body: inConversation } = await post(ann, "responses", ask1)
    const { body: chain } = await post(ann, "responses", { model: "gpt-5", input: `And ${secret}` })
    const { body: background } = await post(ann, "responses", {
      model: "gpt-5",
      input: secret,
      background: true,
    })
    const items = await said(ann, "GET", `/v1/conversations/${conversation}/items`, {})
    expect(items.heard).toContain(secret)
    const { data } = items.body as unknown as { readonly data: ReadonlyArray<{ readonly id: string }> }
    const responses = [inConversation, chain, background].map(({ id }) => id as string)
    const before = await ask(`${url}/v1/sessions?limit=100`)

    const tries: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ["GET", `conversations/${conversation}`],
      ["POST", `conversations/${conversation}`, { metadata: { a: "b" } }],
      ["GET", `conversations/${conversation}/items`],
      ["POST", `conversations/${conversation}/items`, { items: [item] }],
      ["GET", `conversations/${conversation}/items/${data[0]!.id}`],
      ["DELETE", `conversations/${conversation}/items/${data[0]!.id}`],
      ["DELETE", `conversations/${conversation}`],
      ...["responses", "responses/input_tokens", "responses/compact"].flatMap((path) => [
        ["POST", path, { model: "gpt-5", conversation, input: "What?" }] as const,
        ["POST", path, { model: "gpt-5", conversation: { id: conversation }, input: "What?" }] as const,
        ...responses.map(
          (id) => ["POST", path, { model: "gpt-5", previous_response_id: id, input: "What?" }] as const,
        ),
      ]),
      ...responses.flatMap((id) => [
        ["GET", `responses/${id}`] as const,
        ["GET", `responses/${id}?stream=true`] as const,
        ["GET", `responses/${id}/input_items`] as const,
        ["POST", `responses/${id}/cancel`, {}] as const,
        ["DELETE", `responses/${id}`] as const,
      ]),
    ]
    for (const [method, path, body] of tries) {
      const { status, heard, up } = await said(
        bob,
        method,
        `/v1/${path}`,
        body === undefined ? {} : { body: body as Record<string, unknown> },
      )
      expect([method, path, status === 404 || status === 400, heard.includes(secret), up]).toEqual([
        method,
        path,
        true,
        false,
        "[]",
      ])
    }
    // Their sessions have names, too.
    const { sessions } = before.body as unknown as {
      readonly sessions: ReadonlyArray<{ readonly session: string }>
    }
    expect(sessions.length).toBeGreaterThan(3)
    for (const { session } of sessions) {
      const { up } = await chat(bob, "What?", { headers: { "x-session-id": session } })
      expect([session, up.includes(secret)]).toEqual([session, false])
    }
    expect((await said(ann, "GET", `/v1/conversations/${conversation}/items`, {})).body).toMatchObject({
      data,
    })
    for (const id of responses) expect((await said(ann, "GET", `/v1/responses/${id}`, {})).status).toBe(200)
  })

  it.each([
    ["without tokens of the service", undefined],
    ["with one token of the service", makeToken({ tenant: "acme", rights: ["read", "write"] })],
  ])("may send one idempotency key, and each has its own answer, %s", async (_, made) => {
    const options = made === undefined ? {} : { tokens: [made.stored] }
    const { said, chat } = await service(options, made?.token)
    const headers = { "idempotency-key": "one" }
    const body = { model: "gpt-5", input: "Hi" }
    const texts = []
    for (const who of [ann, bob, ann, bob])
      texts.push((await said(who, "POST", "/v1/responses", { headers, body })).body["id"])
    expect(texts.slice(2)).toEqual(texts.slice(0, 2))
    expect(texts[0]).not.toBe(texts[1])
    if (made !== undefined) return
    await chat(ann, secret, { headers: { ...headers, "x-session-id": "s" } })
    expect((await chat(bob, "Hi", { headers: { ...headers, "x-session-id": "s" } })).up).not.toContain(secret)
  })

  it("are known after a restart, and in a session that began without a key", async () => {
    const { url, chat } = await service()
    await ask(`${url}/v1/sessions/s/messages`, { body: { messages: { role: "user", content: "Before." } } })
    expect((await chat(ann, `It is ${secret}.`, { headers: { "x-session-id": "s" } })).up).toContain(
      "Before.",
    )
    expect((await chat(bob, "What?", { headers: { "x-session-id": "s" } })).up).not.toContain("Before.")
    // A copy is who spoke there's, too.
    await ask(`${url}/v1/sessions/s/fork`, { body: { to: "copy" } })
    expect((await chat(bob, "What?", { headers: { "x-session-id": "copy" } })).up).not.toContain(secret)
    expect((await chat(ann, "What?", { headers: { "x-session-id": "copy" } })).up).toContain(secret)
  })
})
