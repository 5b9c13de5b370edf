/** Lines in the log of the program, with what they are about. None quotes a conversation. */
import { Effect } from "effect"

type About = Readonly<Record<string, string | number>>

export const warn = (line: string, about: About): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning(line), about)

export const logError = (line: string, about: About): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError(line), about)
