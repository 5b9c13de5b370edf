/** The memory for programs that do not use Effect: what it is made of, and what it can do. */
import type {
  BudgetOutcome,
  EventCodec,
  EventLog,
  Memory,
  Outcome,
  Planned,
  Render,
  Session,
  Strategy,
  SubscribeOptions,
  TokenCounter,
  Verdict,
  Wording,
} from "@memfold/core"
import type * as Layers from "@memfold/layers"
import type { Layer } from "effect"
import type { Formats } from "./formats.js"
import type { GivenSummarizer } from "./models.js"

/** What an application has a say in, with plain functions or asynchronous ones. */
export interface AsyncHooks {
  readonly beforeCompaction?: (planned: Planned) => Promise<Verdict> | Verdict
  readonly afterCompaction?: (ended: {
    readonly session: string
    readonly outcome: Outcome
  }) => Promise<void> | void
}

/** What a memory is made of. Everything has a default but the store. */
export interface CreateOptions<Format extends keyof Formats = "openai"> extends Partial<
  Omit<Memory.Options, "strategy" | "wording" | "hooks" | "shadow">
> {
  /** `memory:`, `sqlite:PATH`, `redis://HOST`, or an event log layer of your own. */
  readonly store: string | Layer.Layer<EventLog.EventLog, EventLog.LogError>
  /**
   * When to compact, what stays, and how it is folded: a strategy, or the name of a shipped one; the sliding window
   * by default.
   */
  readonly strategy?: Strategy.Strategy | string
  /**
   * Settings of a strategy given by its name: what a settings file holds, parsed, in camelCase or snake_case. They
   * come before the environment and the defaults; names nobody knows are passed over.
   */
  readonly settings?: object
  /** How summaries are worded, in place of the strategy's own way: the name of a preset, or a wording. */
  readonly wording?: keyof typeof Wording.presets | Wording.Wording
  /**
   * `extractive` (default; no model, no network), `echo`, a function that asks a model, or a service. Of several, each
   * is asked when the one before it has failed.
   */
  readonly summarizer?: GivenSummarizer | ReadonlyArray<GivenSummarizer>
  /**
   * What is known of the user and the scope: learned after each round, recalled into contexts. `true` for rules that
   * need no model; off by default.
   */
  readonly layers?: boolean | Layers.Options
  /** What is asked before compactions, and told after them. One that throws has said nothing. */
  readonly hooks?: AsyncHooks
  /** A strategy that decides alongside and does nothing, to be compared in the metrics and the log. */
  readonly shadow?: Strategy.Strategy | string
  /** Counts tokens; a multilingual estimate by default. */
  readonly tokenCounter?: TokenCounter.Service
  /** The form of the messages that go in and come out; OpenAI's Chat Completions by default. */
  readonly format?: Format
}

/** A context in the format of the memory, with its layout. */
export interface FormattedContext<Format extends keyof Formats> {
  readonly messages: Formats[Format]["context"]
  readonly layout: ReadonlyArray<Render.Section>
  readonly tokens: number
  /** How the context came to terms with the memory's budget, where it has one. */
  readonly budget?: BudgetOutcome
}

/** For one request alone; the session does not remember it. */
export interface RequestOptions {
  /** Another strategy than the memory's. */
  readonly strategy?: Strategy.Strategy | string
  /** Settings that come before the memory's own; the strategy has to be given by its name. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A memory with Promises. Every method rejects with the typed errors of `@memfold/core`. */
export interface PromiseMemory<Format extends keyof Formats> {
  /** Appends messages, all or none; resolves once they are durable. A commit id makes a retry harmless. */
  append(
    session: string,
    messages: Formats[Format]["given"] | ReadonlyArray<Formats[Format]["given"]>,
    options?: RequestOptions & { readonly idempotencyKey?: string },
  ): Promise<Memory.AppendedMessages>
  /** What the model should get now, or would have got at a version. */
  context(
    session: string,
    options?: RequestOptions & Memory.AtVersionOptions,
  ): Promise<FormattedContext<Format>>
  state(session: string, options?: Memory.AtVersionOptions): Promise<Session.SessionState>
  /** The decoded events of a session, in order. */
  events(session: string, options?: EventLog.ReadOptions): AsyncIterable<EventCodec.RecordedEvent>
  /** Every summary the session ever had, oldest first, with what has become of each. */
  summaries(session: string): Promise<ReadonlyArray<Session.SummaryRecord>>
  /** Finishes every compaction that is due. */
  compactDue(session: string, options?: RequestOptions): Promise<ReadonlyArray<Outcome>>
  /** Compacts now, whatever the trigger says. */
  compact(session: string, options?: RequestOptions & { readonly instructions?: string }): Promise<Outcome>
  /** The events that are there, and then those that come, without a gap; break out of the loop to end it. */
  subscribe(session: string, options?: SubscribeOptions): AsyncIterable<EventCodec.RecordedEvent>
  /** The facts that the memory layers know for a session. */
  facts(session: string): Promise<ReadonlyArray<Session.KnownFact>>
  /** Takes a wrong or outdated fact out of force; `false` if the session knows no such fact. */
  removeFact(session: string, fact: string, options?: { readonly reason?: string }): Promise<boolean>
  /** Takes compactions back: to an earlier summary, or to the raw messages. */
  revert(
    session: string,
    options?: { readonly toSummary?: string | null; readonly pauseFor?: number },
  ): Promise<number>
  /** Takes every compaction back and compacts anew from the raw log. */
  recompact(session: string, options?: RequestOptions): Promise<ReadonlyArray<Outcome>>
  /** Begins the session `to` with the events of this one, up to a version where one is given. */
  fork(session: string, to: string, options?: Memory.AtVersionOptions): Promise<number>
  /** Forgets a message: its words leave the log, its summaries and its facts. */
  redact(session: string, index: number): Promise<{ readonly invalidated: number }>
  /** Starts the session over; the log keeps what was. */
  clear(session: string): Promise<void>
  /** Removes the session with its log; `false` if there was none. */
  delete(session: string): Promise<boolean>
  sessions(): AsyncIterable<EventLog.SessionInfo>
  /** Ends the compactions that are running and closes the store. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
