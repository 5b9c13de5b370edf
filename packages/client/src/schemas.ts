/** What requests and responses of the service consist of. */
import { Schema } from "effect"

const text = (description: string) => Schema.String.annotations({ description })
const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optional(schema.annotations({ description }))

/** A number in a query. */
const count = Schema.NumberFromString.pipe(Schema.int(), Schema.nonNegative())
/** Yes or no in a query. */
const flag = Schema.BooleanFromString

export const Time = Schema.Number.annotations({
  identifier: "Time",
  description: "Milliseconds since the epoch",
})
const TimeFromString = Schema.NumberFromString.annotations({ description: "Milliseconds since the epoch" })

export const Json = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "JsonObject",
})
export type Json = typeof Json.Type

/** The formats that messages come and go in. */
export const Format = Schema.Literal("openai", "openai-responses", "anthropic", "memfold").annotations({
  identifier: "Format",
  description:
    "The format of messages: of Chat Completions (`openai`, the default), of the Responses API, of Anthropic's Messages API, or of `@memfold/core`",
})
export type Format = typeof Format.Type

/** A message of a format, or a whole response of a provider. */
export const Message = Json.annotations({
  identifier: "Message",
  description: "A message in the format of the request; the documentation of the provider describes it",
})
const OneOrMore = Schema.Union(Message, Schema.Array(Message)).annotations({
  description: "One message or a list; a whole response of the provider, too",
})
/** Messages of a format: a list, or an object with the system messages apart. */
const Formatted = Schema.Union(Schema.Array(Message), Message).annotations({
  description:
    "A list of messages; an object with the system messages apart, where the format has them apart",
})

export const inFormat = { format: Schema.optional(Format) }

/** How one request is decided, whatever the service is set to. */
export const ofRequest = {
  strategy: optional(Schema.String, "The name of a strategy, for this request"),
  settings: optional(Json, "Settings of the strategy, for this request"),
  fullContextTurns: optional(
    Schema.Int,
    "A setting of the strategy `rounds`: the turns that stay word for word",
  ),
  cachedContextTurns: optional(
    Schema.Int,
    "A setting of the strategy `rounds`: the turns of one block of the summary",
  ),
}

/** The fields of {@link ofRequest} in a query. */
export const ofQuery = {
  strategy: ofRequest.strategy,
  settings: optional(Schema.parseJson(Json), "Settings of the strategy, as JSON"),
  fullContextTurns: Schema.optional(count),
  cachedContextTurns: Schema.optional(count),
}

export const Session = Schema.Struct({ session: text("The id of the session") })

export const ListQuery = Schema.Struct({
  owner: optional(
    Schema.String,
    "Only sessions of this owner, the newest activity first; without it, all in the order of their ids",
  ),
  title: optional(Schema.String, "Only sessions whose title has this text, whatever its case"),
  activeFrom: Schema.optional(TimeFromString),
  activeTo: Schema.optional(TimeFromString),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most sessions of the page, 1 to 1,000; 50 by default",
  ),
  cursor: optional(Schema.String, "The `next` of a page, for the page behind it"),
})

export const SessionInfo = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  createdTime: Time,
  updatedTime: Time,
  owner: Schema.optional(Schema.String),
  title: Schema.optional(Schema.String),
}).annotations({ identifier: "SessionInfo" })
export type SessionInfo = typeof SessionInfo.Type

export const SessionPage = Schema.Struct({
  sessions: Schema.Array(SessionInfo),
  next: Schema.NullOr(Schema.String).annotations({
    description:
      "The `cursor` of the next page; `null` at the end. With filters, a page can be short, and others follow",
  }),
}).annotations({ identifier: "SessionPage" })
export type SessionPage = typeof SessionPage.Type

export const SessionOverview = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  total: Schema.Number.annotations({ description: "How many messages the conversation has" }),
  coveredTo: Schema.Number.annotations({ description: "The active summary covers the messages before this" }),
  summary: Schema.NullOr(Schema.String).annotations({ description: "The id of the active summary" }),
  branch: Schema.Number.annotations({ description: "The id of the branch in force" }),
  compacting: Schema.Boolean.annotations({ description: "Whether a compaction has the lock of the session" }),
  tokens: Schema.Number.annotations({
    description: "The tokens of the next context, without facts and recalled messages",
  }),
  summaries: Schema.Number.annotations({
    description: "How many summaries were committed since the last clear",
  }),
  failures: Schema.Number.annotations({
    description: "How many compactions have failed since the last one that succeeded",
  }),
  owner: Schema.NullOr(Schema.String),
  title: Schema.NullOr(Schema.String),
}).annotations({ identifier: "Session" })
export type SessionOverview = typeof SessionOverview.Type

export const Description = Schema.Struct({
  owner: Schema.optional(Schema.NullOr(Schema.String)),
  title: Schema.optional(Schema.NullOr(Schema.String)),
})

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
  ...ofRequest,
})
export type Append = typeof Append.Type

export const Appended = Schema.Struct({
  from: Schema.Number,
  to: Schema.Number,
  version: Schema.Number,
  duplicate: Schema.Boolean.annotations({
    description: "The key had been used before for these messages; nothing was written now",
  }),
}).annotations({ identifier: "Appended" })
export type Appended = typeof Appended.Type

export const PageQuery = Schema.Struct({
  ...inFormat,
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most messages of the page, 1 to 1,000; 50 by default",
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
    count,
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
    }).annotations({ identifier: "Section" }),
  ),
  tokens: Schema.Number,
  prefix: Prefix,
  budget: Schema.optional(Schema.String),
  waits: Schema.optional(
    Schema.Struct({ cap: Schema.String, until: Schema.Number }).annotations({ identifier: "SpendReached" }),
  ),
}).annotations({ identifier: "Context" })

export const EventQuery = Schema.Struct({
  fromVersion: Schema.optional(count),
  toVersion: Schema.optional(count),
  reverse: optional(flag, "The newest first"),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most events of the page, 1 to 1,000; 100 by default",
  ),
})

export const RecordedEvent = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  id: Schema.String,
  time: Time,
  event: Json.annotations({ description: "The event; `_tag` is its type" }),
}).annotations({ identifier: "Event" })
export type RecordedEvent = typeof RecordedEvent.Type

export const EventPage = Schema.Struct({ events: Schema.Array(RecordedEvent) }).annotations({
  identifier: "EventPage",
})

export const Segment = Schema.Struct({
  kind: Schema.String,
  from: Schema.Number,
  to: Schema.Number,
  text: Schema.String,
}).annotations({ identifier: "Segment" })
export type Segment = typeof Segment.Type

export const Summary = Schema.Struct({
  id: Schema.String,
  version: Schema.Number,
  status: Schema.Literal("active", "superseded", "invalid"),
  supersededBy: Schema.NullOr(Schema.String),
  coveredTo: Schema.Number,
  text: Schema.String,
  segments: Schema.Array(Segment).annotations({
    description: "Its parts, each with the messages that it covers",
  }),
  carried: Schema.Number.annotations({
    description: "How many of them stayed as they were in the summary before it",
  }),
  tokens: Schema.Number,
  time: Time,
}).annotations({ identifier: "Summary" })
export type Summary = typeof Summary.Type

const Part = Schema.Struct({ kind: Schema.String, from: Schema.Number, to: Schema.Number })

export const Timeline = Schema.Struct({
  version: Schema.Number,
  versions: Schema.Array(
    Schema.Struct({
      version: Schema.Number,
      time: Time,
      event: Schema.String.annotations({ description: "The type of the event" }),
      total: Schema.Number.annotations({ description: "How many messages the conversation has" }),
      coveredTo: Schema.Number,
      tokens: Schema.Number.annotations({ description: "The tokens of the context" }),
      branch: Schema.Number,
    }).annotations({ identifier: "TimelineVersion" }),
  ),
  compactions: Schema.Array(
    Schema.Struct({
      compaction: Schema.String,
      outcome: Schema.Literal("running", "committed", "pruned", "failed", "released"),
      strategy: Schema.String,
      reason: Schema.String,
      startedAt: Schema.Number.annotations({ description: "The version of its start" }),
      endedAt: Schema.NullOr(Schema.Number),
      startTime: Time,
      endTime: Schema.NullOr(Time),
      parts: Schema.Array(Part),
      coveredTo: Schema.NullOr(Schema.Number),
      summary: Schema.NullOr(Schema.String).annotations({ description: "The id of its summary" }),
      status: Schema.NullOr(Schema.Literal("active", "superseded", "invalid")),
      supersedes: Schema.NullOr(Schema.String),
      tokensBefore: Schema.NullOr(Schema.Number),
      tokensAfter: Schema.NullOr(Schema.Number),
      summarizer: Schema.NullOr(Schema.String),
      calls: Schema.NullOr(Schema.Number),
      pruned: Schema.Array(Schema.Number),
      failure: Schema.NullOr(Schema.String),
    }).annotations({ identifier: "TimelineCompaction" }),
  ),
}).annotations({ identifier: "Timeline" })

export const Compare = Schema.Struct({
  strategy: Schema.NullOr(Schema.String).annotations({
    description: "The name of a strategy; `null` for the full history, which nothing compacts",
  }),
  settings: optional(Json, "Settings of the strategy"),
  prices: optional(
    Schema.Union(Schema.String, Json),
    "What tokens cost: the name of a preset, or an object of prices; `claude-sonnet-5.5` by default",
  ),
})

export const Compared = Schema.Struct({
  strategy: Schema.NullOr(Schema.String),
  prices: Schema.String.annotations({ description: "The model that the prices are of" }),
  messages: Schema.Number,
  compactions: Schema.Number,
  failures: Schema.Number,
  firstFailure: Schema.NullOr(Schema.String),
  points: Schema.Array(
    Schema.Struct({
      index: Schema.Number.annotations({ description: "The message that the call answered with" }),
      tokens: Schema.Number.annotations({ description: "The tokens of its context" }),
      dollars: Schema.Number.annotations({
        description: "What all calls up to here cost, without their answers",
      }),
      cached: Schema.Number.annotations({
        description: "The share of the prompts up to here that the provider read from its cache",
      }),
      needed: Schema.Number.annotations({ description: "How many identifiers were needed up to here" }),
      there: Schema.Number.annotations({ description: "How many of them were in the context" }),
      compactions: Schema.Number,
    }).annotations({ identifier: "CallPoint" }),
  ),
}).annotations({ identifier: "Compared" })

export const TraceRequest = Schema.Struct({
  text: optional(Schema.String, "A text: its sentences are traced to all messages"),
  summary: optional(
    Schema.String,
    "The id of a summary, instead of a text: its sentences are traced to the messages that it covers",
  ),
})

const sharing = {
  share: Schema.Number.annotations({
    description: "How much of the sentence's weight is there, from 0 to 1",
  }),
  words: Schema.Array(Schema.String).annotations({
    description: "What both have, as the sentence writes it",
  }),
}

export const Trace = Schema.Struct({
  version: Schema.Number,
  text: Schema.String,
  sentences: Schema.Array(
    Schema.Struct({
      text: Schema.String,
      from: Schema.Number.annotations({ description: "Where it begins in `text`, in UTF-16 code units" }),
      to: Schema.Number,
      supported: Schema.Boolean,
      share: Schema.Number,
      messages: Schema.Array(Schema.Struct({ index: Schema.Number, ...sharing })),
      missing: Schema.Array(Schema.String).annotations({ description: "Identifiers that no message has" }),
    }).annotations({ identifier: "TracedSentence" }),
  ),
}).annotations({ identifier: "Trace" })

export const MessagePath = Schema.Struct({ session: Schema.String, message: count })

export const TracedSummary = Schema.Struct({
  summary: Schema.String,
  status: Schema.Literal("active", "superseded", "invalid"),
  sentences: Schema.Array(Schema.Struct({ text: Schema.String, ...sharing })),
}).annotations({ identifier: "TracedSummary" })

const searched = {
  query: text("A question, words, an identifier or a path, in any language"),
  tokens: optional(Schema.Int, "The most tokens of the result; 1,000 by default"),
  after: Schema.optional(Time),
  before: Schema.optional(Time),
  timeZone: optional(Schema.String, "For words such as `yesterday`; `UTC` by default"),
}

export const Recall = Schema.Struct({
  ...searched,
  ...ofRequest,
  messages: Schema.optional(Schema.Literal("all", "outside-context")),
  atVersion: Schema.optional(Schema.Int),
})
export const OwnerRecall = Schema.Struct({
  ...searched,
  owner: Schema.String,
  without: optional(Schema.Array(Schema.String), "Sessions that are not searched"),
})

const found = {
  index: Schema.Number,
  version: Schema.Number,
  time: Time,
  role: Schema.String,
  text: Schema.String,
  excerpt: Schema.Boolean.annotations({ description: "Whether `text` is only a part of the message" }),
  rank: optional(Schema.Number, "1 for what fits the query best"),
  message: Formatted,
}
const foundIn = { text: Schema.String, tokens: Schema.Number }

export const Recalled = Schema.Struct({
  messages: Schema.Array(Schema.Struct(found).annotations({ identifier: "RecalledMessage" })),
  ...foundIn,
}).annotations({ identifier: "Recalled" })

export const OwnerRecalled = Schema.Struct({
  messages: Schema.Array(
    Schema.Struct({ session: Schema.String, ...found }).annotations({ identifier: "OwnedRecalledMessage" }),
  ),
  ...foundIn,
  unreadable: Schema.Array(Schema.String),
}).annotations({ identifier: "OwnedRecalled" })

export const Compact = Schema.Struct({
  which: optional(
    Schema.Literal("next", "due", "all"),
    "One compaction now (default), all that are due, or all anew from the messages",
  ),
  instructions: optional(Schema.String, "A text for the prompt of the summarizer"),
  takeOver: optional(Schema.Boolean, "Takes the lock from a compaction that runs"),
  ...ofRequest,
})

export const Outcome = Schema.Struct({
  outcome: Schema.Literal("Idle", "Committed", "Pruned", "Failed", "Lost"),
  reason: optional(Schema.String, "Why nothing was done, or what failed"),
  summary: optional(Schema.String, "The id of the new summary"),
  coveredTo: Schema.optional(Schema.Number),
  tokensBefore: Schema.optional(Schema.Number),
  tokensAfter: Schema.optional(Schema.Number),
}).annotations({ identifier: "CompactionOutcome" })
export type Outcome = typeof Outcome.Type

export const Preview = Schema.Struct({
  ...inFormat,
  which: Compact.fields.which,
  instructions: Compact.fields.instructions,
  takeOver: Compact.fields.takeOver,
  summarizer: optional(
    Schema.Literal("extractive", "own"),
    "Writes the summaries of the preview: the extractive summarizer (default), which costs nothing, or the service's own, which may ask a model",
  ),
  ...ofRequest,
})

export const Previewed = Schema.Struct({
  version: Schema.Number,
  strategy: Schema.String,
  summarizer: Schema.String.annotations({ description: "Who wrote the summaries of the preview" }),
  compactions: Schema.Array(
    Schema.Struct({
      outcome: Schema.Literal("Committed", "Pruned", "Failed"),
      reason: Schema.String.annotations({ description: "Why it would run" }),
      failure: optional(Schema.String, "Why it would fail"),
      from: Schema.Number,
      to: Schema.Number,
      tailFrom: Schema.Number,
      parts: Schema.Array(Part),
      segments: Schema.Array(Segment).annotations({ description: "The segments that would be written" }),
      carried: Schema.Number.annotations({
        description: "How many segments of the earlier summary would stay in front of them",
      }),
      pruned: Schema.Array(Schema.Number).annotations({
        description: "The indexes of messages whose tool outputs would be shortened",
      }),
      replaced: Schema.Struct({
        messages: Schema.Number,
        tokens: Schema.Number,
        segments: Schema.Array(Segment),
      }),
      tokensBefore: Schema.NullOr(Schema.Number),
      tokensAfter: Schema.NullOr(Schema.Number),
    }).annotations({ identifier: "PreviewedCompaction" }),
  ),
  idle: Schema.NullOr(Schema.String).annotations({
    description: "Why nothing, or nothing more, would be done",
  }),
  before: Context,
  after: Context,
}).annotations({ identifier: "Preview" })
export type Previewed = typeof Previewed.Type

export const Compacted = Schema.Struct({ outcomes: Schema.Array(Outcome) })

const pauseFor = optional(
  Schema.Int,
  "How many messages have to come before automatic compaction goes on; 20 by default",
)

export const Revert = Schema.Struct({
  toSummary: optional(
    Schema.NullOr(Schema.String),
    "The id of a summary, or `null` (default) for the messages",
  ),
  pauseFor,
})
export const Reverted = Schema.Struct({ reverted: Schema.Number })

export const Fork = Schema.Struct({
  to: text("The id of the new session"),
  atVersion: optional(Schema.Int, "The version to copy up to; the newest by default"),
})
export const Forked = Schema.Struct({ session: Schema.String, version: Schema.Number })

/** The name of a message: its index, or the version of its event. */
const MessageName = Schema.Union(Schema.Int, Schema.Struct({ version: Schema.Int })).annotations({
  identifier: "MessageName",
  description: "The index of a message, or `{ version }` of the event that appended it",
})

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

export const Facts = Schema.Struct({
  facts: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      layer: Schema.Literal("user", "scope"),
      kind: Schema.String,
      text: Schema.String,
      key: Schema.optional(Schema.String),
      from: Schema.Number,
      to: Schema.Number,
      time: Time,
    }).annotations({ identifier: "Fact" }),
  ),
})
export const FactPath = Schema.Struct({ session: Schema.String, fact: Schema.String })
export const OwnerPath = Schema.Struct({ owner: text("The owner, an id of the application") })
export const OwnerDeleted = Schema.Struct({
  deleted: Schema.Number.annotations({ description: "How many sessions there were" }),
})
export const Deleted = Schema.Struct({ deleted: Schema.Boolean })

export const Tools = Schema.Struct({
  openai: Schema.Array(Json),
  responses: Schema.Array(Json),
  anthropic: Schema.Array(Json),
})
export const ToolCall = Schema.Struct({
  name: Schema.String,
  arguments: Json,
  tokens: Schema.optional(Schema.Int),
  ...ofRequest,
})
export const ToolResult = Schema.Struct({ text: Schema.String })

const key = {
  "idempotency-key": optional(
    Schema.String,
    "A text of your own for this write; a retry with it is applied once",
  ),
}
/** Headers of writes that are applied once. */
export const KeyHeaders = Schema.Struct(key)
/** Headers of writes that are applied once, and only to the version that they are for. */
export const WriteHeaders = Schema.Struct({
  ...key,
  "if-match": optional(
    Schema.String,
    'The `ETag` of what was read: the write is refused if the session has another version. Or `"0"`, for a new session',
  ),
})
export const ReadHeaders = Schema.Struct({
  "if-none-match": optional(
    Schema.String,
    "The `ETag` of an earlier response: 304 if it is still the version",
  ),
})
export const ChangesHeaders = Schema.Struct({
  "last-event-id": optional(
    Schema.String,
    "The id of the last event that came: the stream goes on behind it",
  ),
})

export const Access = Schema.Struct({
  tenant: Schema.NullOr(Schema.String).annotations({
    description: "Whose sessions the caller sees; `null` for all",
  }),
  rights: Schema.Array(Schema.Literal("read", "write", "erase")),
}).annotations({ identifier: "Access" })

export const StrategyForm = Schema.Struct({
  name: Schema.String,
  section: Schema.Array(Schema.String).annotations({
    description: "Where the settings stand in a settings file",
  }),
  defaults: Json,
  schema: Json.annotations({
    description: "A JSON schema: what each setting can be, its default, and what it is for",
  }),
}).annotations({ identifier: "StrategyForm" })

export const Settings = Schema.Struct({
  strategy: text("The strategy of requests that name none"),
  settings: Json.annotations({ description: "Its settings; those that are missing have their defaults" }),
  stored: Schema.Boolean.annotations({
    description: "Whether changes are stored in the settings file, and outlive the service",
  }),
  section: Schema.Array(Schema.String),
  strategies: Schema.Array(StrategyForm),
}).annotations({ identifier: "Settings" })

export const SettingsChange = Schema.Struct({
  strategy: optional(Schema.String, "The name of a strategy; the present one by default"),
  settings: Json.annotations({
    description: "All settings of the strategy; those that are missing get their defaults",
  }),
})

export const Health = Schema.Struct({ status: Schema.Literal("ok") })
