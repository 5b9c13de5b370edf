/** What belongs to HTTP: versions and keys in headers, and the stream of events, which goes on where it stopped. */
import { storeFile } from "@memfold/harness/storeFile"
import { OpenApi } from "@effect/platform"
import { createClient } from "@memfold/client"
import { api } from "@memfold/client/api"
import { openDriver } from "@memfold/harness/sqlite"
import { describe, expect, it } from "vitest"
import { ask, started, turn } from "./services.js"

const message = (content: string) => ({ messages: { role: "user", content } })

describe("headers", () => {
  it("carry the version of a session, and refuse what was decided on another one", async () => {
    const { url } = await started()
    const session = `${url}/v1/sessions/s`
    const first = await ask(`${session}/messages`, { body: message("one"), headers: { "if-match": '"0"' } })
    expect([first.status, first.headers.get("etag")]).toEqual([201, '"1"'])
    const context = await ask(`${session}/context`)
    expect(context.headers.get("etag")).toBe('"1"')
    expect(
      (await ask(`${session}/messages`, { body: message("two"), headers: { "if-match": '"1"' } })).status,
    ).toBe(201)
    const late = await ask(`${session}/messages`, { body: message("three"), headers: { "if-match": '"1"' } })
    expect(late.status).toBe(412)
    expect(late.body).toMatchObject({ type: "urn:memfold:VersionMismatch", session: "s" })
    for (const wrong of ["1", "*", '"1", "2"', '"x"']) {
      const { status } = await ask(`${session}/messages`, {
        body: message("x"),
        headers: { "if-match": wrong },
      })
      expect([wrong, status]).toEqual([wrong, 400])
    }
    expect((await ask(`${session}/messages`)).body).toMatchObject({ total: 2 })
    expect((await ask(session, { headers: { "if-none-match": '"2"' } })).status).toBe(304)
    expect((await ask(`${session}/messages`, { headers: { "if-none-match": '"2"' } })).status).toBe(304)
    expect((await ask(`${session}/messages`, { headers: { "if-none-match": '"1"' } })).status).toBe(200)
  })

  it("that nobody looks at are refused, and the document says which request takes them", async () => {
    const { url } = await started()
    const { paths } = OpenApi.fromApi(api)
    let taken = 0
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { parameters = [] } = operation as {
          readonly parameters?: ReadonlyArray<{ readonly name: string }>
        }
        for (const name of ["if-match", "idempotency-key"]) {
          const documented = parameters.some((parameter) => parameter.name === name)
          const { body } = await ask(url + path.replaceAll(/\{\w+\}/g, "s"), {
            method: method.toUpperCase(),
            headers: { [name]: '"0"', "last-event-id": "" },
          })
          const refused = JSON.stringify(body).includes("does not take the header")
          expect([path, method, name, refused]).toEqual([path, method, name, !documented])
          if (documented) taken++
        }
      }
    }
    expect(taken).toBe(7)
  })

  it("carry the key of a write, which is applied once however often it comes", async () => {
    const { url } = await started()
    const send = () =>
      ask(`${url}/v1/sessions/s/messages`, { body: message("once"), headers: { "idempotency-key": "k" } })
    const answers = await Promise.all(Array.from({ length: 20 }, send))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
    expect(
      answers.filter(({ body }) => (body as Record<string, unknown>)["duplicate"] === false),
    ).toHaveLength(1)
    expect((await ask(`${url}/v1/sessions/s/messages`)).body).toMatchObject({ total: 1 })
  })
})

/** The events of a connection, until `count` have come. */
const read = async (url: string, count: number, lastEventId?: string) => {
  const stop = new AbortController()
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
  const response = await fetch(url, { signal: stop.signal, headers })
  expect(response.headers.get("content-type")).toBe("text/event-stream")
  const events: Array<{ readonly id: string; readonly data: { readonly version: number } }> = []
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split("\n\n")
    text = blocks.pop()!
    for (const block of blocks) {
      const [, id, data] = /^id: (.*)\nevent: \w+\ndata: (.*)$/.exec(block) ?? []
      if (id !== undefined) events.push({ id, data: JSON.parse(data!) as { version: number } })
    }
    if (events.length >= count) break
  }
  stop.abort()
  return events
}

describe("the stream of events", () => {
  it("has the stored events and new ones, and goes on behind the last one", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    await memory.append("a/b", [...turn(1), ...turn(2)])
    const stream = `${url}/v1/sessions/a%2Fb/changes`
    const first = await read(stream, 2)
    expect(first.slice(0, 2).map(({ data }) => data.version)).toEqual([1, 2])
    const waiting = read(stream, 4, first[1]!.id)
    await memory.append("a/b", turn(3))
    expect((await waiting).map(({ data }) => data.version)).toEqual([3, 4, 5, 6])
    expect((await read(`${stream}?fromVersion=5`, 2)).map(({ data }) => data.version)).toEqual([5, 6])
  })

  it("begins anew where the session was deleted and started again", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    await memory.append("s", turn(1))
    const [, last] = await read(`${url}/v1/sessions/s/changes`, 2)
    await memory.delete("s")
    await memory.append("s", [...turn(2), ...turn(3)])
    const again = await read(`${url}/v1/sessions/s/changes`, 4, last!.id)
    expect(again.map(({ data }) => data.version)).toEqual([1, 2, 3, 4])
    expect(
      (await read(`${url}/v1/sessions/s/changes`, 1, "nonsense")).map(({ data }) => data.version)[0],
    ).toBe(1)
  })

  it("is followed by the client over a service that ends and starts again: each event once and in order", async () => {
    const store = storeFile()
    const first = await started({ store })
    const port = Number(new URL(first.url).port)
    const memory = createClient({ url: first.url, retries: 5 })
    const seen: Array<number> = []
    const until = async (version: number) => {
      for await (const event of memory.changes("s")) {
        seen.push(event.version)
        if (event.version === version) return
      }
    }
    const following = until(6)
    await memory.append("s", turn(1))
    await first.close()
    await started({ store, port })
    await memory.append("s", turn(2))
    await memory.append("s", turn(3))
    await following
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  })

  it("ends with a problem where an event is damaged, and the client says so", async () => {
    const store = storeFile()
    const first = await started({ store })
    await createClient({ url: first.url }).append("s", turn(1), { title: "Orders" })
    await first.close()
    openDriver(store.slice("sqlite:".length)).exec("UPDATE events SET data = '{' WHERE version = 3")
    const { url } = await started({ store })
    const memory = createClient({ url })
    const follow = async () => {
      const seen: Array<number> = []
      for await (const { version } of memory.changes("s")) seen.push(version)
      return seen
    }
    await expect(follow()).rejects.toMatchObject({ error: "DamagedEvent", status: 500 })
    await expect(createClient({ url }).session(" ")).rejects.toMatchObject({ error: "InvalidInput" })
    expect((await fetch(`${url}/v1/sessions/%20/changes`)).status).toBe(400)
  })

  it("ends with the service", async () => {
    const service = await started()
    const response = await fetch(`${service.url}/v1/sessions/s/changes`)
    const ended = response.text()
    await service.close()
    expect(await ended).toMatch(/^:\n\n/)
  })
})
