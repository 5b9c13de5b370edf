/** Runs a tool in the place of this process: its terminal, its signals, its exit code. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { UsageError } from "../command/failure.js"
import type { Start } from "./tools.js"

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const

/**
 * Starts a program with the terminal of this process, and waits for its end. Signals to this process go to the program, and this process
 * ends when the program has.
 *
 * @returns its exit code; 128 and the number of the signal if one ended it, as shells have it
 */
export const runTool = (program: string, { args, env }: Start): Effect.Effect<number, UsageError> =>
  Effect.async((resume) => {
    // What a terminal sends goes to the whole group, the program included.
    const byTerminal = process.stdin.isTTY
    const pass = (signal: NodeJS.Signals): void => {
      if (!byTerminal || (signal !== "SIGINT" && signal !== "SIGQUIT")) child.kill(signal)
    }
    for (const signal of signals) process.on(signal, pass)
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } })
    const done = (result: Effect.Effect<number, UsageError>): void => {
      for (const signal of signals) process.off(signal, pass)
      resume(result)
    }
    child.once("error", ({ code }: NodeJS.ErrnoException) => {
      const why = code === "ENOENT" ? "it is not installed, or not in PATH" : (code ?? "it failed")
      done(Effect.fail(new UsageError({ problem: `${program} cannot be started: ${why}` })))
    })
    child.once("close", (code, signal) =>
      done(Effect.succeed(signal === null ? (code ?? 0) : 128 + constants.signals[signal])),
    )
    return Effect.sync(() => void child.kill())
  })
