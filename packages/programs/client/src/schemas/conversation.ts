/** The conversation of a session: appends, pages, contexts, and branches. */
import { Schema } from "effect"
import { described, Origin, count, mostRecalled, optional } from "./fields.js"
import {
  Formatted,
  Message,
  MessageName,
  OneOrMore,
  Time,
  inFormat,
  ofQuery,
  ofRequest,
  pauseFor,
} from "./form.js"

/** What stands before an answer: from a context, to the append of the answer. */
export const Prefix = Schema.Struct({
  version: Schema.Number,
  total: Schema.Number,
  head: Schema.String,
}).annotations({
  identifier: "Prefix",
  description: "From a context, for the append of the answer to it",
})

export type Prefix = typeof Prefix.Type

export const Append = Schema.Struct({
  messages: OneOrMore,
  owner: Schema.optional(Schema.NullOr(Schema.String)),
  title: Schema.optional(Schema.NullOr(Schema.String)),
  prefix: Schema.optional(Prefix),
  origin: Schema.optional(Origin).annotations({
    description: "Who stands behind the words of these messages, where their role does not tell",
  }),
  ...ofRequest,
})

export type Append = typeof Append.Type

export const Appended = Schema.Struct({
  from: Schema.Number,
  to: Schema.Number,
  version: Schema.Number,
  duplicate: described(
    Schema.Boolean,
    "The key had been used before for these messages; nothing was written now",
  ),
}).annotations({ identifier: "Appended" })

export type Appended = typeof Appended.Type

export const PageQuery = Schema.Struct({
  ...inFormat,
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most messages of the page, 1 to 1,000; 50 by default. It has fewer where they are large; `before` goes on",
  ),
  before: optional(Schema.String, "The `before` of a page, for the messages before it"),
  branch: optional(count, "The id of a branch that was left; the branch in force by default"),
})

export const MessagePage = Schema.Struct({
  messages: Formatted,
  times: Schema.Array(Time),
  from: Schema.Number,
  to: Schema.Number,
  total: Schema.Number,
  unreadable: Schema.Array(Schema.Number),
  before: Schema.NullOr(Schema.String),
}).annotations({ identifier: "MessagePage" })

export const ContextQuery = Schema.Struct({
  ...inFormat,
  ...ofQuery,
  systemMessages: optional(
    Schema.Literal("inline", "apart"),
    "Where system messages stand: among the messages (default) or apart; for `anthropic` always apart",
  ),
  atVersion: optional(count, "The context as it was at this version"),
  recall: optional(
    count.pipe(Schema.between(0, mostRecalled)),
    "Adds earlier messages that fit the newest message of the user, at most so many tokens",
  ),
  model: optional(Schema.String, "The model that the request is for"),
  summaries: optional(Schema.Literal("native", "text"), "The form of a summary that a provider wrote"),
  cacheControl: optional(
    Schema.Literal("5m", "1h"),
    "Marks where Anthropic's prompt cache is set, and for how long",
  ),
  extraFields: optional(
    Schema.Array(Schema.String),
    "Names of fields beyond the API that the server of the model takes; may be repeated",
  ),
  server: optional(
    Schema.String,
    "Who gets the context: the name of a server that is known, such as `deepseek`, or its base URL",
  ),
})

export const Context = Schema.Struct({
  messages: Formatted,
  layout: Schema.Array(
    Schema.Struct({
      section: Schema.String,
      from: Schema.Number,
      to: Schema.Number,
      tokens: Schema.Number,
      parts: Schema.optional(Schema.Array(Schema.String)),
      origin: Schema.optional(Origin),
    }).annotations({ identifier: "Section" }),
  ),
  tokens: Schema.Number,
  prefix: Prefix,
  budget: Schema.optional(Schema.String),
  waits: Schema.optional(
    Schema.Struct({ cap: Schema.String, until: Schema.Number }).annotations({ identifier: "SpendReached" }),
  ),
}).annotations({ identifier: "Context" })

export const Redact = Schema.Struct({ message: MessageName })

export const Redacted = Schema.Struct({ invalidated: Schema.Number })

export const Edit = Schema.Struct({
  from: MessageName,
  messages: OneOrMore,
  prefix: Schema.optional(Prefix),
  ...ofRequest,
})

export const Regenerate = Schema.Struct({ from: Schema.optional(MessageName), ...ofRequest })

export const Checkout = Schema.Struct({ branch: Schema.Int, ...ofRequest })

export const Edited = Schema.Struct({
  from: Schema.Number,
  to: Schema.Number,
  version: Schema.Number,
  branch: Schema.Number,
  left: Schema.NullOr(Schema.Number),
  duplicate: Schema.Boolean,
}).annotations({ identifier: "Edited" })

export type Edited = typeof Edited.Type

export const Replace = Schema.Struct({ messages: Schema.Array(Message), ...ofRequest })

export const Rewritten = Schema.Struct({
  applied: Schema.Boolean,
  duplicate: Schema.Boolean,
  kept: Schema.Number,
  total: Schema.Number,
})

export const Branches = Schema.Struct({
  branches: Schema.Array(
    Schema.Struct({
      id: Schema.Number,
      parent: Schema.NullOr(Schema.Number),
      from: Schema.Number,
      total: Schema.Number,
      leftAt: Schema.NullOr(Time),
    }).annotations({ identifier: "Branch" }),
  ),
})

export const Undo = Schema.Struct({ pauseFor, ...ofRequest })

export const Undone = Schema.Struct({
  undone: Schema.NullOr(Schema.Literal("compaction", "revert", "branch", "clear")),
  version: Schema.Number,
})
