/** The commands: what each is for, in the groups of the help. A command is loaded when it is asked for. */
import type { Command } from "@effect/cli"
import type * as NodeContext from "@effect/platform-node/NodeContext"

/** A command, whatever it takes. */
export type AnyCommand = Command.Command<string, NodeContext.NodeContext, unknown, unknown>

/** A command in the help, and its module. */
export interface Listed {
  readonly about: string
  readonly load: () => Promise<AnyCommand>
}

/** What a command takes is known to itself alone, and to the parser that it is given to. */
const listed = (about: string, load: () => Promise<object>): Listed => ({
  about,
  load: async () => (await load()) as AnyCommand,
})

/** The commands that one begins with. */
export const first = ["tour", "studio", "sessions", "context", "serve"]

/** The groups of commands, by their names. */
export const groups: Readonly<
  Record<string, { readonly about: string; readonly commands: Readonly<Record<string, Listed>> }>
> = {
  try: {
    about: "on conversations in files, without a store",
    commands: {
      tour: listed(
        "what memfold does, on a shipped conversation",
        async () => (await import("../tour/command.js")).command,
      ),
      replay: listed(
        "a transcript under a strategy, message by message",
        async () => (await import("./replay.js")).command,
      ),
      lab: listed(
        "several policies on the same conversations: tokens, cost, what is lost",
        async () => (await import("../lab/command.js")).command,
      ),
    },
  },
  look: {
    about: "into a store: what was said, and what the model saw",
    commands: {
      sessions: listed("the sessions of a store", async () => (await import("./look.js")).sessions),
      context: listed(
        "what the model gets, now or at an earlier event",
        async () => (await import("./look.js")).context,
      ),
      events: listed("what was stored, event by event", async () => (await import("./look.js")).events),
      feed: listed(
        "the events of all sessions, in one order",
        async () => (await import("./feed.js")).command,
      ),
      summaries: listed("the summaries of a session", async () => (await import("./summaries.js")).command),
      recall: listed("messages by a query", async () => (await import("./recall.js")).command),
      trace: listed(
        "which messages the sentences of a summary rest on",
        async () => (await import("./trace.js")).command,
      ),
      spend: listed("what summaries have cost", async () => (await import("./spend.js")).command),
      studio: listed("a page that shows all of it", async () => (await import("./studio.js")).command),
    },
  },
  serve: {
    about: "programs, and do their background work",
    commands: {
      serve: listed(
        "the memory over HTTP, or a proxy with a memory",
        async () => (await import("./serve.js")).command,
      ),
      token: listed("an access token for the service", async () => (await import("./serve.js")).tokenCommand),
      wrap: listed("a coding agent behind the proxy", async () => (await import("./wrap.js")).command),
      worker: listed(
        "compactions of other processes, from a queue",
        async () => (await import("./worker.js")).command,
      ),
      "dead-letters": listed(
        "what a queue has given up",
        async () => (await import("./queue.js")).deadLetters,
      ),
      compact: listed("a session, or all of them, now", async () => (await import("./compact.js")).command),
    },
  },
  move: {
    about: "sessions between stores, files and programs",
    commands: {
      import: listed(
        "an export, or the state of another program",
        async () => (await import("./import.js")).command,
      ),
      export: listed("sessions as lines of a file", async () => (await import("./copy.js")).exportCommand),
      copy: listed("sessions to another store", async () => (await import("./copy.js")).copy),
      archive: listed(
        "sessions that nobody uses, to a folder or a bucket",
        async () => (await import("./archive.js")).command,
      ),
      shards: listed(
        "sessions between the shards of a store over stores",
        async () => (await import("./shards.js")).command,
      ),
      restore: listed("archived sessions", async () => (await import("./archive.js")).restore),
    },
  },
  govern: {
    about: "what is kept: who did what, what must go, what must stay",
    commands: {
      audit: listed(
        "who did what with a session or an owner",
        async () => (await import("./govern.js")).audit,
      ),
      facts: listed(
        "what is known of an owner, with quotes, and what of it is true",
        async () => (await import("./facts.js")).command,
      ),
      erase: listed(
        "an owner from every copy of a sealed store",
        async () => (await import("./govern.js")).erase,
      ),
      doctor: listed("what is not protected here", async () => (await import("./doctor.js")).command),
      hold: listed(
        "a session or an owner, against every erasure",
        async () => (await import("./govern.js")).hold,
      ),
    },
  },
  repair: {
    about: "a store",
    commands: {
      verify: listed("whether stored logs are whole", async () => (await import("./verify.js")).command),
      repair: listed(
        "what follows from the logs, made anew",
        async () => (await import("./repair.js")).command,
      ),
      store: listed(
        "the size, a backup, free space of a SQLite file",
        async () => (await import("./storeFile.js")).command,
      ),
    },
  },
}

/** All commands, by their names. */
export const commands: ReadonlyMap<string, Listed> = new Map(
  Object.values(groups).flatMap((group) => Object.entries(group.commands)),
)
