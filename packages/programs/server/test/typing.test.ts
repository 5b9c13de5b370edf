/** Mistakes of typing: fields that a request does not have, ids that are none, options of another form. */
import { HttpApi, HttpApiSchema } from "@effect/platform"
import { createClient } from "@memfold/client"
import { api } from "@memfold/client/api"
import { Either, Option, ParseResult, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ask, started, turn } from "./services.js"

/** The schema of the query and of the body of each operation that has one. */
const requests: Array<readonly [operation: string, schema: Schema.Schema.AnyNoContext]> = []
HttpApi.reflect(api, {
  onGroup: () => {},
  onEndpoint: ({ group, endpoint, payloads }) => {
    const parts = [
      ...[...payloads.values()].map(({ ast }) => ast),
      ...Option.toArray(Option.map(endpoint.urlParamsSchema, ({ ast }) => ast)),
    ]
    for (const ast of parts)
      if (!HttpApiSchema.getMultipart(ast))
        requests.push([`${group.identifier}.${endpoint.name}`, Schema.make(ast)])
  },
})

it.each(requests)("%s refuses a field that it does not have", (_, schema) => {
  const decoded = Schema.decodeUnknownEither(schema, { errors: "all" })({ nonsense: 1 })
  const issues = Either.isLeft(decoded) ? ParseResult.ArrayFormatter.formatErrorSync(decoded.left) : []
  expect(issues).toContainEqual(expect.objectContaining({ _tag: "Unexpected", path: ["nonsense"] }))
})

describe("the service", () => {
  it("names a field that there is not, and does nothing", async () => {
    const { url } = await started()
    const session = `${url}/v1/sessions/s`
    const { status, body } = await ask(`${session}/messages`, { body: { messages: turn(1), ownr: "ann" } })
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        detail: 'There is no field "ownr". Correct the request; /docs describes it.',
      }),
    ])
    expect(await ask(`${session}/messages?limits=5`)).toMatchObject({ status: 400 })
    expect(await ask(session)).toMatchObject({ status: 404 })
  })
})

describe("the client", () => {
  it("sends nothing for an id that is none: two users without an id must not share a session", async () => {
    const sent: Array<string> = []
    const client = createClient({
      url: "http://127.0.0.1:9",
      fetch: async (url) => {
        sent.push(String(url))
        return new Response("{}")
      },
    })
    const operations = client as unknown as Readonly<
      Record<string, (...given: ReadonlyArray<unknown>) => Promise<unknown> | AsyncIterable<unknown>>
    >
    const withoutId = new Set([
      "sessions",
      "ready",
      "settings",
      "changeSettings",
      "tools",
      "feed",
      "feedPage",
    ])
    const wrong = [undefined, null, 5, "", " ", {}, [], ".", "..", "half: \ud83d"]
    for (const name of Object.keys(operations).filter((one) => !withoutId.has(one)))
      for (const id of wrong) {
        // It rejects, and does not throw; a loop rejects at its first turn.
        const answer = operations[name]!(id, "x", "y")
        const first = Symbol.asyncIterator in answer ? answer[Symbol.asyncIterator]().next() : answer
        await expect(first, `${name} of ${String(id)}`).rejects.toMatchObject({
          _tag: "ServiceError",
          error: "InvalidInput",
        })
      }
    expect(sent).toEqual([])
  })

  it("says what is wrong with a request, and sends nothing", async () => {
    const { url } = await started()
    const client = createClient({ url })
    await client.append("s", turn(1))
    const wrong: ReadonlyArray<readonly [Promise<unknown>, string]> = [
      [
        client.revert("s", "a summary" as never),
        "The request is wrong; allowed: an object; nothing was sent",
      ],
      [client.revert("s", { to: "a summary" } as never), 'There is no field "to"; nothing was sent'],
      [client.context("s", { limit: 5 } as never), 'There is no field "limit"; nothing was sent'],
      [client.recall("s", undefined as never), '"query" is wrong; allowed: string; nothing was sent'],
      [
        client.compact("s", { which: "one" } as never),
        '"which" is wrong; allowed: "next", "due", "all"; nothing was sent',
      ],
      [
        client.append("s", "KX-4711" as never),
        '"messages" is wrong; allowed: Message, a list; nothing was sent',
      ],
    ]
    for (const [promise, message] of wrong)
      await expect(promise).rejects.toMatchObject({ error: "InvalidInput", status: null, message })
    // What no header can have, or a header would change.
    for (const idempotencyKey of ["", " key", "key ", "a\nb", "a\0b", "密钥", "half: \ud83d"])
      await expect(client.append("s", turn(1), { idempotencyKey })).rejects.toThrow(
        '"idempotencyKey" must be a text of characters up to U+00FF, with no space at its ends',
      )
    await expect(client.append("s", turn(1), { idempotencyKey: "clé 1" })).resolves.toMatchObject({ from: 2 })
    for (const ifVersion of [-1, 1.5, Number.NaN, "1" as never])
      await expect(client.append("s", turn(1), { ifVersion })).rejects.toThrow(
        '"ifVersion" must be a whole number, 0 or more; nothing was sent',
      )
    for (const token of ["", "a\nb", "密钥"])
      expect(() => createClient({ url, token })).toThrow('The option "token" must be a text of characters')
  })

  it("takes ids as long as a request can be, and says which request is too long", async () => {
    const { url } = await started()
    const client = createClient({ url })
    const id = "x".repeat(8_000)
    await expect(client.append(id, turn(1))).resolves.toMatchObject({ from: 0 })
    await expect(client.session(id)).resolves.toMatchObject({ session: id })
    await expect(client.append(id.repeat(3), turn(1))).rejects.toThrow("shorten the id")
  })
})
