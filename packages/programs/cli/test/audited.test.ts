/** Each command of the program: the entry that it leaves of whoever runs it, or why it leaves none. */
import { sample } from "@memfold/harness/program"
import { withDriver } from "@memfold/harness/sqlite"
import { createMemory } from "memfold"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { layer as sqlite } from "@memfold/store-sqlite"
import { withArchive } from "@memfold/archive"
import { sharded } from "@memfold/sharded"
import { commands } from "../src/command/table.js"
import { call, usagesOf } from "../src/program.js"

/** What a call is made with: a folder with a store, the URL of the store, and the id of a fact in it. */
interface Place {
  readonly folder: string
  readonly store: string
  readonly fact: string
}

type Args = ReadonlyArray<string>

type Entries = ReadonlyArray<readonly [args: Args, act: string, subject?: string]>

/** A command that does something to what is kept: calls, each with the entry that it leaves. */
interface Noted {
  readonly notes: (place: Place) => Entries | Promise<Entries>
  /** Calls of it that leave the log as it was. */
  readonly calls?: (place: Place) => ReadonlyArray<Args>
}

/** A command without an entry, and calls that leave the log as it was. */
interface Unnoted {
  readonly none: string
  readonly calls?: (place: Place) => ReadonlyArray<Args>
}

/** The command line has no `audit: { reads: true }`: its user has the file or the password of the store, and can do without it. */
const looks = "it reads, and whoever can run it can read the store without it"
const noStore = "it opens no store"
const elsewhere = "its program has an audit of its own: of the service and the proxy, --audit"

const looking = (...more: Args): Unnoted => ({
  none: looks,
  calls: ({ store }) => [[...more, "--store", store]],
})

const shardsFile = (folder: string) => join(folder, "shards.json")

/** The shards of a file. */
const shardsIn = (folder: string) =>
  sharded(JSON.parse(readFileSync(shardsFile(folder), "utf8")) as Parameters<typeof sharded>[0])

/** A file of two shards with sessions of ann, to which a third shard was added. */
const withShards = async ({ folder, store }: Place): Promise<string> => {
  const write = (...names: ReadonlyArray<string>) => {
    const added = names.map((name) => [name, `sqlite:${join(folder, `${name}.db`)}`])
    writeFileSync(shardsFile(folder), JSON.stringify({ shards: { a: store, ...Object.fromEntries(added) } }))
  }
  write("b")
  await using memory = createMemory({ store: shardsIn(folder) })
  for (let at = 0; at < 12; at++)
    await memory.append(`shard-${at}`, { role: "user", content: "Hi." }, { owner: "ann" })
  write("b", "c")
  return shardsFile(folder)
}

const table: Readonly<Record<string, Noted | Unnoted>> = {
  tour: { none: noStore },
  lab: { none: noStore },
  replay: {
    notes: ({ store }) => [
      [["replay", sample("support-zh.jsonl"), "--store", store, "--session", "new"], "append user", "new"],
    ],
  },
  sessions: looking("sessions"),
  context: looking("context", "chat"),
  events: looking("events", "chat"),
  feed: looking("feed"),
  summaries: looking("summaries", "chat"),
  recall: looking("recall", "Graz", "--session", "chat"),
  trace: looking("trace", "chat", "--text", "Ada lives in Graz."),
  spend: looking("spend"),
  studio: { none: looks },
  serve: { none: elsewhere },
  wrap: { none: elsewhere },
  token: { none: noStore },
  worker: { none: "it does what a queue says, for nobody: the summaries name their summarizer" },
  "dead-letters": { none: noStore },
  compact: {
    notes: ({ store }) => [
      [
        ["compact", "chat", "--store", store, "--strategy", "rolling-buffer", "--set", "bufferSize=4"],
        "summary",
      ],
    ],
  },
  import: {
    notes: ({ store }) => [
      [
        ["import", "--from", "transcript", sample("support-zh.jsonl"), "--store", store, "--session", "new"],
        "append user",
        "new",
      ],
    ],
  },
  export: {
    notes: ({ store }) => [
      [["export", "--session", "chat", "--reason", "asked for", "--store", store], "export"],
    ],
  },
  copy: {
    notes: ({ store, folder }) =>
      [["--session", "chat"], []].map((named, at) => [
        ["copy", ...named, "--reason", "moved", "--from", store, "--to", `sqlite:${folder}/copy-${at}.db`],
        "export",
      ]),
    calls: ({ store, folder }) => [["copy", "--from", store, "--to", `sqlite:${folder}/copy.db`]],
  },
  archive: {
    notes: ({ store, folder }) => [
      [
        ["archive", "--store", store, "--idle", "90 days", "--to", `${folder}/cold`, "--run"],
        "archive",
        "old",
      ],
      [
        [
          "archive",
          "--store",
          store,
          "--segments",
          "--keep-versions",
          "20",
          "--to",
          `${folder}/parts`,
          "--run",
        ],
        "archive",
        "long",
      ],
    ],
  },
  restore: {
    notes: ({ store, folder }) => [
      [
        ["archive", "--store", store, "--idle", "90 days", "--to", `${folder}/cold`, "--run"],
        "archive",
        "old",
      ],
      [["restore", "old", "--store", store, "--from", `${folder}/cold`], "restore", "old"],
    ],
  },
  "shards show": { none: looks },
  "shards move": {
    notes: async (place) => {
      const shards = await withShards(place)
      return [
        [["shards", "move", "shard-0", "--to", "c", "--shards", shards], "move", "shard-0"],
        [["shards", "move", "--owner", "ann", "--to", "c", "--shards", shards], "move", "shard-1"],
      ]
    },
  },
  "shards rebalance": {
    notes: async (place) => [[["shards", "rebalance", "--shards", await withShards(place)], "move"]],
  },
  audit: looking("audit", "chat"),
  doctor: looking("doctor"),
  facts: {
    notes: ({ store, fact }) => [
      [["facts", "audit", "chat", "--right", fact, "--store", store], "confirm-fact"],
      [["facts", "audit", "chat", "--wrong", fact, "--store", store], "retract-fact"],
      [["facts", "rebuild", "--owner", "ann", "--store", store], "rebuild-facts"],
      [["facts", "take", "--owner", "ann", "--store", store], "take-facts"],
      [["facts", "rebuild", "--owner", "ann", "--store", store], "rebuild-facts"],
      [["facts", "drop", "--owner", "ann", "--store", store], "drop-facts"],
    ],
  },
  hold: {
    notes: ({ store }) => [
      [["hold", "chat", "--reason", "case 17", "--store", store], "hold"],
      [["hold", "chat", "--end", "--store", store], "release"],
    ],
  },
  erase: {
    notes: ({ store }) => [
      [["erase", "--owner", "ann", "--reason", "asked for", "--store", store], "erase"],
      [["erase", "--owner", "ann", "--take-back", "--store", store], "restore"],
    ],
  },
  verify: looking("verify"),
  repair: {
    notes: ({ store, folder }) => {
      withDriver(fileIn(folder), (driver) =>
        driver.exec(
          "UPDATE events SET data = '{' WHERE version = 2 AND session = (SELECT id FROM sessions WHERE name = 'chat')",
        ),
      )
      return [[["repair", "--store", store], "set-aside"]]
    },
  },
  "store size": looking("store", "size"),
  "store vacuum": looking("store", "vacuum"),
  "store drop-index": looking("store", "drop-index"),
  "store backup": {
    none: "it copies the file, as whoever can read it can",
    calls: ({ store, folder }) => [["store", "backup", "--store", store, "--to", `${folder}/backup.db`]],
  },
}

const root = mkdtempSync(join(tmpdir(), "memfold-audited-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const user = { id: userInfo().username, via: "memfold" }

const fileIn = (folder: string) => join(folder, "chats.db")

/** What is held and erased needs keys. */
const storeIn = (folder: string, isSealed: boolean) =>
  `${isSealed ? `sealed:${join(folder, "keys")},` : ""}sqlite:${fileIn(folder)}`

const recordsOf = (folder: string) =>
  withDriver(fileIn(folder), (driver) => driver.prepare("SELECT * FROM events ORDER BY rowid").all())

/** Makes a store, and answers with the id of a fact in it. */
const made = async (isSealed: boolean) => {
  const folder = join(root, `${isSealed}`)
  mkdirSync(folder)
  await using memory = createMemory({
    store: storeIn(folder, isSealed),
    layers: true,
    compaction: { mode: "inline" },
  })
  const web = memory.as({ id: "ann", via: "web" })
  const said = Array.from({ length: 12 }, (_, at) => [
    { role: "user" as const, content: `Hi, I'm Ada. I live in Graz. It is my message ${at}.` },
    { role: "assistant" as const, content: "Noted." },
  ]).flat()
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2024-03-01") })
  await web.append("old", said, { owner: "ann" })
  vi.useRealTimers()
  await web.append("chat", said, { owner: "ann" })
  for (let batch = 0; batch < 25; batch++) await web.append("long", said, { owner: "ann" })
  return (await memory.facts("chat"))[0]!.id
}

const facts = new Map<boolean, string>()
beforeAll(async () => {
  for (const isSealed of [false, true]) facts.set(isSealed, await made(isSealed))
})

/** A copy of the store, for the calls of one command. */
const placeOf = (name: string): Place => {
  const isSealed = ["hold", "erase"].includes(name)
  const folder = join(root, name.replaceAll(" ", "-"))
  cpSync(join(root, `${isSealed}`), folder, { recursive: true })
  return { folder, store: storeIn(folder, isSealed), fact: facts.get(isSealed)! }
}

const ran = async (args: Args) => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true)
  const err = vi.spyOn(process.stderr, "write").mockReturnValue(true)
  const printed = (["log", "error"] as const).map((to) => vi.spyOn(console, to).mockReturnValue())
  try {
    const code = await call(args).exitCode
    return { code, err: err.mock.calls.map(([text]) => String(text)).join("") }
  } finally {
    for (const spied of [written, err, ...printed]) spied.mockRestore()
  }
}

/** How often the audit names the user of the process with an act. */
const toldIn = async ({ store, folder }: Place, act: string, subject: string) => {
  const parts = join(folder, "parts")
  await using memory = createMemory({
    layers: true,
    store: existsSync(shardsFile(folder))
      ? shardsIn(folder)
      : existsSync(parts)
        ? withArchive(sqlite({ filename: fileIn(folder) }), parts)
        : store,
  })
  const reports = [await memory.audit(subject), await memory.auditOf("ann")]
  return reports
    .flatMap(({ entries }) => entries)
    .filter(
      ({ actor, ...one }) =>
        actor?.id === user.id &&
        actor.via === user.via &&
        [one.act, one.kind].filter(Boolean).join(" ") === act,
    ).length
}

/** The commands, and those within them, as the program has them. */
const names = (
  await Promise.all(
    [...commands].map(async ([name, { load }]) =>
      [...usagesOf(await load()).keys()].map((inner) => (inner === name ? name : `${name} ${inner}`)),
    ),
  )
).flat()

it("the table has each command of the program", () => {
  expect(Object.keys(table).toSorted()).toEqual(names.toSorted())
})

it.each(Object.entries(table).flatMap(([name, row]) => ("notes" in row ? [[name, row] as const] : [])))(
  "memfold %s leaves an entry of whoever runs it",
  async (name, { notes }) => {
    const place = placeOf(name)
    for (const [args, act, subject = "chat"] of await notes(place)) {
      const before = await toldIn(place, act, subject)
      expect([args, await ran(args)]).toEqual([args, { code: 0, err: "" }])
      expect([args, await toldIn(place, act, subject)]).not.toEqual([args, before])
    }
  },
)

it.each(
  Object.entries(table).flatMap(([name, row]) =>
    "calls" in row && row.calls !== undefined ? [[name, row.calls] as const] : [],
  ),
)("memfold %s leaves the log as it was", async (name, calls) => {
  const place = placeOf(`${name} alone`)
  const before = recordsOf(place.folder)
  for (const args of calls(place)) {
    const { code, err } = await ran(args)
    // What doctor finds is not asked for here.
    expect([args, name === "doctor" ? 0 : code, err]).toEqual([args, 0, ""])
  }
  expect(recordsOf(place.folder)).toEqual(before)
})
