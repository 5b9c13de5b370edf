/** Who did what, erasures and holds over HTTP: by the name of the token, and each tenant for itself. */
import { createClient } from "@memfold/client"
import { storeFile } from "@memfold/harness/storeFile"
import { providerServer } from "@memfold/strict-providers"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { makeToken, type ServeOptions } from "../src/index.js"
import { ask, started, turn } from "./services.js"

const rights = ["read", "write", "erase"] as const

/** A service over a sealed store, with a token of each of two tenants. */
const sealedService = async (options: ServeOptions = {}) => {
  const keys = mkdtempSync(join(tmpdir(), "memfold-keys-"))
  onTestFinished(() => rmSync(keys, { recursive: true, force: true }))
  const [bot, other] = [
    makeToken({ tenant: "acme", rights, name: "bot" }),
    makeToken({ tenant: "beta", rights, name: "bot" }),
  ]
  const reader = makeToken({ tenant: "acme", rights: ["read"] })
  const service = await started({
    store: `sealed:${keys},${storeFile()}`,
    tokens: [bot.stored, other.stored, reader.stored],
    ...options,
  })
  const client = ({ token }: { readonly token: string }) => createClient({ url: service.url, token })
  return { url: service.url, acme: client(bot), beta: client(other), reader, bot }
}

it("the audit has the name of the token, and never the token", async () => {
  const { acme, bot } = await sealedService()
  await acme.append("chat", turn(1), { owner: "ann", title: "Orders" })
  await acme.edit("chat", 1, { role: "assistant", content: "No." })
  const report = await acme.audit("chat")
  expect(report.totals).toMatchObject({ "append user": 1, "append assistant": 2, edit: 1 })
  for (const { actor } of report.entries) expect(actor).toEqual({ id: "bot", via: "service" })
  const events = await acme.events("chat")
  expect(events[0]).toMatchObject({ actor: { id: "bot", via: "service" } })
  expect(JSON.stringify([report, events])).not.toContain(bot.token)
  expect(JSON.stringify(report)).not.toContain("Orders")
})

it("an owner is erased, held and taken back by whoever may erase, within the tenant", async () => {
  const { url, acme, beta, reader } = await sealedService()
  for (const tenant of [acme, beta]) await tenant.append("chat", turn(1), { owner: "ann" })
  const erasing = { headers: { authorization: `Bearer ${reader.token}` }, body: { reason: "asked for" } }
  expect((await ask(`${url}/v1/owners/ann/erase`, erasing)).status).toBe(403)

  await acme.holdOf("ann", "case 17")
  await expect(acme.erase("ann", { reason: "asked for" })).rejects.toMatchObject({
    error: "Held",
    message: expect.stringContaining("case 17"),
  })
  for (const refused of [() => acme.delete("chat"), () => acme.redact("chat", 0), () => acme.deleteOf("ann")])
    await expect(refused()).rejects.toMatchObject({
      status: 409,
      error: "Held",
      message: expect.stringContaining("case 17"),
    })
  await acme.holdOf("ann", null)
  await acme.hold("chat", "case 18")
  await expect(acme.erase("ann", { reason: "asked for" })).rejects.toMatchObject({
    message: expect.stringContaining('session "chat" is held: case 18'),
  })
  await acme.hold("chat", null)

  const receipt = await acme.erase("ann", { reason: "asked for" })
  expect(receipt).toMatchObject({ owner: "ann", actor: "bot", sessions: [{ session: "chat", version: 3 }] })
  expect(JSON.stringify(receipt)).not.toContain("acme/")
  await expect(acme.context("chat")).rejects.toMatchObject({ status: 409, error: "Erased" })
  expect((await acme.sessions({ owner: "ann" })).sessions).toMatchObject([{ session: "chat" }])
  expect((await beta.context("chat")).messages).toHaveLength(2)

  const { totals, trails, entries } = await acme.auditOf("ann")
  expect(totals).toMatchObject({ append: 2, hold: 2, release: 2, erase: 1 })
  for (const { brokenAt } of trails) expect(brokenAt).toBeNull()
  expect(JSON.stringify(entries)).not.toContain("acme/")
  expect((await beta.auditOf("ann")).totals).not.toHaveProperty("erase")

  expect(await acme.restore("ann", { reason: "by mistake" })).toBeGreaterThan(0)
  expect((await acme.context("chat")).messages).toHaveLength(2)
})

it("reads and exports are in the trail where they are asked for", async () => {
  const memory = createClient({ url: (await started({ audit: { reads: true } })).url })
  await memory.append("chat", turn(1), { owner: "ann" })
  await memory.context("chat")
  await memory.eventsOf("ann")
  const { totals, trails } = await memory.audit("chat")
  expect(totals).toMatchObject({ read: 1, export: 1 })
  for (const { brokenAt } of trails) expect(brokenAt).toBeNull()
})

it("a store that seals nothing says so", async () => {
  const memory = createClient({ url: (await started()).url })
  await memory.append("chat", turn(1), { owner: "ann" })
  await expect(memory.erase("ann", { reason: "asked for" })).rejects.toMatchObject({
    status: 409,
    error: "NotSealed",
  })
  expect((await memory.audit("chat")).totals).toMatchObject({ "append user": 1 })
})

it("the erasure of an owner reaches what the proxy has kept for the owner: chats, stored responses and conversations", async () => {
  const provider = await providerServer({ answer: () => ({ text: "Yes." }) })
  onTestFinished(provider.close)
  const { url, acme, bot } = await sealedService({ upstream: provider.anthropicURL })
  const asOwner = (owner: string) => ({
    authorization: "Bearer k",
    "x-memfold-token": bot.token,
    "x-memfold-owner": owner,
  })
  const post = async (path: string, body: unknown, headers: Record<string, string>) => {
    const answer = await ask(`${url}${path}`, { headers, body })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as { readonly id: string }
  }
  const kept = async (owner: string) => {
    const headers = asOwner(owner)
    const message = { role: "user", content: `I am ${owner}.` }
    const chat = { model: "gpt-6.2-sol", messages: [message] }
    await post("/v1/chat/completions", chat, { ...headers, "x-session-id": `chat-of-${owner}` })
    const response = await post(
      "/v1/responses",
      { model: "gpt-6.2-sol", input: `I am ${owner}.`, store: true, metadata: { name: owner } },
      headers,
    )
    const conversation = await post(
      "/v1/conversations",
      { items: [{ type: "message", ...message }], metadata: { name: owner } },
      headers,
    )
    return [`/v1/responses/${response.id}`, `/v1/conversations/${conversation.id}`]
  }
  const [ofAnn, ofBen] = [await kept("ann"), await kept("ben")]
  const read = (path: string) => fetch(`${url}${path}`, { headers: asOwner("ann") })
  for (const path of [...ofAnn, ...ofBen]) expect((await read(path)).status).toBe(200)

  const { sessions } = await acme.erase("ann", { reason: "asked for" })
  // Each conversation with its register, and the chat.
  expect(sessions.length).toBeGreaterThanOrEqual(4)
  for (const path of ofAnn) {
    const answer = await read(path)
    expect([path, answer.status, await answer.text()]).toEqual([path, 409, expect.stringContaining("erased")])
  }
  for (const path of ofBen) expect((await read(path)).status).toBe(200)
  await expect(acme.context("chat-of-ann")).rejects.toMatchObject({ status: 409, error: "Erased" })
  await acme.restore("ann")
  await acme.holdOf("ann", "case 17")
  const [response] = ofAnn
  const deleted = await fetch(`${url}${response}`, { method: "DELETE", headers: asOwner("ann") })
  expect([deleted.status, await deleted.text()]).toEqual([409, expect.stringContaining("held")])
  await acme.holdOf("ann", null)
  for (const path of ofAnn) expect((await read(path)).status).toBe(200)
})

it("an item of a held conversation stays in it, and is deleted once the hold ends", async () => {
  const { url, acme, bot } = await sealedService({ upstream: "http://127.0.0.1:9" })
  const headers = { authorization: "Bearer k", "x-memfold-token": bot.token, "x-memfold-owner": "ann" }
  const items = ["My order is KX-4471.", "And my name is Ann."].map((content) => ({
    type: "message",
    role: "user",
    content,
  }))
  const begun = await ask(`${url}/v1/conversations`, { headers, body: { items } })
  const { id } = begun.body as { readonly id: string }
  const listed = async () => {
    const answer = await fetch(`${url}/v1/conversations/${id}/items?order=asc`, { headers })
    return ((await answer.json()) as { readonly data: ReadonlyArray<{ readonly id: string }> }).data
  }
  const before = await listed()
  expect(before).toHaveLength(2)
  const remove = () =>
    fetch(`${url}/v1/conversations/${id}/items/${before[0]!.id}`, { method: "DELETE", headers })

  await acme.holdOf("ann", "case 17")
  const refused = await remove()
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("held")])
  expect(await listed()).toEqual(before)

  await acme.holdOf("ann", null)
  expect((await remove()).status).toBe(200)
  expect((await listed()).map((one) => one.id)).toEqual([before[1]!.id])
  expect((await remove()).status).toBe(404)
})
