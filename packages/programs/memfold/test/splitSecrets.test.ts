/** A secret that stands half here and half there, and in other clothes: redacted or deleted, no half of it is in any byte of a store. */
import { Embedder, EventLog, Memory, MemoryLayers, Message, Summarizer, VectorIndex } from "@memfold/core"
import { bytesOf } from "@memfold/harness/bytesOf"
import { often } from "@memfold/harness/depth"
import { pairs } from "@memfold/harness/engine"
import { postgresServers } from "@memfold/harness/postgresServers"
import { servers } from "@memfold/harness/redisServers"
import { functionExtractor, make as makeLayers } from "@memfold/layers"
import { make as makeVectors } from "@memfold/sqlite-vec"
import { layer as postgres } from "@memfold/store-postgres"
import { layer as redis } from "@memfold/store-redis"
import { layer as sqlite } from "@memfold/store-sqlite"
import * as Fakes from "@memfold/testing/fakes"
import { Effect, type Layer } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { afterAll, expect, it, vi } from "vitest"

const base = mkdtempSync(join(tmpdir(), "memfold-split-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const base64 = (text: string) => Buffer.from(text).toString("base64")
const escaped = (text: string) =>
  text.replaceAll(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
const encoded = (text: string) =>
  text.replaceAll(/./gs, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)

/** Ways to write a piece of a text. */
const clothes: Readonly<Record<string, (piece: string) => string>> = {
  plain: (piece) => piece,
  base64,
  escaped,
  encoded,
  reversed: (piece) => [...piece].toReversed().join(""),
}
type Wear = (piece: string) => string

/** Messages with the halves of a secret in different places of theirs. */
const places: Readonly<
  Record<string, (one: string, other: string, id: string) => ReadonlyArray<Message.Message>>
> = {
  "two parts": (one, other) => [
    { role: "user", parts: [one, other].map((text) => ({ type: "text", text: `It is ${text}` })) },
  ],
  "two messages": (one, other) => [Message.assistant(`It is ${one}`), Message.assistant(`${other} it is.`)],
  "reasoning and text": (one, other) => [
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: one, signature: other },
        { type: "text", text: other },
      ],
    },
  ],
  "arguments and a result": (one, other, id) => [
    Message.call([{ id, name: "save", arguments: JSON.stringify({ first: one, second: [other] }) }]),
    Message.result({ id, output: JSON.stringify({ saved: other, of: one }) }),
  ],
  "arguments as they came": (one, other, id) => [
    Message.call([{ id, name: "save", arguments: `{"first":"${one}","second":"${other}"` }]),
    Message.result({ id, output: "no JSON" }),
  ],
  "a file and its name": (one, other) => [
    {
      role: "user",
      parts: [
        { type: "file", mediaType: "text/plain", name: one, uri: `data:text/plain;base64,${base64(other)}` },
      ],
    },
  ],
  "an item of a provider": (one, other) => [
    {
      role: "assistant",
      parts: [
        {
          type: "opaque",
          provider: "anthropic",
          data: { type: "mcp_tool_result", content: [{ text: one }, { text: other }] },
        },
      ],
    },
  ],
  "a name and what a program notes": (one, other) => [
    { ...Message.user("Hello."), name: one, metadata: { note: { deep: [other] } } },
  ],
}

const filler = /(?:It is an answer of some length\. )+/g

/** Writes down all that it reads, without what makes messages long. */
const parrot: Summarizer.Service = {
  name: "parrot",
  maxInputTokens: Number.POSITIVE_INFINITY,
  summarize: ({ previous = "", messages }) =>
    Effect.sync(() => {
      const parts = messages.map((message) => message.parts)
      return { text: `${previous} ${JSON.stringify(parts)}`.replaceAll(filler, "") }
    }),
}

const extractor = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ role, text }) =>
      role === "user" && text !== "" ? [{ predicate: "says", value: text, quote: text.split("\n")[0]! }] : [],
    ),
  { isFree: true },
)

/** Puts together what stands in pieces. */
const joining = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ role, text }) =>
      role === "user" && text !== ""
        ? [
            {
              predicate: "says all",
              value: messages
                .map((one) => one.text)
                .join("")
                .replaceAll(filler, ""),
              quote: text.split("\n")[0]!,
            },
          ]
        : [],
    ),
  { name: "joining", isFree: true },
)

interface Place {
  readonly log: Layer.Layer<EventLog.EventLog, EventLog.LogError>
  /** All that the store has, as far as it can be told. */
  readonly bytes: () => Promise<string>
}

const ofRedis = servers()
const ofPostgres = postgresServers()

const stores: Readonly<Record<string, (folder: string) => Promise<Place>>> = {
  "a SQLite file": async (folder) => ({
    log: sqlite({ filename: join(folder, "chats.db") }),
    bytes: async () => bytesOf(folder),
  }),
  "a Redis": async () => {
    const server = await ofRedis.server({ config: ["appendonly yes", "appendfsync always"] })
    return {
      log: redis({ url: server.url, require: "everysec" }),
      bytes: async () => {
        await server.client.save()
        return bytesOf(server.folder)
      },
    }
  },
  "a PostgreSQL": async () => {
    const { url } = await ofPostgres.server({})
    return {
      log: postgres({ url }),
      bytes: async () => {
        const client = new Client({ connectionString: url })
        await client.connect()
        const { rows } = await client.query<{ name: string }>(
          "SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')",
        )
        const all: Array<string> = []
        for (const { name } of rows)
          for (const row of (await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`))
            .rows)
            all.push(row.text)
        await client.end()
        return all.join("\n")
      },
    }
  },
}

const has = (bytes: string, piece: string): boolean =>
  bytes.includes(piece) || bytes.includes(JSON.stringify(JSON.stringify(piece)).slice(3, -3))

it.each(Object.keys(stores))("%s has no half of it", async (name) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.tuple(fc.constantFrom(...Object.keys(places)), fc.constantFrom(...Object.keys(clothes))),
        {
          minLength: 3,
          maxLength: 6,
          selector: ([place, wear]) => `${place} ${wear}`,
        },
      ),
      fc.constantFrom("redact" as const, "deleteOf" as const, "redact, then deleteOf" as const),
      /** What was learned anew before: nothing, or what is open, taken, or dropped. */
      fc.constantFrom("nothing" as const, "open" as const, "taken" as const, "dropped" as const),
      fc.stringMatching(/^[A-Z]{8}-[0-9]{8}$/),
      async (spots, taking, anew, secret) => {
        const folder = mkdtempSync(join(base, "run-"))
        const store = await stores[name]!(folder)
        const [one, other] = [`KNR${secret.slice(0, 8)}`, `${secret.slice(9)}RNK`]
        /** What must be nowhere: each half, as it was written. */
        const pieces = new Set<string>()
        const program = Effect.gen(function* () {
          const log = yield* EventLog.EventLog
          const layers = yield* makeLayers({ extractor })
          const vectors = yield* makeVectors({ filename: join(folder, "vectors.db") })
          const memory = yield* Memory.make({
            strategy: pairs,
            compaction: { mode: "manual" },
            spend: { owner: { tokens: 10_000_000 } },
          }).pipe(
            Effect.provideService(Summarizer.Summarizer, parrot),
            Effect.provideService(MemoryLayers.MemoryLayers, layers),
            Effect.provideService(Embedder.Embedder, Fakes.embedder({ synonyms: [] })),
            Effect.provideService(VectorIndex.VectorIndex, vectors),
          )
          const said: Array<readonly [from: number, to: number]> = []
          for (const [at, [place, wear]] of spots.entries()) {
            const dress: Wear = clothes[wear]!
            const written = [dress(one), dress(other)] as const
            for (const piece of written) pieces.add(piece)
            if (place === "a file and its name") pieces.add(base64(written[1]))
            const { total } = yield* memory
              .messages("chat", { limit: 1 })
              .pipe(Effect.orElseSucceed(() => ({ total: 0 })))
            const messages = places[place]!(...written, `c${at}`)
            yield* memory.append("chat", [...messages, Message.assistant("Noted.")], { owner: "ann" })
            said.push([total, total + messages.length])
            yield* memory.append("chat", [
              Message.user(`And question ${at}?`),
              Message.assistant("It is an answer of some length. ".repeat(60)),
            ])
            yield* memory.compact("chat")
            yield* memory.recall("chat", `it is ${one} ${at}`)
          }
          const broken = () => Promise.reject(new Error(`It said ${one}${other}.`))
          yield* memory.consume("crm", broken, { follow: false, attempts: 1 })
          if (anew !== "nothing") yield* memory.rebuildFacts("ann", { extractor: joining })
          if (anew === "taken") yield* memory.takeFacts("ann")
          if (anew === "dropped") yield* memory.dropFacts("ann")
          const before = yield* Effect.promise(store.bytes)
          expect([...pieces].some((piece) => has(before, piece))).toBe(true)
          if (taking !== "deleteOf")
            for (const [from, to] of said)
              for (let index = from; index < to; index++) yield* memory.redact("chat", index)
          if (taking !== "redact") yield* memory.deleteOf("ann")
          yield* log.finishRewrites?.("chat") ?? Effect.void
        })
        await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(store.log)))
        // A server writes its file anew behind the answer.
        await vi.waitFor(async () => {
          const bytes = (await store.bytes()) + bytesOf(folder)
          const left = [...pieces].filter((piece) => has(bytes, piece))
          expect({ spots, taking, anew, left }).toEqual({ spots, taking, anew, left: [] })
        }, 60_000)
      },
    ),
    { numRuns: name === "a SQLite file" ? often(8, 200) : often(2, 20) },
  )
})
