/** Sets up the log of a memory by its `logger` option. */
import { Effect, FiberRef, HashMap, HashSet, Logger, LogLevel } from "effect"

/** How important a log line is. */
export type Level = "error" | "warning" | "info" | "debug"

/** One line of the log. It contains no text of a conversation. */
export interface LogEntry {
  readonly level: Level
  readonly message: string
  /** Milliseconds since the epoch. */
  readonly time: number
  /** Further data, such as `session` and `why`. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Where the log goes: lines of this level and above to standard error, or each entry to a function.
 *
 * @example
 * ```ts
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "memory:",
 *   logger: ({ level, message, data }) => console.error(level, message, data),
 * })
 * await memory.close()
 * ```
 */
export type GivenLogger = Level | ((entry: LogEntry) => void)

/** Effect's log levels. Trace counts as debug, and fatal as error. */
const levels: Readonly<Record<Level, LogLevel.LogLevel>> = {
  error: LogLevel.Error,
  warning: LogLevel.Warning,
  info: LogLevel.Info,
  debug: LogLevel.Debug,
}

/** Whether a value is a level or a function. */
export const isLogger = (given: unknown): boolean =>
  typeof given === "function" || (typeof given === "string" && Object.hasOwn(levels, given))

const levelOf = (level: LogLevel.LogLevel): Level =>
  (["error", "warning", "info"] as const).find((name) => LogLevel.greaterThanEqual(level, levels[name])) ??
  "debug"

const calling = (listener: (entry: LogEntry) => void) =>
  Logger.make(({ annotations, date, logLevel, message }) => {
    try {
      listener({
        level: levelOf(logLevel),
        message: (Array.isArray(message) ? message : [message]).map(String).join(" "),
        time: date.getTime(),
        data: Object.fromEntries(HashMap.toEntries(annotations)),
      })
    } catch {
      // A logger that throws must not change how the memory works.
    }
  })

/** Sends logs of the running fiber, and of its children, to the given logger. Without a logger, errors are printed. */
export const logTo = (given: GivenLogger = "error"): Effect.Effect<void> => {
  const silent = FiberRef.update(FiberRef.currentLoggers, HashSet.remove(Logger.defaultLogger))
  const [logger, level] =
    typeof given === "string"
      ? [Logger.withConsoleError(Logger.logfmtLogger), levels[given]]
      : [calling(given), LogLevel.Debug]
  return Effect.all(
    [
      silent,
      FiberRef.update(FiberRef.currentLoggers, HashSet.add<Logger.Logger<unknown, unknown>>(logger)),
      FiberRef.set(FiberRef.currentMinimumLogLevel, level),
    ],
    { discard: true },
  )
}
