/** The client with Promises, made from the declaration of the service. Its users need no Effect. */
import { type Calls, type ClientOptions, inPath, makeCalls, type WriteOptions, written } from "./call.js"
import { followChanges } from "./changes.js"
import { consume, type Consumer, type ConsumeOptions, redeliver } from "./consume.js"
import { eventsIn } from "./exported.js"
import type * as schemas from "./schemas.js"

/** The options of an operation: what its request consists of, besides what is an argument of its own. */
export type OperationOptions<
  Schema extends { readonly Type: object },
  Without extends PropertyKey = never,
> = Omit<Schema["Type"], Without | "format">
/** How a message is named: by its index, or by its version. */
export type MessageName = typeof schemas.Redact.Type.message

/** An answer with its messages in the types of the caller. */
export type WithMessages<Answer, Messages> = Omit<Answer, "messages"> & { readonly messages: Messages }
/** The answer of a search, with its messages in the types of the caller. */
export type Found<Answer extends { readonly messages: ReadonlyArray<object> }, Messages> = Omit<
  Answer,
  "messages"
> & {
  readonly messages: ReadonlyArray<
    Omit<Answer["messages"][number], "message"> & { readonly message: Messages }
  >
}

/** A preview with the messages of its contexts in the types of the caller. */
export type PreviewWithMessages<Messages> = Omit<schemas.Previewed, "before" | "after"> & {
  readonly before: WithMessages<schemas.Previewed["before"], Messages>
  readonly after: WithMessages<schemas.Previewed["after"], Messages>
}

/** The path of a session: its id can have any characters, and the requests of the platform are sent with the path as it is. */
const at = (session: string) => ({ session: inPath("session", session) })

const by = (owner: string) => ({ owner: inPath("owner", owner) })

const factAt = (session: string, fact: string) => ({ ...at(session), fact: inPath("fact", fact) })

/** Operations whose arguments are looked at before a request is made: what is wrong with them rejects their promise, too. */
const rejecting = <Operations extends Readonly<Record<string, (...given: never) => Promise<unknown>>>>(
  operations: Operations,
): Operations =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      async (...given: never) => operation(...given),
    ]),
  ) as unknown as Operations

/** Sessions as a whole. */
const sessionOperations = ({ requests: { owners, sessions, service }, once, safely }: Calls) => ({
  /** A page of sessions, by owner, title and time. */
  sessions: (query: OperationOptions<typeof schemas.ListQuery> = {}) =>
    safely(sessions.list({ urlParams: query })),
  /** What a session consists of now. */
  session: (session: string) => safely(sessions.session({ path: at(session), headers: {} })),
  /** What summaries, facts and vectors have cost today, of each cap that holds for the session. */
  spend: (session: string) => safely(sessions.spend({ path: at(session) })),
  /** Sets the owner and the title, or removes them (`null`). */
  describe: (session: string, change: OperationOptions<typeof schemas.Description>) =>
    safely(sessions.describe({ path: at(session), payload: change })),
  /** Starts the session `to` as a copy. */
  fork: (session: string, to: string, options: OperationOptions<typeof schemas.Fork, "to"> = {}) =>
    once(sessions.fork({ path: at(session), payload: { ...options, to } })),
  /** Deletes a session; `false` if there was none. */
  delete: async (session: string) => (await safely(sessions.delete({ path: at(session) }))).deleted,
  /** Every event of an owner, of all sessions. Rejects unless all of them came. */
  eventsOf: async (owner: string) => eventsIn(await safely(owners.eventsOf({ path: by(owner) }))),
  /** Deletes everything of an owner, and answers how many sessions there were. */
  deleteOf: async (owner: string) => (await safely(owners.deleteOf({ path: by(owner) }))).deleted,
  /** Whether the store of the service answers. Rejects if it does not. */
  ready: async () => void (await once(service.ready())),
  /** The strategy of the service with its settings, and the forms of all strategies. */
  settings: () => safely(service.settings()),
  /** Sets the strategy and its settings. */
  changeSettings: (change: OperationOptions<typeof schemas.SettingsChange>) =>
    safely(service.changeSettings({ payload: change })),
})

/** Erasures, holds, and who did what. */
const governanceOperations = ({ requests: { governance }, once, safely }: Calls) => ({
  /** Who did what with a session. */
  audit: (session: string) => safely(governance.audit({ path: at(session) })),
  /** Who did what with an owner, and with each session of the owner. */
  auditOf: (owner: string) => safely(governance.auditOf({ path: by(owner) })),
  /** Erases an owner from every copy of a sealed store, and answers with the receipt. `after` is in milliseconds. */
  erase: (owner: string, options: OperationOptions<typeof schemas.Erase>) =>
    once(governance.erase({ path: by(owner), payload: options })),
  /** Takes an erasure back, and answers how many keys are in use again. */
  restore: async (owner: string, options: OperationOptions<typeof schemas.RestoreOwner> = {}) =>
    (await once(governance.restore({ path: by(owner), payload: options }))).keys,
  /** Holds a session for a reason; `null` ends the hold. */
  hold: async (session: string, reason: string | null) =>
    void (await safely(governance.hold({ path: at(session), payload: { reason } }))),
  /** Holds an owner for a reason; `null` ends the hold. */
  holdOf: async (owner: string, reason: string | null) =>
    void (await safely(governance.holdOf({ path: by(owner), payload: { reason } }))),
})

/** What is said in a session. */
const conversationOperations = <Message extends object, Messages>(
  { requests: { conversation }, once, safely }: Calls,
  urlParams: { readonly format: schemas.Format },
) => {
  const given = (messages: Message | ReadonlyArray<Message>) =>
    messages as unknown as schemas.Append["messages"]
  return {
    /** Appends messages, all or none. Resolves once they are durable. */
    append: (
      session: string,
      messages: Message | ReadonlyArray<Message>,
      options: WriteOptions & OperationOptions<typeof schemas.Append, "messages"> = {},
    ) =>
      safely(
        conversation.append({
          path: at(session),
          urlParams,
          ...written({ ...options, messages: given(messages) }),
        }),
      ),
    /** The messages to send to the model. */
    context: async (session: string, options: OperationOptions<typeof schemas.ContextQuery> = {}) =>
      (await safely(
        conversation.context({ path: at(session), urlParams: { ...options, ...urlParams }, headers: {} }),
      )) as WithMessages<typeof schemas.Context.Type, Messages>,
    /** The conversation as it was said, page by page from its end. */
    messages: async (session: string, options: OperationOptions<typeof schemas.PageQuery> = {}) =>
      (await safely(
        conversation.messages({ path: at(session), urlParams: { ...options, ...urlParams }, headers: {} }),
      )) as WithMessages<typeof schemas.MessagePage.Type, Messages>,
    /** Makes the conversation consist of these messages. What is new is appended; where it differs, it goes on as a branch. */
    replace: (
      session: string,
      messages: ReadonlyArray<Message>,
      options: Pick<WriteOptions, "idempotencyKey"> &
        OperationOptions<typeof schemas.Replace, "messages"> = {},
    ) =>
      safely(
        conversation.replace({
          path: at(session),
          urlParams,
          ...written({ ...options, messages: given(messages) as ReadonlyArray<schemas.Json> }),
        }),
      ),
    /** Goes on from an earlier place with other messages, as a branch. */
    edit: (
      session: string,
      from: MessageName,
      messages: Message | ReadonlyArray<Message>,
      options: WriteOptions & OperationOptions<typeof schemas.Edit, "from" | "messages"> = {},
    ) =>
      safely(
        conversation.edit({
          path: at(session),
          urlParams,
          ...written({ ...options, from, messages: given(messages) }),
        }),
      ),
    /** Goes back to before an answer. */
    regenerate: (session: string, options: WriteOptions & OperationOptions<typeof schemas.Regenerate> = {}) =>
      safely(conversation.regenerate({ path: at(session), ...written(options) })),
    /** The branch in force, and the branches that were left. */
    branches: async (session: string) =>
      (await safely(conversation.branches({ path: at(session) }))).branches,
    /** Returns to a branch that was left. */
    checkout: (
      session: string,
      branch: number,
      options: OperationOptions<typeof schemas.Checkout, "branch"> = {},
    ) => safely(conversation.checkout({ path: at(session), payload: { ...options, branch } })),
    /** Takes back the newest compaction, edit, regeneration, checkout or clear. */
    undo: (session: string, options: OperationOptions<typeof schemas.Undo> = {}) =>
      once(conversation.undo({ path: at(session), payload: options })),
    /** Starts the session over. */
    clear: (session: string) => once(conversation.clear({ path: at(session) })),
    /** Erases the text of a message from the store. */
    redact: (session: string, message: MessageName) =>
      safely(conversation.redact({ path: at(session), payload: { message } })),
  }
}

/** What is remembered of a session. */
const memoryOperations = <Messages>(
  { requests: { memory, sessions }, once, safely }: Calls,
  urlParams: { readonly format: schemas.Format },
) => ({
  /** Searches the messages of a session. */
  recall: async (
    session: string,
    query: string,
    options: OperationOptions<typeof schemas.Recall, "query"> = {},
  ) =>
    (await safely(
      memory.recall({ path: at(session), urlParams, payload: { ...options, query } }),
    )) as unknown as Found<typeof schemas.Recalled.Type, Messages>,
  /** Searches all sessions of an owner. */
  recallOf: async (
    owner: string,
    query: string,
    options: OperationOptions<typeof schemas.OwnerRecall, "owner" | "query"> = {},
  ) =>
    (await safely(
      sessions.recallOf({ urlParams, payload: { ...options, owner, query } }),
    )) as unknown as Found<typeof schemas.OwnerRecalled.Type, Messages>,
  /** Every summary that the session ever had, oldest first. */
  summaries: async (session: string) => (await safely(memory.summaries({ path: at(session) }))).summaries,
  /** Runs compactions, whether they are due or not. */
  compact: async (session: string, options: OperationOptions<typeof schemas.Compact> = {}) =>
    (await once(memory.compact({ path: at(session), payload: options }))).outcomes,
  /** Every version of a session with the size of its context, and every compaction. */
  timeline: (session: string) => safely(memory.timeline({ path: at(session), headers: {} })),
  /** Which messages each sentence of a text, or of a summary, rests on. */
  trace: (session: string, what: string | { readonly summary: string }) =>
    safely(memory.trace({ path: at(session), payload: typeof what === "string" ? { text: what } : what })),
  /** The summaries that cover the message with this index, each with the sentences that rest on it. */
  traceMessage: async (session: string, message: number) =>
    (await safely(memory.traceMessage({ path: { ...at(session), message } }))).summaries,
  /** The session under a strategy, call by call; `strategy: null` is the full history. */
  compare: (session: string, options: OperationOptions<typeof schemas.Compare>) =>
    safely(memory.compare({ path: at(session), payload: options })),
  /** What `compact` would do; nothing is written. */
  preview: async (session: string, options: OperationOptions<typeof schemas.Preview> = {}) =>
    (await safely(
      memory.preview({ path: at(session), payload: { ...options, ...urlParams } }),
    )) as PreviewWithMessages<Messages>,
  /** Takes compactions back, and answers how many. */
  revert: async (session: string, options: OperationOptions<typeof schemas.Revert> = {}) =>
    (await once(memory.revert({ path: at(session), payload: options }))).reverted,
  /** The facts of a session that are true, with their quotes; none without memory layers. */
  facts: async (session: string, urlParams: typeof schemas.FactsQuery.Type = {}) =>
    (await safely(memory.facts({ path: at(session), urlParams }))).facts,
  /** The facts about an owner that are true, of all sessions. */
  factsOf: async (owner: string, urlParams: typeof schemas.FactsQuery.Type = {}) =>
    (await safely(memory.factsOf({ path: by(owner), urlParams }))).facts,
  /**
   * Removes a fact that is wrong, over, or must not be known (`as: "redacted"`, which needs the right to erase); `false` if there was
   * none.
   */
  removeFact: async (
    session: string,
    fact: string,
    {
      as,
      ...urlParams
    }: Omit<typeof schemas.RemoveFactQuery.Type, "as"> & {
      readonly as?: "ended" | "retracted" | "redacted" | undefined
    } = {},
  ) => {
    const path = factAt(session, fact)
    const request =
      as === "redacted"
        ? memory.redactFact({ path })
        : memory.removeFact({ path, urlParams: { as, ...urlParams } })
    return (await safely(request)).deleted
  },
  /** Notes that somebody has judged a fact to be true; `false` if there is none, or it was confirmed before. */
  confirmFact: async (session: string, fact: string) =>
    (await once(memory.confirmFact({ path: factAt(session, fact) }))).confirmed,
  /** Takes back the newest end or retraction of a fact; `false` if there is none. */
  revertFact: async (session: string, fact: string) =>
    (await once(memory.revertFact({ path: factAt(session, fact) }))).reverted,
  /**
   * Learns the facts of an owner, or with `of: "session"` of a session without one, anew, by the extractor of the service, and answers
   * how many would come, go and change.
   */
  rebuildFacts: (owner: string, urlParams: typeof schemas.RebuiltQuery.Type = {}) =>
    once(memory.rebuildFacts({ path: by(owner), urlParams })),
  /** What would change if the facts that were learned anew were taken; `null` if none were. */
  diffFacts: async (owner: string, urlParams: typeof schemas.RebuiltQuery.Type = {}) =>
    (await safely(memory.diffFacts({ path: by(owner), urlParams }))).diff,
  /** Puts the facts that were learned anew in the place of those in force; `false` if there are none. */
  takeFacts: async (owner: string, urlParams: typeof schemas.RebuiltQuery.Type = {}) =>
    (await once(memory.takeFacts({ path: by(owner), urlParams }))).taken,
  /** Drops the facts that were learned anew; `false` if there are none. */
  dropFacts: async (owner: string, urlParams: typeof schemas.RebuiltQuery.Type = {}) =>
    (await once(memory.dropFacts({ path: by(owner), urlParams }))).dropped,
  /** Tools of recall for the model, in the formats of the providers. */
  tools: () => safely(memory.tools()),
  /** Answers a call of one of these tools. */
  callTool: async (
    session: string,
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: OperationOptions<typeof schemas.ToolCall, "name" | "arguments"> = {},
  ) =>
    (await safely(memory.callTool({ path: at(session), payload: { ...options, name, arguments: input } })))
      .text,
})

/** The log: the events of sessions, and what groups of the feed have not taken. */
const logOperations = ({ requests: { log }, once, safely }: Calls) => ({
  /** A page of the events of a session, which is short where events are large. */
  events: async (session: string, query: OperationOptions<typeof schemas.EventQuery> = {}) =>
    (await safely(log.events({ path: at(session), urlParams: query }))).events,
  /** The events that a group has given up, the oldest first; behind the `id` of the last one that is known. */
  givenUp: async (group: string, query: OperationOptions<typeof schemas.GivenUpQuery> = {}) =>
    (await safely(log.givenUp({ path: { group: inPath("group", group) }, urlParams: query }))).givenUp,
  /** Deletes a group of the feed: a group of this name begins anew. */
  deleteGroup: (group: string) => once(log.deleteGroup({ path: { group: inPath("group", group) } })),
  /** A page of the feed, which is short where events are large; `wait` seconds for an event where there is none. `after` of the answer asks for the next page. */
  feedPage: (query: OperationOptions<typeof schemas.FeedQuery> = {}) =>
    safely(log.feed({ urlParams: query, headers: {} })),
})

/**
 * Makes a client. It has the operations of a memory of `createMemory`, over HTTP. Reads, and writes with a key, are tried again when
 * the service cannot be reached.
 *
 * Messages have the types of your provider's client: `createClient<ChatCompletionMessageParam>({ url })`. `Messages` is
 * what a context has: a list by default, and for `format: "anthropic"` an object with the system prompt.
 *
 * @param options - where the service is, the token, and the format of messages
 * @returns the client. Each operation rejects with `ServiceError`
 * @throws ServiceError: an option is not allowed, or there is none of that name
 *
 * @example
 * ```ts
 * import { createClient } from "@memfold/client"
 *
 * const memory = createClient({ url: "http://127.0.0.1:4710" })
 * await memory.append("chat-1", { role: "user", content: "My order is KX-4471." })
 * const { messages, tokens } = await memory.context("chat-1")
 * console.log(messages, tokens)
 * ```
 */
export const createClient = <
  Message extends object = Record<string, unknown>,
  Messages = ReadonlyArray<Message>,
>(
  options: ClientOptions,
) => {
  const calls = makeCalls(options)
  const { authorization, fetch } = calls
  const inFormat = { format: options.format ?? "openai" }
  const follow = async function* <Recorded>(
    path: () => string,
    signal: AbortSignal | undefined,
    after?: string,
  ): AsyncGenerator<Recorded, void, undefined> {
    const stop = new AbortController()
    const abort = () => stop.abort()
    signal?.addEventListener("abort", abort)
    if (signal?.aborted === true) abort()
    const url = `${options.url.replace(/\/$/, "")}${path()}`
    try {
      yield* followChanges<Recorded>({ url, headers: authorization, fetch, after }, stop.signal)
    } finally {
      signal?.removeEventListener("abort", abort)
      abort()
    }
  }
  return {
    ...rejecting({
      ...sessionOperations(calls),
      ...governanceOperations(calls),
      ...conversationOperations<Message, Messages>(calls, inFormat),
      ...memoryOperations<Messages>(calls, inFormat),
      ...logOperations(calls),
    }),
    /**
     * The events of a session as they come, each once and in order, from `fromVersion` on (1). When the connection breaks, it goes on
     * behind the last event. The loop ends at `break`, or when the signal is aborted.
     */
    changes: (
      session: string,
      { fromVersion = 1, signal }: { readonly fromVersion?: number; readonly signal?: AbortSignal } = {},
    ) =>
      follow<schemas.RecordedEvent>(
        () => `/v1/sessions/${inPath("session", session)}/changes?fromVersion=${fromVersion}`,
        signal,
      ),
    /**
     * The events of all sessions in one order, and then new ones as they come, from behind `after` on, the `position` of an event. When
     * the connection breaks, it goes on behind the last event. The loop ends at `break`, or when the signal is aborted.
     */
    feed: ({ after, signal }: { readonly after?: string; readonly signal?: AbortSignal } = {}) =>
      follow<schemas.FedEvent>(() => "/v1/feed", signal, after),
    /**
     * The events of all sessions, for one of a group of consumers: the service keeps how far the group has come, by what `handle` returns. One
     * consumer has its turn at a time, and another one takes over when it ends or is killed. It goes on over services that start again, and
     * ends when the signal is aborted, or `handle` fails.
     */
    consume: (group: string, handle: Consumer, options: ConsumeOptions = {}) =>
      consume(calls, group, handle, options),
    /**
     * Hands over what a group has given up, each event once, the oldest first, also while the group goes on. What `handle` takes is no longer
     * given up; what it fails for stays so.
     */
    redeliver: (group: string, handle: (events: ReadonlyArray<schemas.FedEvent>) => unknown) =>
      redeliver(calls, group, handle),
  }
}

/** A client, as {@link createClient} makes it. */
export type Client<
  Message extends object = Record<string, unknown>,
  Messages = ReadonlyArray<Message>,
> = ReturnType<typeof createClient<Message, Messages>>
