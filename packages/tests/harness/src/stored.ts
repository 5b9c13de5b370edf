/**
 * What released versions of memfold have stored, in `stored/VERSION`: tests of each store read it for ever, and it never changes.
 *
 * A release whose stored form is another one adds a folder: `MEMFOLD_STORES_VERSION=0.2.0 npm test -- stored` writes the files that
 * are missing.
 */
import { EventLog, Message, Verify } from "@memfold/core"
import { Effect, Stream } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createMemory, Rounds, type PromiseMemory } from "memfold"

const folder = fileURLToPath(new URL("../stored", import.meta.url))
const written = process.env["MEMFOLD_STORES_VERSION"]

/** The versions with stored files. */
export const storedVersions: ReadonlyArray<string> = [
  ...new Set([...readdirSync(folder), ...(written === undefined ? [] : [written])]),
]

/** The path of a stored file. */
export const storedFile = (version: string, name: string): string => join(folder, version, name)

/** Writes a stored file of the version that is written now, if it is missing. Files that are there never change. */
export const writeStored = async (
  version: string,
  name: string,
  content: () => Promise<string | Uint8Array>,
): Promise<void> => {
  const file = storedFile(version, name)
  if (version !== written || existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, await content())
}

type Given = Parameters<typeof createMemory>[0]

/** Opens a memory that compacts only when it is told to. */
const open = (store: Given["store"]): PromiseMemory<"memfold"> =>
  createMemory({
    store,
    format: "memfold",
    strategy: Rounds({ fullContextTurns: 2, cachedContextTurns: 2 }),
    layers: true,
    compaction: { mode: "manual" },
  })

const { assistant, call, result, system, user } = Message

/** A question about an order, the call of a tool, and an answer with signed reasoning. */
const turn = (n: number): ReadonlyArray<Message.Message> => [
  user(`Question ${n}: wo ist Bestellung KX-${4_470 + n}? 订单在哪里？ \ud83d\udce6`),
  call([{ id: `call-${n}`, name: "find_order", arguments: `{"order":"KX-${4_470 + n}"}` }]),
  result({ id: `call-${n}`, output: `{"order":"KX-${4_470 + n}","state":"sent on day ${n}"}` }),
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: `Day ${n} is what was asked for.`, signature: `signed-${n}` },
      { type: "text", text: `Order KX-${4_470 + n} was sent on day ${n}. It weighs ${n}.5 kg.` },
    ],
  },
]

const picture: Message.Message = {
  role: "user",
  parts: [
    { type: "text", text: "What is on this picture?" },
    { type: "file", mediaType: "image/png", uri: "data:image/png;base64,iVBORw0KGgo=" },
  ],
}

/** Fills a store with sessions that have an event of each kind that users cause. */
export const fill = async (store: Given["store"]): Promise<void> => {
  const memory = open(store)
  const turns = async (session: string, from: number, to: number) => {
    for (let n = from; n < to; n++) {
      await memory.append(session, turn(n), n === from ? { owner: "ada", title: `Orders ${session}` } : {})
      if (n % 2 === 1) await memory.compact(session)
    }
  }
  await memory.append("support", system("You answer questions about orders."))
  await turns("support", 0, 8)
  await memory.append("support", [picture, assistant("A box.")], { idempotencyKey: "picture" })
  await memory.append("support", [user("My name is Ada. I live in Zürich."), assistant("Noted.")])
  await memory.compact("support")
  await memory.fork("support", "support, again")
  await turns("edited", 0, 4)
  await memory.edit("edited", 12, user("Where is order KX-9000?"))
  await memory.append("edited", assistant("It was sent today."))
  await memory.regenerate("edited")
  await memory.append("edited", assistant("It was sent yesterday."))
  await turns("redacted", 0, 5)
  await memory.redact("redacted", 4)
  await turns("cleared", 0, 3)
  await memory.clear("cleared")
  await memory.append("cleared", turn(9))
  await turns("taken back", 0, 6)
  await memory.undo("taken back")
  // The index of words is written by searches.
  await memory.recallOf("ada", "KX-4471")
  await memory.close()
}

const all = async <A>(values: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const value of values) found.push(value)
  return found
}

/** What versions after 0.1.0 tell besides, and how well a recalled message fits, which later versions judge otherwise: both are left out. */
const toldSince: ReadonlySet<string> = new Set(["origin", "origins", "rank"])

const withoutToldSince = (key: string, value: unknown): unknown => (toldSince.has(key) ? undefined : value)

/** Everything that a user reads of a store. */
export const readStored = async (store: Given["store"]): Promise<unknown> => {
  const memory = open(store)
  const sessions = []
  for (const info of await all(memory.sessions())) {
    const { session } = info
    sessions.push({
      info,
      messages: await memory.messages(session, { limit: 1_000 }),
      context: await memory.context(session),
      recalled: await memory.recall(session, "Where is order KX-4471?"),
      summaries: await memory.summaries(session),
      branches: await memory.branches(session),
      facts: await memory.facts(session),
    })
  }
  const recalled = await memory.recallOf("ada", "KX-4471")
  await memory.close()
  // As JSON, without what is undefined.
  return JSON.parse(JSON.stringify({ sessions, recalled }, withoutToldSince))
}

/** What was read of a store when its files were written. */
export const expectedOf = (version: string, name: string): unknown =>
  JSON.parse(readFileSync(storedFile(version, `${name}.json`), "utf8"), withoutToldSince)

/** Problems of all sessions of a log, their projection rows included. */
export const problemsOf = (log: EventLog.Service) =>
  Effect.gen(function* () {
    const sessions = [...(yield* Stream.runCollect(EventLog.sessions(log)))]
    return yield* Effect.forEach(sessions, ({ session }) => Verify.session(log, session))
  }).pipe(Effect.map((findings) => findings.flat()))

/** All records of a log. */
export const recordsOf = (log: EventLog.Service) =>
  Effect.gen(function* () {
    const sessions = [...(yield* Stream.runCollect(EventLog.sessions(log)))]
    const all = yield* Effect.forEach(sessions, ({ session }) =>
      Stream.runCollect(EventLog.records(log, session)),
    )
    return all.flatMap((records) => [...records])
  })

/**
 * What a log reads that is open to be read, and why it refuses each kind of write. A store that a newer memfold wrote is opened so: it is
 * read and exported, and takes no writes.
 */
export const readOnly = (log: EventLog.Service) =>
  Effect.gen(function* () {
    const [first] = yield* log.list({ limit: 1 })
    const { session, version } = first!
    const head = { version, batchId: "b" }
    const options = { expectedVersion: 0, batchId: "b" }
    const record = { time: 0, type: "Noted", schemaVersion: 1, data: "{}" }
    const refused = yield* Effect.forEach(
      [
        log.append("new", [record], options),
        log.rewrite(session, [], [record], options),
        log.delete(session, head),
        log.projections.put(session, head, []),
        log.projections.drop("snapshot"),
      ],
      (write) => Effect.flip(write as Effect.Effect<unknown, { readonly reason?: string }>),
    )
    return {
      records: yield* recordsOf(log),
      problems: yield* problemsOf(log),
      refused: refused.map(({ reason }) => reason),
    }
  })
