/** The commands that read a store: `memfold sessions`, `events`, `context`. */
import { Args, Options } from "@effect/cli"
import { readToEnd, sourceOf } from "@memfold/archive"
import { EventLog, Memory, type Session, type Strategy } from "@memfold/core"
import { layer as memoryLayers, scopeHome, userHome } from "@memfold/layers"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Console, Effect, Layer, Option, Stream } from "effect"
import { contextLines, layoutTable } from "./contextView.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { type UnknownName, withoutSecrets } from "@memfold/catalog"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { contextFormats, contextRecord, eventRecord, payload } from "./records.js"
import {
  clean,
  color,
  columns,
  count,
  date,
  heading,
  inWords,
  oneLine,
  several,
  shownId,
  table,
  json as toJson,
  printLines,
} from "../terminal/terminal.js"

const session = Args.text({ name: "SESSION" })

export const sessions = options.command(
  "sessions",
  "List the sessions of a store.",
  {
    store: options.store,
    owner: options.owner("Only the sessions of this owner, the newest activity first."),
    json: options.json,
  },
  ({ store, owner, json }) =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const found = EventLog.sessions(log, Option.getOrUndefined(owner))
      if (json) {
        return yield* Stream.runForEach(found, ({ createdTime: createdAt, updatedTime, ...info }) =>
          Console.log(
            toJson({
              type: "session",
              ...info,
              createdTime: new Date(createdAt).toISOString(),
              updatedTime: new Date(updatedTime).toISOString(),
            }),
          ),
        )
      }
      const all = [...(yield* Stream.runCollect(found))]
      if (all.length === 0) {
        const whose = Option.match(owner, { onNone: () => "", onSome: (name) => ` of "${name}"` })
        return yield* Console.log(clean(`${withoutSecrets(store)} has no sessions${whose}`))
      }
      // Columns that nobody uses would only take room.
      const described = all.some((info) => info.owner !== undefined || info.title !== undefined)
      yield* Console.log(
        table(
          ["session", "events", "first", "last", ...(described ? ["owner", "title"] : [])],
          all.map((info) => [
            shownId(info.session),
            count(info.version),
            date(info.createdTime),
            date(info.updatedTime),
            ...(described ? [shownId(info.owner ?? ""), oneLine(info.title ?? "", 60)] : []),
          ]),
          ["left", "right"],
        ),
      )
    }).pipe(Effect.provide(options.existingStore({ store }))),
)

export const events = options.command(
  "events",
  "Print the log of a session, one event per line.",
  { session, ...options.stored, json: options.json },
  ({ session, store, archive, json }) =>
    Effect.gen(function* () {
      yield* options.requireSession(session, store)
      const log = yield* EventLog.EventLog
      yield* Stream.runForEach(readToEnd(sourceOf(log), session), (record) =>
        Console.log(
          json
            ? toJson(eventRecord(record))
            : `${String(record.version).padStart(6)}  ${color.dim(date(record.time))}  ${inWords(shownId(record.type)).padEnd(19)}  ` +
                color.dim(oneLine(record.data, columns() - 50)),
        ),
      )
    }).pipe(Effect.provide(options.existingStore({ store, archive }))),
)

/** The user and the scope whose facts the session shares with other sessions. */
interface Shared {
  readonly user: Option.Option<string>
  readonly scope: Option.Option<string>
}

/**
 * The log has everything that a context needs, its wording and the facts learned from it included, except the strategy's cap
 * on uncovered messages, and whose facts the session shares. The cap applies if the strategy is named.
 */
const styleOf = ({
  strategy,
  user,
  scope,
  ...given
}: Shared & options.StrategySettings & { readonly strategy: Option.Option<string> }): Effect.Effect<
  Layer.Layer<Memory.Memory, never, EventLog.EventLog>,
  UsageError | UnknownName | Strategy.SettingsError
> =>
  Effect.gen(function* () {
    const uncapped = SlidingWindow({ contextSize: Number.MAX_SAFE_INTEGER })
    if (Option.isNone(strategy) && (given.set.length > 0 || Option.isSome(given.settings))) {
      return yield* new UsageError({ problem: "--set and --settings need --strategy NAME" })
    }
    const chosen = Option.isNone(strategy) ? uncapped : yield* options.chosenStrategy(strategy.value, given)
    return Memory.layer({ strategy: chosen, compaction: { mode: "manual" } }).pipe(
      Layer.provide([
        ExtractiveSummarizer.layer(),
        memoryLayers({
          ...(Option.isSome(user) ? { userOf: () => user.value } : {}),
          scopeOf: () => Option.getOrUndefined(scope),
        }),
      ]),
    )
  })

/** Why a context has what a summary stood for word for word. */
const damagedSummary = ({ version }: Session.SessionState["damaged"][number]): string =>
  `the summary of event ${version} is damaged where it is stored; what it stood for is in the context word for word, and "memfold repair" lets it be made anew`

/** What a context leaves out of the facts that memory layers have learned: shared logs do not say whose sessions share them. */
const leftOut = (
  log: EventLog.Service,
  { learnedTo, facts }: Session.SessionState,
  shared: Shared,
): Effect.Effect<ReadonlyArray<string>, EventLog.LogError> =>
  Effect.gen(function* () {
    const notes: Array<string> = []
    for (const [layer, homeOf] of [["user", userHome] as const, ["scope", scopeHome] as const]) {
      const name = Option.getOrNull(shared[layer])
      const isUnnamed = name === null && learnedTo > 0 && !facts.some((fact) => fact.layer === layer)
      if (isUnnamed)
        notes.push(
          `facts about the ${layer} that other sessions share are left out; name it with --${layer} ID`,
        )
      if (name !== null && (yield* EventLog.versionOf(log, homeOf(name))) === 0)
        notes.push(`the store has no facts about the ${layer} ${shownId(name)}`)
    }
    return notes
  })

export const context = options.command(
  "context",
  "Show what the model gets now, or what it got at an earlier event, without messages that a request recalls.",
  {
    session,
    ...options.stored,
    time: options.optionalInteger("at", "VERSION", "The context as it was at this version of the session."),
    format: options.optionalChoice(
      "format",
      contextFormats,
      "Print the messages as this provider takes them.",
    ),
    user: options.optionalText(
      "user",
      "ID",
      "The user of the session, for the facts about the user (userOf).",
    ),
    scope: options.optionalText(
      "scope",
      "ID",
      "The scope of the session, for the facts about the scope (scopeOf).",
    ),
    strategy: options.strategy.pipe(Options.optional),
    ...options.strategySettings,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      yield* options.requireSession(given.session, given.store)
      const memory = yield* Memory.Memory
      const at = Option.getOrUndefined(given.time)
      const log = yield* EventLog.EventLog
      const newest = yield* EventLog.versionOf(log, given.session)
      if (at !== undefined && (at < 1 || at > newest)) {
        return yield* new UsageError({
          problem: `--at ${at}: session "${given.session}" has events 1 to ${newest}`,
        })
      }
      const context = yield* memory.context(given.session, at === undefined ? {} : { atVersion: at })
      const state = yield* memory.state(given.session, at === undefined ? {} : { atVersion: at })
      yield* Effect.forEach(
        [...state.damaged.map(damagedSummary), ...(yield* leftOut(log, state, given))],
        (note) => Console.error(clean(`memfold: ${note}`)),
        {
          discard: true,
        },
      )
      const format = Option.getOrElse(given.format, () => "openai" as const)
      if (given.json) return yield* Console.log(toJson(contextRecord(format, context)))
      if (Option.isSome(given.format)) return yield* Console.log(toJson(payload(format, context), 2))
      yield* Console.log(heading(`Session "${given.session}"${at === undefined ? "" : ` at event ${at}`}`))
      yield* Console.log(layoutTable(context))
      yield* printLines(["", ...contextLines(context)])
      yield* Console.log(color.dim(`\n${several(context.messages.length, "message")} for the model`))
    }).pipe(
      Effect.provide(
        Layer.unwrapEffect(styleOf(given)).pipe(Layer.provideMerge(options.existingStore(given))),
      ),
    ),
)
