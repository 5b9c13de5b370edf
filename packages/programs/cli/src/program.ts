/**
 * The command line without its process: what `main.ts` starts with the arguments of its process. Standard output carries
 * only the result; an error is one line on standard error.
 *
 * Exit codes: 0 success, 1 a check has findings, 2 the call or its input was wrong, 70 a bug in memfold.
 */
import { Command, CommandDescriptor, HelpDoc, Usage, ValidationError } from "@effect/cli"
// The index of the package also loads servers, sockets and clusters, which doubles the start time.
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Audit, OptionGroup } from "@memfold/core"
import { Cause, Effect, Exit, Fiber, FiberId, Logger, LogLevel } from "effect"
import { userInfo } from "node:os"
import { stripVTControlCharacters } from "node:util"
import { Ended, Findings, UsageError } from "./command/failure.js"
import { type AnyCommand, commands, groups } from "./command/table.js"
import { version } from "./installation.js"
import { separated } from "./terminal/arguments.js"
import { exampleOf, overview, readableHelp } from "./terminal/help.js"
import { clean, colorsWhereSeen, columns } from "./terminal/terminal.js"
import { everywhere, wrongCall } from "./terminal/wrongCall.js"

/** Whether a topic of the help is a group; a command may have its name. */
const isGroup = (topic: string): boolean => Object.hasOwn(groups, topic) && !commands.has(topic)

/** `memfold help TOPIC` is the help of a command, of the commands of a group, or of all. */
const withoutHelp = ([word, topic, ...rest]: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (word !== "help") return [word, topic, ...rest].filter((one) => one !== undefined)
  return topic === undefined || topic === "all" || isGroup(topic) ? ["--help"] : [topic, ...rest, "--help"]
}

/** The commands that a call is about: the one that it names, those of the group that it asks for, or all. */
const namesFor = (typed: ReadonlyArray<string>, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [, topic] = typed
  if (typed[0] === "help" && topic !== undefined && isGroup(topic))
    return Object.keys(groups[topic]!.commands)
  const named = args.find((arg) => commands.has(arg))
  return named === undefined || args.includes("--completions") ? [...commands.keys()] : [named]
}

const inWords = (usage: Usage.Usage): string =>
  stripVTControlCharacters(HelpDoc.toAnsiText(Usage.getHelp(usage)))

/** The usage of a command, as the parser says it, and of each command within it. */
export const usagesOf = (command: AnyCommand): ReadonlyMap<string, string> =>
  new Map(
    [...Command.getSubcommands(command)].map(([name, within]) => [
      name,
      inWords(CommandDescriptor.getUsage(within)),
    ]),
  )

/**
 * Fails for a word that is no command, no option or one too many, before the parser says so in other words.
 *
 * @param isTopic - whether help is asked for, which groups of commands have, too
 */
const checked = (args: ReadonlyArray<string>, isTopic: boolean): Effect.Effect<void, UsageError> =>
  Effect.gen(function* () {
    const at = args.findIndex((arg) => !arg.startsWith("-"))
    const word = args[at]
    if (word === undefined || args[at - 1] === "--log-level" || args[at - 1] === "--completions") return
    const noCommand = (typed: string, of: string, names: Iterable<string>) => {
      const guess = OptionGroup.didYouMean(OptionGroup.closest(typed, names))
      const problem = `there is no command "${typed}"; ${guess}${of} --help lists the commands`
      return new UsageError({ problem })
    }
    const listed = commands.get(word)
    if (listed === undefined)
      return yield* noCommand(word, "memfold", [...commands.keys(), ...(isTopic ? Object.keys(groups) : [])])
    const usages = usagesOf(yield* Effect.promise(listed.load))
    let full = `memfold ${word}`
    let rest = args.slice(at + 1)
    // A command without others within is listed as its own.
    let usage = usages.get(word)
    if (usage === undefined) {
      const [inner] = rest
      // Its help.
      if (inner === undefined || everywhere.has(inner)) return
      usage = usages.get(inner)
      if (usage === undefined) return yield* noCommand(inner, full, usages.keys())
      full = `${full} ${inner}`
      rest = rest.slice(1)
    }
    const problem = wrongCall(full, rest, usage, exampleOf(full))
    if (problem !== undefined) return yield* new UsageError({ problem })
  })

const programOf = (names: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const [one, ...others] = await Promise.all(names.map((name) => commands.get(name)!.load()))
    return Command.make("memfold").pipe(
      Command.withDescription("Event-sourced conversation memory for LLM applications."),
      Command.withSubcommands([one!, ...others]),
    )
  })

/** Who calls the program, as the audit names it: the user of the process, who may have no name. */
const user = (): Audit.Actor => {
  try {
    return { id: userInfo().username, via: "memfold" }
  } catch {
    return { id: `user ${process.getuid?.() ?? "unknown"}`, via: "memfold" }
  }
}

export interface Call {
  /** Its exit code, once it has ended; `null` if it was interrupted. What went wrong is on standard error by then. */
  readonly exitCode: Promise<number | null>
  /** Ends it; what it holds is released first. */
  readonly interrupt: () => void
}

/** Calls the program with the arguments that stand behind its name. */
export const call = (typed: ReadonlyArray<string>): Call => {
  const args = withoutHelp(separated(typed))
  const isOverview = args.length === 0 || (args.length === 1 && ["--help", "-h"].includes(args[0]!))
  const started =
    isOverview && (typed[0] !== "help" || typed[1] === undefined)
      ? Effect.sync(() => process.stdout.write(`${overview(columns())}\n`))
      : checked(args, typed[0] === "help").pipe(
          Effect.zipRight(programOf(namesFor(typed, args))),
          Effect.flatMap((memfold) =>
            Command.run(memfold, { name: "memfold", version })(["node", "memfold", ...args]),
          ),
        )
  const running = Effect.runFork(
    started.pipe(
      Audit.as(user()),
      Effect.provide(NodeContext.layer),
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
      Logger.withMinimumLogLevel(LogLevel.Error),
      (command) => readableHelp(command, args),
      colorsWhereSeen,
    ),
  )
  let interrupted = false
  return {
    exitCode: Effect.runPromise(Fiber.await(running)).then((exit) => {
      if (interrupted) return null
      return Exit.isSuccess(exit) ? 0 : report(exit.cause)
    }),
    interrupt: () => {
      interrupted = true
      running.unsafeInterruptAsFork(FiberId.none)
    },
  }
}

/** Says what went wrong, and returns the exit code for it. */
const report = (cause: Cause.Cause<unknown>): number => {
  const error = Cause.squash(cause)
  // The parser has printed the error already.
  if (ValidationError.isValidationError(error)) return 2
  if (error instanceof Findings) return 1
  if (error instanceof Ended) return error.code
  if (Cause.isFailure(cause) && error instanceof Error) {
    process.stderr.write(`memfold: ${clean(error.message)}\n`)
    return 2
  }
  const trace = Cause.pretty(cause).split("\n").map(clean).join("\n")
  process.stderr.write(`memfold: this is a bug in memfold, please report it\n${trace}\n`)
  return 70
}
