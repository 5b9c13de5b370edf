/**
 * The command line. Standard output carries the result alone; what goes wrong is one line on standard error.
 *
 * Exit codes: 0 done, 1 a check found something, 2 the call or its input was wrong, 70 a defect of memfold.
 */
import { Command, ValidationError } from "@effect/cli"
// The package's index would load its servers, sockets and clusters as well, and double the time to start.
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Cause, Effect, Exit, Logger, LogLevel } from "effect"
import { readFileSync } from "node:fs"
import * as Compare from "./compare.js"
import { copy, exportCommand } from "./copy.js"
import * as Demo from "./demo.js"
import { Found } from "./failure.js"
import * as Import from "./import.js"
import { context, events, sessions } from "./look.js"
import * as Repair from "./repair.js"
import * as Replay from "./replay.js"
import * as StoreFile from "./storeFile.js"
import * as Summaries from "./summaries.js"
import * as Verify from "./verify.js"

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string
}

const memfold = Command.make("memfold").pipe(
  Command.withDescription("Event-sourced conversation memory for LLM applications."),
  Command.withSubcommands([
    Replay.command,
    Compare.command,
    sessions,
    events,
    context,
    Summaries.command,
    Import.command,
    exportCommand,
    copy,
    Verify.command,
    Repair.command,
    StoreFile.command,
    Demo.command,
  ]),
)

// A reader that has seen enough (`| head`) is no failure, and what is being stored is stored to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})

const exit = await Effect.runPromiseExit(
  Command.run(memfold, { name: "memfold", version })(process.argv).pipe(
    Effect.provide(NodeContext.layer),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
    Logger.withMinimumLogLevel(LogLevel.Error),
  ),
)

if (Exit.isFailure(exit)) process.exitCode = report(exit.cause)

function report(cause: Cause.Cause<unknown>): number {
  const error = Cause.squash(cause)
  // The parser of the command line has said what is wrong already.
  if (ValidationError.isValidationError(error)) return 2
  if (error instanceof Found) return 1
  if (Cause.isFailure(cause) && error instanceof Error) {
    process.stderr.write(`memfold: ${error.message}\n`)
    return 2
  }
  process.stderr.write(`memfold: this is a defect, please report it\n${Cause.pretty(cause)}\n`)
  return 70
}
