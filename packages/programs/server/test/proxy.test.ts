/** The service with an upstream: the memory of a session beside the API of a provider, at one address. */
import { storeFile } from "@memfold/harness/storeFile"
import { providerServer, scripted, type ServerOptions } from "@memfold/strict-providers"
import Database from "better-sqlite3"
import OpenAI from "openai"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeToken } from "../src/index.js"
import { ask, started } from "./services.js"

const upstream = async (options: ServerOptions = {}) => {
  const provider = await providerServer(options)
  onTestFinished(provider.close)
  return provider
}

const clientOf = (url: string, headers: Readonly<Record<string, string>>) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "key-of-the-client", maxRetries: 0, defaultHeaders: headers })

const say = (client: OpenAI, content: string) =>
  client.chat.completions.create({ model: "gpt-5", messages: [{ role: "user", content }] })

describe("a service with an upstream", () => {
  it("gives requests the memory, which its own routes show, over a restart", async () => {
    const store = storeFile()
    const provider = await upstream({ answer: scripted([{ text: "Hello Ann." }, { text: "You are Ann." }]) })
    const first = await started({ store, upstream: provider.anthropicURL })
    await say(clientOf(first.url, { "x-session-id": "chat-1" }), "I am Ann.")
    await first.close()
    const second = await started({ store, upstream: provider.anthropicURL })
    await say(clientOf(second.url, { "x-session-id": "chat-1" }), "Who am I?")
    expect(provider.received[1]!.body["messages"]).toEqual([
      { role: "user", content: "I am Ann." },
      expect.objectContaining({ role: "assistant", content: "Hello Ann." }),
      { role: "user", content: "Who am I?" },
    ])
    const { body } = await ask(`${second.url}/v1/sessions/chat-1/messages`)
    expect(body).toMatchObject({ messages: [{}, {}, {}, { content: "You are Ann." }] })
    expect((await ask(`${second.url}/v1/sessions`)).status).toBe(200)
    expect((await ask(`${second.url}/health`)).status).toBe(200)
  })

  it("goes on with a session in another service over the same store", async () => {
    const store = storeFile()
    const provider = await upstream({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    const services = [0, 1].map(() => started({ store, upstream: provider.anthropicURL }))
    const [one, other] = (await Promise.all(services)).map(({ url }) =>
      clientOf(url, { "x-session-id": "chat-1" }),
    )
    for (let turn = 0; turn < 6; turn++) await say(turn % 2 === 0 ? one! : other!, `Question ${turn}`)
    const said = provider.received.at(-1)!.body["messages"] as ReadonlyArray<{ readonly content: string }>
    expect(said.map(({ content }) => content)).toEqual([
      ...[0, 1, 2, 3, 4].flatMap((turn) => [`Question ${turn}`, `Answer ${turn}`]),
      "Question 5",
    ])
  })

  it("keeps tenants apart, and asks for its own token beside the key of the upstream", async () => {
    const provider = await upstream()
    const tokens = ["acme", "globex"].map((tenant) => makeToken({ tenant, rights: ["read", "write"] }))
    const reader = makeToken({ tenant: "acme", rights: ["read"] })
    const { url } = await started({
      upstream: provider.anthropicURL,
      tokens: [...tokens, reader].map(({ stored }) => stored),
    })
    const named = { "x-session-id": "chat-1" }
    await expect(say(clientOf(url, named), "Hi")).rejects.toMatchObject({ status: 401 })
    await expect(say(clientOf(url, { ...named, "x-memfold-token": "mf_no" }), "Hi")).rejects.toMatchObject({
      status: 401,
    })
    await expect(
      say(clientOf(url, { ...named, "x-memfold-token": reader.token }), "Hi"),
    ).rejects.toMatchObject({ status: 403 })
    expect(provider.received).toEqual([])
    for (const { token } of tokens) await say(clientOf(url, { ...named, "x-memfold-token": token }), "Hi")
    for (const { body } of provider.received)
      expect(body["messages"]).toEqual([{ role: "user", content: "Hi" }])
    expect(JSON.stringify(provider.received)).not.toContain("mf_")
    for (const { token } of tokens) {
      const { body } = await ask(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })
      expect(body).toMatchObject({ sessions: [{ session: "chat-1" }] })
    }
  })

  it("begins no more sessions than a tenant may have, and answers all the same", async () => {
    const provider = await upstream()
    const { url } = await started({ upstream: provider.anthropicURL, maxSessions: 1 })
    const reasons = []
    for (const session of ["chat-1", "chat-2", "chat-1"]) {
      const { response } = await clientOf(url, { "x-session-id": session })
        .chat.completions.create({ model: "gpt-5", messages: [{ role: "user", content: "Hi" }] })
        .withResponse()
      reasons.push(response.headers.get("x-memfold-reason"))
    }
    expect(reasons).toEqual([null, "too-many-sessions", null])
    expect((await ask(`${url}/v1/sessions`)).body).toMatchObject({ sessions: [{ session: "chat-1" }] })
  })

  it("refuses pages and hosts that it does not know, and passes nothing on without an upstream", async () => {
    const provider = await upstream()
    const { url } = await started({ upstream: provider.anthropicURL })
    const body = { model: "gpt-5", messages: [{ role: "user", content: "Hi" }] }
    const page = await ask(`${url}/v1/chat/completions`, {
      body,
      headers: { origin: "https://evil.example" },
    })
    expect(page.status).toBe(403)
    expect(provider.received).toEqual([])
    const alone = await started()
    expect((await ask(`${alone.url}/v1/chat/completions`, { body })).status).toBe(404)
  })

  it("passes requests on as they came when the store fails, and says so", async () => {
    const store = storeFile()
    const provider = await upstream()
    const { url } = await started({ store, upstream: provider.anthropicURL })
    const client = clientOf(url, { "x-session-id": "chat-1" })
    await say(client, "Hi")
    // Another program has damaged the database.
    const file = new Database(store.slice("sqlite:".length))
    file.pragma("foreign_keys = off")
    for (const { name } of file
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
      .all() as Array<{ name: string }>)
      file.exec(`drop table if exists "${name}"`)
    file.close()
    const { response } = await client.chat.completions
      .create({ model: "gpt-5", messages: [{ role: "user", content: "Hi again" }] })
      .withResponse()
    expect(response.headers.get("x-memfold-reason")).toBe("memory-failed")
    expect(provider.received[1]!.body["messages"]).toEqual([{ role: "user", content: "Hi again" }])
  })

  it.each(["ftp://host", "nonsense", "http://user:secret@host", { openai: "x" }])(
    "refuses the upstream %o",
    async (wrong) => {
      await expect(started({ upstream: wrong })).rejects.toMatchObject({ _tag: "ServeError" })
    },
  )
})
