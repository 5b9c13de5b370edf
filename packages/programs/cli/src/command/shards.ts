/** `memfold shards show|move|rebalance`: the shards of a store over stores. */
import { Args, Command } from "@effect/cli"
import { Audit, EventLog } from "@memfold/core"
import { type Moved, Sharded } from "@memfold/sharded"
import { Console, Effect, Option, Stream } from "effect"
import { clean, count, several, shownId, table, printJson, printResult } from "../terminal/terminal.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { shardsIn } from "./shardsFile.js"

const shardsFile = options.text(
  "shards",
  "FILE",
  'The shards as JSON: {"shards":{"a":"postgres://db-a/chats","b":"postgres://db-b/chats"},"place":"owner"}. Other commands take them as --store sharded:FILE.',
)

const withShards = <E>(path: string, use: (log: Sharded["Type"]) => Effect.Effect<void, E>) =>
  Effect.flatMap(shardsIn("--shards", path), (shards) => Effect.provide(Effect.flatMap(Sharded, use), shards))

const toldMove = (json: boolean) => (moved: Moved) =>
  printResult(
    json,
    { type: "move", ...moved },
    `${shownId(moved.session)}  ${moved.outcome}` +
      (moved.outcome === "moved"
        ? `  ${clean(`${moved.from} to ${moved.to}`)}  ${several(moved.events, "event")}`
        : ""),
  )

/** Notes what was moved, and tells it. */
const noted = (log: EventLog.Service, json: boolean) => (moved: Moved) =>
  Effect.zipRight(
    moved.outcome === "moved" && !EventLog.isReserved(moved.session)
      ? Audit.note(log, { act: "move", session: moved.session, reason: `${moved.from} to ${moved.to}` })
      : Effect.void,
    toldMove(json)(moved),
  )

const show = options.command(
  "show",
  "How many sessions and events each shard has. It reads the place of every session.",
  { shards: shardsFile, json: options.json },
  ({ shards, json }) =>
    withShards(shards, (log) =>
      Effect.gen(function* () {
        const found = new Map(log.shards.map(({ name }) => [name, { sessions: 0, events: 0 }]))
        yield* EventLog.sessions(log).pipe(
          Stream.mapEffect((info) => Effect.map(log.placeOf(info.session), (place) => ({ info, place })), {
            concurrency: 16,
          }),
          Stream.runForEach(({ info, place }) =>
            Effect.sync(() => {
              const sum = found.get(place ?? "")
              if (sum === undefined || EventLog.isReserved(info.session)) return
              sum.sessions++
              sum.events += info.version
            }),
          ),
        )
        const rows = log.shards.map(({ name, region = null }) => ({
          shard: name,
          region,
          ...found.get(name)!,
        }))
        if (json) yield* printJson(rows)
        else
          yield* Console.log(
            table(
              ["shard", "region", "sessions", "events"],
              rows.map((row) => [
                clean(row.shard),
                clean(row.region ?? ""),
                count(row.sessions),
                count(row.events),
              ]),
              ["left", "left", "right", "right"],
            ),
          )
      }),
    ),
)

const move = options.command(
  "move",
  "Move a session, or all of an owner, to a shard, while they are written to.",
  {
    session: Args.optional(Args.text({ name: "SESSION" })),
    shards: shardsFile,
    to: options.text("to", "SHARD", "The shard to move to."),
    owner: options.optionalText("owner", "OWNER", "Move all sessions of this owner."),
    again: options.flag(
      "again",
      "Also to a shard where a move was broken off: say so only when no process is left that has begun one.",
    ),
    json: options.json,
  },
  ({ session, shards, to, owner, again, json }) =>
    withShards(shards, (log): Effect.Effect<void, EventLog.LogError | UsageError> =>
      Option.isSome(session) === Option.isSome(owner)
        ? new UsageError({ problem: "give a session, or --owner" })
        : Option.isSome(session)
          ? Effect.flatMap(log.move(session.value, to, { again }), noted(log, json))
          : Stream.runForEach(
              Stream.mapEffect(EventLog.sessions(log, Option.getOrThrow(owner)), (info) =>
                log.move(info.session, to, { again }),
              ),
              noted(log, json),
            ),
    ),
)

const rebalance = options.command(
  "rebalance",
  "Move each session to the shard that it would begin on now: after a shard was added, or before one that is leaving is taken out. All processes have to know of it by then.",
  { shards: shardsFile, json: options.json },
  ({ shards, json }) => withShards(shards, (log) => Stream.runForEach(log.rebalance, noted(log, json))),
)

export const command = Command.make("shards").pipe(
  Command.withDescription("Show the shards of a store over stores, and move sessions between them."),
  Command.withSubcommands([show, move, rebalance]),
)
