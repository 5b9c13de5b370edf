/** `memfold store size|vacuum|backup|drop-index`: maintains a SQLite file. */
import { Command } from "@effect/cli"
import type { EventLog } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Console, Effect } from "effect"
import { projectionsOf, sqliteFile } from "@memfold/catalog"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import {
  clean,
  count,
  heading,
  inWords,
  percent,
  progress,
  progressDone,
  several,
  table,
  json as toJson,
  printResult,
} from "../terminal/terminal.js"

/** The file of a `sqlite:` URL. These commands apply to no other store. */
const fileOf = (url: string): Effect.Effect<SqliteEventLog.FileOptions, UsageError> => {
  const file = sqliteFile(url)
  return file === null
    ? new UsageError({ problem: "this command needs a file: --store sqlite:PATH" })
    : Effect.succeed({ filename: file, projectionsOf })
}

type Maintenance = Effect.Effect<void, EventLog.LogError | UsageError>

/** A size in MiB, or in KiB if it is below 0.05 MiB. */
const mebibytes = (bytes: number): string =>
  bytes > 0 && bytes < 0.05 * 2 ** 20
    ? `${(bytes / 2 ** 10).toFixed(1)} KiB`
    : `${(bytes / 2 ** 20).toFixed(1)} MiB`

const amounts = (title: string, list: ReadonlyArray<SqliteEventLog.Amount>): string =>
  table(
    [title, "number", "bytes"],
    list.map(({ name, count: number, bytes }) => [name, count(number), count(bytes)]),
    ["left", "right", "right"],
  )

const size = options.command(
  "size",
  "Show how large the file is and what takes the space.",
  { store: options.store, json: options.json },
  ({ store, json }): Maintenance =>
    Effect.gen(function* () {
      const report = yield* SqliteEventLog.size(yield* fileOf(store))
      const { file, wal, free, sessions, events, summaries, types } = report
      const messages = types.find(({ name }) => name === "MessageAppended")?.count ?? 0
      if (json) return yield* Console.log(toJson({ type: "size", messages, ...report }))
      yield* Console.log(
        `${mebibytes(file)} in the file, ${mebibytes(wal)} in its write-ahead log` +
          (free === 0 ? "" : `; ${mebibytes(free)} are free, and vacuum gives them back`),
      )
      yield* Console.log(
        `${several(sessions, "session")}, ${several(messages, "message")}, ${several(events, "event")}, ${count(summaries)} ${summaries === 1 ? "summary" : "summaries"}` +
          (messages === 0 ? "" : `; ${count(Math.round(file / messages))} bytes for each message`),
      )
      yield* Console.log(heading("What takes the space"))
      yield* Console.log(amounts("table or index", report.tables))
      const named = types.map((type) => ({ ...type, name: inWords(type.name) }))
      yield* Console.log(`\n${amounts("events", named)}`)
    }),
)

const vacuum = options.command(
  "vacuum",
  "Give the file's free space back to the disk. Writers wait meanwhile.",
  { store: options.store, json: options.json },
  ({ store, json }): Maintenance =>
    Effect.gen(function* () {
      const { before, after } = yield* SqliteEventLog.vacuum(yield* fileOf(store))
      const text = `${mebibytes(before)} before, ${mebibytes(after)} now`
      yield* printResult(json, { type: "vacuumed", before, after }, text)
    }),
)

const backup = options.command(
  "backup",
  "Copy the file as it is now, while others keep writing.",
  {
    store: options.store,
    to: options.text("to", "FILE", "The file to create; it must not exist yet."),
    json: options.json,
  },
  ({ store, to, json }): Maintenance =>
    Effect.gen(function* () {
      const file = yield* fileOf(store)
      const { total } = yield* SqliteEventLog.backup({
        ...file,
        to,
        onProgress: (so) =>
          progress(`${percent(so.copied / Math.max(so.total, 1))} of ${mebibytes(so.total)}`),
      })
      progressDone()
      yield* printResult(json, { type: "backup", to, bytes: total }, clean(`${to}: ${mebibytes(total)}`))
    }),
)

const dropIndex = options.command(
  "drop-index",
  "Drop the full-text index of recall. The next search of a session builds its index again.",
  { store: options.store, json: options.json },
  ({ store, json }): Maintenance =>
    Effect.gen(function* () {
      const { sessions } = yield* SqliteEventLog.dropFullTextIndex(yield* fileOf(store))
      const dropped = `dropped the full-text index of ${several(sessions, "session")}`
      const text = `${dropped}; vacuum gives the space back`
      yield* printResult(json, { type: "dropped-index", sessions }, text)
    }),
)

export const command = Command.make("store").pipe(
  Command.withDescription("Maintain a SQLite file."),
  Command.withSubcommands([size, vacuum, backup, dropIndex]),
)
