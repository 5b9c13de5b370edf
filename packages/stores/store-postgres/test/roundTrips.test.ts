/** How often a memory asks the server when it goes on with a session that its process has not seen: statements are counted as they are sent. */
import { EventLog, Memory, Message, Summarizer } from "@memfold/core"
import { pairs } from "@memfold/harness/engine"
import { postgresServers } from "@memfold/harness/postgresServers"
import { Effect } from "effect"
import { Pool } from "pg"
import { expect, it } from "vitest"
import { newSchema, withLog } from "./support.js"

const { server } = postgresServers()
const repeating: Summarizer.Service = { name: "one", summarize: () => Effect.succeed({ text: "so far" }) }
const turn = [Message.user("a question"), Message.assistant("an answer")]

/** A memory over a log that nothing has been read from. */
const opened = <A>(
  options: Parameters<typeof withLog>[0],
  use: (memory: Memory.Service, log: EventLog.Service) => Effect.Effect<A, unknown>,
) =>
  withLog(options, (log) =>
    Effect.flatMap(Memory.make({ strategy: pairs, compaction: { mode: "manual" } }), (memory) =>
      use(memory, log),
    ).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, repeating),
    ),
  )

/** A pool of one connection, and the statements that it sends. */
const counting = (url: string) => {
  const pool = new Pool({ connectionString: url, max: 1 })
  pool.on("error", () => {})
  const sent: Array<string> = []
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...given: ReadonlyArray<unknown>) => unknown
    Object.assign(client, {
      query: (...given: ReadonlyArray<unknown>) => {
        sent.push(
          JSON.stringify(given[0])
            .replace(/\\n|\s+/g, " ")
            .slice(0, 200),
        )
        return query(...given)
      },
    })
  })
  return { pool, sent }
}

it("the first append of a process to a session is two statements, and a context behind it is one", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const schema = newSchema()
  await opened({ url, schema }, (memory, log) =>
    Effect.gen(function* () {
      for (const session of ["short", "summarized", "behind"])
        for (let at = 0; at < 3; at++) yield* memory.append(session, turn)
      for (const session of ["summarized", "behind"]) yield* memory.compact(session, { which: "due" })
      expect(yield* log.projections.get("summarized", "snapshot")).toHaveLength(1)
      for (let at = 0; at < 5; at++) yield* memory.append("behind", turn)
    }),
  )
  const { pool, sent } = counting(url)
  try {
    await opened({ pool, schema }, (memory) =>
      Effect.gen(function* () {
        // The process knows the types of events by now.
        yield* memory.append("another", turn)
        for (const [session, messages] of [
          ["new", 2],
          ["short", 8],
          ["summarized", 8],
          ["behind", 18],
        ] as const) {
          sent.splice(0)
          expect((yield* memory.append(session, turn)).to).toBe(messages)
          expect([session, sent.length]).toEqual([session, 2])
          sent.splice(0)
          yield* memory.context(session)
          expect([session, sent.length]).toEqual([session, 1])
        }
      }),
    )
  } finally {
    await pool.end()
  }
})

it("sessions that are opened at once are opened together, and so their heads are read", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const schema = newSchema()
  const sessions = Array.from({ length: 100 }, (_, at) => `chat-${at}`)
  const each = (use: (session: string) => Effect.Effect<unknown, unknown>) =>
    Effect.forEach(sessions, use, { concurrency: "unbounded", discard: true })
  await opened({ url, schema }, (memory) => each((session) => memory.append(session, turn)))
  const { pool, sent } = counting(url)
  try {
    await opened({ pool, schema }, (memory, log) =>
      Effect.gen(function* () {
        yield* memory.append("another", turn)
        sent.splice(0)
        yield* each((session) => memory.append(session, turn))
        expect(sent.length).toBeLessThan(sessions.length / 2)
        sent.splice(0)
        yield* each((session) => Effect.map(log.head(session), (head) => expect(head?.version).toBe(4)))
        expect(sent.length).toBeLessThanOrEqual(Math.ceil(sessions.length / 16) + 1)
        expect(yield* log.head("nobody")).toBeNull()
        for (const session of sessions) expect((yield* memory.state(session)).total).toBe(4)
      }),
    )
  } finally {
    await pool.end()
  }
})

it("a session whose name the database refuses fails alone", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const sessions = ["chat-1", "nul-\0", "chat-2"]
  await opened({ url, schema: newSchema() }, (memory, log) =>
    Effect.gen(function* () {
      yield* memory.append("chat-1", turn)
      const heads = yield* Effect.forEach(sessions, (session) => Effect.either(log.head(session)), {
        concurrency: "unbounded",
      })
      expect(heads.map(({ _tag }) => _tag)).toEqual(["Right", "Left", "Right"])
      expect(heads[1]).toMatchObject({ left: { operation: "head", session: "nul-\0" } })
    }),
  )
})
