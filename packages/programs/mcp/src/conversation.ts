/** The tools of a conversation: appending to it, reading it, searching it. */
import * as z from "zod"
import { count, existing, givenMessage, message, origin, recalled, session, shownTime } from "./schemas.js"
import { type ToolMemory, tool } from "./tool.js"

type GivenMessages = Parameters<ToolMemory["append"]>[1]

export const appendMessages = tool({
  name: "append_messages",
  title: "Append messages",
  description:
    "Stores messages at the end of a session, all or none, in the order given. The first append starts a session. Append what the user says before you answer, and your answer after it. With an idempotency_key, a repeated call stores nothing twice.",
  changes: "adds",
  input: z.strictObject({
    session,
    messages: z.array(givenMessage).min(1),
    idempotency_key: z
      .string()
      .min(1)
      .optional()
      .describe("A name of your choice for this append; a call with the same key is stored once"),
    owner: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Whose session it is; sessions are listed by it. Refused if the session belongs to another owner",
      ),
    title: z.string().min(1).optional().describe("The name of the session in lists"),
  }),
  output: z.object({
    from: count.describe("The index of the first appended message"),
    to: count.describe("The index after the last one"),
    version: count.describe("The version of the session after the append"),
    duplicate: z.boolean().describe("True if the key had been used before, and nothing was stored"),
  }),
  run: async (memory, { session: id, messages, idempotency_key: idempotencyKey, owner, title }) =>
    memory.append(id, messages as GivenMessages, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(owner === undefined ? {} : { owner }),
      ...(title === undefined ? {} : { title }),
    }),
})

const section = z.object({
  section: z.string().describe("What it is: pinned, summary, uncovered (word for word), recalled, gap, …"),
  from: count,
  to: count,
  tokens: count,
  parts: z.array(z.string()).optional().describe("The kinds of parts that it is about"),
  origin,
})

export const getContext = tool({
  name: "get_context",
  title: "Get the context",
  description:
    "Returns the messages to send to a model next: the summary of what is older, and the newest messages word for word. The layout says what each part is and which messages it covers. A session without messages has an empty context.",
  changes: "nothing",
  input: z.strictObject({
    session,
    at_version: count.optional().describe("A version of the session, for the context as it was then"),
    recall_tokens: recalled(0)
      .optional()
      .describe("Also adds earlier messages that fit the newest user message: at most this many tokens"),
  }),
  output: z.object({
    messages: z.array(message),
    layout: z.array(section),
    tokens: count.describe("The size of the context"),
  }),
  run: async (memory, { session: id, at_version: atVersion, recall_tokens: tokens }) => {
    const context = await memory.context(id, {
      ...(atVersion === undefined ? {} : { atVersion }),
      ...(tokens === undefined ? {} : { recall: { tokens } }),
    })
    return {
      messages: context.messages.map((one) => ({ ...one })),
      layout: context.layout.map(({ section: name, from, to, tokens: size, parts, origin: lowest }) => ({
        section: name,
        from,
        to,
        tokens: size,
        parts: parts && [...parts],
        origin: lowest,
      })),
      tokens: context.tokens,
    }
  },
})

/** A time as a model writes it; a date is in UTC. */
const moment = z
  .string()
  .refine(
    (text) => !Number.isNaN(Date.parse(text)),
    "it must be a date, such as 2026-05-01, or a date and time",
  )

export const searchMemory = tool({
  name: "search_memory",
  title: "Search the past of a session",
  description:
    'Searches the whole conversation, also the part that contexts show only as a summary, and returns the messages that fit, word for word. Use it before saying that something is unknown or was not mentioned. It looks for words, names, identifiers, paths and error messages: use the words that were probably said. A time in the query counts, too: "last week", "in March".',
  changes: "nothing",
  input: z.strictObject({
    session,
    query: z.string().min(1).describe("The words to search for, or a question"),
    tokens: recalled(1).default(1_000).describe("The most tokens of the result"),
    outside_context: z
      .boolean()
      .default(false)
      .describe("Only messages that the context does not show word for word"),
    after: moment.optional().describe("Only messages from this time on: a date, or a date and time"),
    before: moment.optional().describe("Only messages before this time"),
  }),
  output: z.object({
    messages: z.array(
      z.object({
        index: count,
        time: z.string(),
        role: z.string(),
        origin,
        text: z.string(),
        excerpt: z.boolean().describe("True if the text is only the part of the message that fits"),
      }),
    ),
    tokens: count,
    unsearched: count
      .optional()
      .describe(
        "How many messages were not searched, since the index is still being built: search again later",
      ),
  }),
  run: async (memory, { session: id, query, tokens, outside_context: outside, after, before }) => {
    const found = await memory.recall(await existing(memory, id), query, {
      tokens,
      ...(after === undefined ? {} : { after: Date.parse(after) }),
      ...(before === undefined ? {} : { before: Date.parse(before) }),
      messages: outside ? "outside-context" : "all",
    })
    return {
      messages: found.messages.map(({ index, time, role, origin: lowest, text, excerpt }) => ({
        index,
        time: shownTime(time),
        role,
        origin: lowest,
        text,
        excerpt,
      })),
      tokens: found.tokens,
      unsearched: found.unsearched,
    }
  },
})

export const readMessages = tool({
  name: "read_messages",
  title: "Read messages",
  description:
    "Reads a conversation as it was said, also the part that contexts show only as a summary: the newest messages first, then page by page backwards.",
  changes: "nothing",
  input: z.strictObject({
    session,
    limit: z.int().min(1).max(500).default(20).describe("The most messages of the page"),
    before: z.string().optional().describe("The `before` of a page, for the page in front of it"),
  }),
  output: z.object({
    messages: z.array(z.object({ index: count, time: z.string(), message })),
    total: count.describe("How many messages the conversation has"),
    earlier: z
      .string()
      .nullable()
      .describe("The `before` of the page before this one; null if there is none"),
  }),
  run: async (memory, { session: id, limit, before }) => {
    const page = await memory.messages(await existing(memory, id), {
      limit,
      ...(before === undefined ? {} : { before }),
    })
    return {
      messages: page.messages.map((one, at) => ({
        index: page.from + at,
        time: shownTime(page.times[at] ?? 0),
        message: { ...one },
      })),
      total: page.total,
      earlier: page.before,
    }
  },
})

export const listSessions = tool({
  name: "list_sessions",
  title: "List sessions",
  description: "Lists the sessions of the store; the sessions of an owner with the newest activity first.",
  changes: "nothing",
  input: z.strictObject({
    owner: z.string().min(1).optional().describe("Only the sessions of this owner"),
    limit: z.int().min(1).max(500).default(50).describe("The most sessions"),
  }),
  output: z.object({
    sessions: z.array(
      z.object({
        session: z.string(),
        title: z.string().optional(),
        owner: z.string().optional(),
        version: count,
        created: z.string(),
        updated: z.string(),
      }),
    ),
    more: z.boolean().describe("Whether there are more sessions than these"),
  }),
  run: async (memory, { owner, limit }) => {
    const { sessions, more } =
      owner === undefined ? await someSessions(memory, limit) : await ownedSessions(memory, owner, limit)
    return {
      sessions: sessions.map(({ createdTime, updatedTime, session: id, version, title, owner: whose }) => ({
        session: id,
        version,
        created: shownTime(createdTime),
        updated: shownTime(updatedTime),
        title,
        owner: whose,
      })),
      more,
    }
  },
})

type SessionInfo = ReturnType<ToolMemory["sessions"]> extends AsyncIterable<infer One> ? One : never

const someSessions = async (memory: ToolMemory, limit: number) => {
  const sessions: Array<SessionInfo> = []
  for await (const info of memory.sessions()) {
    if (sessions.length === limit) return { sessions, more: true }
    sessions.push(info)
  }
  return { sessions, more: false }
}

const ownedSessions = async (memory: ToolMemory, owner: string, limit: number) => {
  const { sessions, before } = await memory.sessionsOf(owner, { limit })
  return { sessions, more: before !== null }
}
