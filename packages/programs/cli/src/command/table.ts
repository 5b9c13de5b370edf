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

/** The command that a module exports. What it takes is known to itself alone, and to the parser that it is given to. */
const listed = <Name extends string = "command">(
  about: string,
  module: () => Promise<Readonly<Record<Name, object>>>,
  name = "command" as Name,
): Listed => ({ about, load: async () => (await module())[name] as AnyCommand })

/** The commands that one begins with. */
export const first = ["tour", "studio", "sessions", "context", "serve"]

/** The groups of commands, by their names. */
export const groups: Readonly<
  Record<string, { readonly about: string; readonly commands: Readonly<Record<string, Listed>> }>
> = {
  try: {
    about: "on conversations in files, without a store",
    commands: {
      tour: listed("what memfold does, on a shipped conversation", () => import("../tour/command.js")),
      replay: listed("a transcript under a strategy, message by message", () => import("./replay.js")),
      lab: listed(
        "several policies on the same conversations: tokens, cost, what is lost",
        () => import("../lab/command.js"),
      ),
    },
  },
  look: {
    about: "into a store: what was said, and what the model saw",
    commands: {
      sessions: listed("the sessions of a store", () => import("./look.js"), "sessions"),
      context: listed(
        "what the model gets, now or at an earlier event",
        () => import("./look.js"),
        "context",
      ),
      events: listed("what was stored, event by event", () => import("./look.js"), "events"),
      feed: listed("the events of all sessions, in one order", () => import("./feed.js")),
      summaries: listed("the summaries of a session", () => import("./summaries.js")),
      recall: listed("messages by a query", () => import("./recall.js")),
      trace: listed("which messages the sentences of a summary rest on", () => import("./trace.js")),
      spend: listed("what summaries have cost", () => import("./spend.js")),
      studio: listed("a page that shows all of it", () => import("./studio.js")),
    },
  },
  serve: {
    about: "programs, and do their background work",
    commands: {
      serve: listed("the memory over HTTP, or a proxy with a memory", () => import("./serve.js")),
      token: listed("an access token for the service", () => import("./serve.js"), "tokenCommand"),
      wrap: listed("a coding agent behind the proxy", () => import("./wrap.js")),
      worker: listed("compactions of other processes, from a queue", () => import("./worker.js")),
      "dead-letters": listed("what a queue has given up", () => import("./queue.js"), "deadLetters"),
      compact: listed("a session, or all of them, now", () => import("./compact.js")),
    },
  },
  move: {
    about: "sessions between stores, files and programs",
    commands: {
      import: listed("an export, or the state of another program", () => import("./import.js")),
      export: listed("sessions as lines of a file", () => import("./copy.js"), "exportCommand"),
      copy: listed("sessions to another store", () => import("./copy.js"), "copy"),
      archive: listed("sessions that nobody uses, to a folder or a bucket", () => import("./archive.js")),
      shards: listed("sessions between the shards of a store over stores", () => import("./shards.js")),
      restore: listed("archived sessions", () => import("./archive.js"), "restore"),
    },
  },
  govern: {
    about: "what is kept: who did what, what must go, what must stay",
    commands: {
      audit: listed("who did what with a session or an owner", () => import("./govern.js"), "audit"),
      facts: listed(
        "what is known of an owner, with quotes, and what of it is true",
        () => import("./facts.js"),
      ),
      erase: listed("an owner from every copy of a sealed store", () => import("./govern.js"), "erase"),
      doctor: listed("what is not protected here", () => import("./doctor.js")),
      hold: listed("a session or an owner, against every erasure", () => import("./govern.js"), "hold"),
    },
  },
  repair: {
    about: "a store",
    commands: {
      verify: listed("whether stored logs are whole", () => import("./verify.js")),
      repair: listed("what follows from the logs, made anew", () => import("./repair.js")),
      store: listed("the size, a backup, free space of a SQLite file", () => import("./storeFile.js")),
    },
  },
}

/** All commands, by their names. */
export const commands: ReadonlyMap<string, Listed> = new Map(
  Object.values(groups).flatMap((group) => Object.entries(group.commands)),
)
