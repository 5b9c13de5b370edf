/**
 * The command line. Standard output carries only the result; an error is one line on standard error.
 *
 * Exit codes: 0 success, 1 a check has findings, 2 the call or its input was wrong, 70 a bug in memfold.
 */
import { Command, ValidationError } from "@effect/cli"
// The index of the package also loads servers, sockets and clusters, which doubles the start time.
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Effect, Exit, Fiber, FiberId, Logger, LogLevel } from "effect"
import { readFileSync } from "node:fs"
import { getSystemErrorMap } from "node:util"
import { copy, exportCommand } from "./copy.js"
import { Found } from "./failure.js"
import { readableHelp } from "./help.js"
import * as Import from "./import.js"
import * as Lab from "./lab/command.js"
import { context, events, sessions } from "./look.js"
import * as Recall from "./recall.js"
import * as Repair from "./repair.js"
import * as Replay from "./replay.js"
import * as StoreFile from "./storeFile.js"
import * as Summaries from "./summaries.js"
import { clean, colorsWhereSeen } from "./terminal.js"
import * as Tour from "./tour.js"
import * as Verify from "./verify.js"

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string
}

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
    Import.command,
    exportCommand,
    copy,
    Verify.command,
    Repair.command,
    StoreFile.command,
  ]),
)

const running = Effect.runFork(
  Command.run(memfold, { name: "memfold", version })(process.argv).pipe(
    Effect.provide(NodeContext.layer),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
    Logger.withMinimumLogLevel(LogLevel.Error),
    (command) => readableHelp(command, process.argv.slice(2)),
    colorsWhereSeen,
  ),
)

/** Whether writing to standard output failed; the error is printed already. */
let unwritable = false

process.stdout.on("error", ({ code, errno, message }: NodeJS.ErrnoException) => {
  // A closed pipe (`| head`) is no failure, and writes to the store are finished.
  if (code === "EPIPE" || unwritable) return
  unwritable = true
  const [, reason = message] = getSystemErrorMap().get(errno ?? 0) ?? []
  process.stderr.write(`memfold: standard output cannot be written: ${reason}\n`)
  process.exitCode = 2
  running.unsafeInterruptAsFork(FiberId.none)
})

const exit = await Effect.runPromise(Fiber.await(running))
if (Exit.isFailure(exit) && !unwritable) process.exitCode = report(exit.cause)

function report(cause: Cause.Cause<unknown>): number {
  const error = Cause.squash(cause)
  // The parser has printed the error already.
  if (ValidationError.isValidationError(error)) return 2
  if (error instanceof Found) return 1
  if (Cause.isFailure(cause) && error instanceof Error) {
    process.stderr.write(`memfold: ${clean(error.message)}\n`)
    return 2
  }
  const trace = Cause.pretty(cause).split("\n").map(clean).join("\n")
  process.stderr.write(`memfold: this is a bug in memfold, please report it\n${trace}\n`)
  return 70
}
