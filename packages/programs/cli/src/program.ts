/**
 * The command line without its process: what `main.ts` starts with the arguments of its process. Standard output carries
 * only the result; an error is one line on standard error.
 *
 * Exit codes: 0 success, 1 a check has findings, 2 the call or its input was wrong, 70 a bug in memfold.
 */
import { Command, ValidationError } from "@effect/cli"
// The index of the package also loads servers, sockets and clusters, which doubles the start time.
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Effect, Exit, Fiber, FiberId, Logger, LogLevel } from "effect"
import * as Archive from "./command/archive.js"
import * as Compact from "./command/compact.js"
import { copy, exportCommand } from "./command/copy.js"
import { Ended, Findings } from "./command/failure.js"
import { separated } from "./terminal/arguments.js"
import { readableHelp } from "./terminal/help.js"
import * as Import from "./command/import.js"
import { version } from "./installation.js"
import * as Lab from "./lab/command.js"
import { deadLetters } from "./command/queue.js"
import { context, events, sessions } from "./command/look.js"
import * as Recall from "./command/recall.js"
import * as Serve from "./command/serve.js"
import * as Repair from "./command/repair.js"
import * as Replay from "./command/replay.js"
import * as Spend from "./command/spend.js"
import * as StoreFile from "./command/storeFile.js"
import * as Studio from "./command/studio.js"
import * as Summaries from "./command/summaries.js"
import { clean, colorsWhereSeen } from "./terminal/terminal.js"
import * as Trace from "./command/trace.js"
import * as Tour from "./tour/command.js"
import * as Worker from "./command/worker.js"
import * as Verify from "./command/verify.js"
import * as Wrap from "./command/wrap.js"

const memfold = Command.make("memfold").pipe(
  Command.withDescription("Event-sourced conversation memory for LLM applications."),
  Command.withSubcommands([
    Tour.command,
    Replay.command,
    Lab.command,
    sessions,
    events,
    context,
    Recall.command,
    Summaries.command,
    Trace.command,
    Compact.command,
    Worker.command,
    deadLetters,
    Spend.command,
    Import.command,
    exportCommand,
    copy,
    Archive.command,
    Archive.restore,
    Verify.command,
    Repair.command,
    StoreFile.command,
    Serve.command,
    Serve.tokenCommand,
    Studio.command,
    Wrap.command,
  ]),
)

/** A call of the program. */
export interface Call {
  /** Its exit code, once it has ended; `null` if it was interrupted. What went wrong is on standard error by then. */
  readonly exitCode: Promise<number | null>
  /** Ends it; what it holds is released first. */
  readonly interrupt: () => void
}

/** Calls the program with the arguments that stand behind its name. */
export const call = (typed: ReadonlyArray<string>): Call => {
  const args = separated(typed)
  const running = Effect.runFork(
    Command.run(memfold, { name: "memfold", version })(["node", "memfold", ...args]).pipe(
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
