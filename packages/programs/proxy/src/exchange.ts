/** A request that was prepared, forwarded to its upstream, and its answer stored. */
import type { Fields } from "@memfold/codec"
import type { Memory } from "@memfold/core"
import { Clock, Effect } from "effect"
import type { ServerResponse } from "node:http"
import { answerTap } from "./AnswerTap.js"
import { callOf, type Calls } from "./Calls.js"
import { decode, type Usage } from "./dialects.js"
import { differs, type Follower } from "./Follower.js"
import { forward } from "./forward.js"
import { endToEnd, type Field } from "./headers.js"
import { asStored } from "./KnownSessions.js"
import { ownHeaders } from "./names.js"
import type { Conversing, Prepared } from "./prepare.js"
import type { ProxyRecord } from "./ProxyRecord.js"
import type { Savings } from "./Savings.js"

/** Where answers and what they cost are noted. */
export interface Accounts {
  readonly memory: Pick<Memory.Service, "known">
  readonly calls: Calls
  readonly savings: Savings
  readonly follower: Follower
}

const headerText = (text: string): string =>
  /^[\x21-\x7e]{1,200}$/.test(text) ? text : encodeURIComponent(text.toWellFormed()).slice(0, 600)

/** What the client is told beside the answer. Of this answer, the accounts are known when it has ended. */
const answerHeaders = (
  { name, followed, context, before, session }: Prepared,
  savings: Savings,
): ReadonlyArray<Field> => {
  const { cached, written, saved } = savings.of(session)
  return [
    ["x-memfold", "memory"],
    ["x-memfold-session", headerText(name)],
    ["x-memfold-followed", followed.how],
    ["x-memfold-tokens-before", String(before)],
    ["x-memfold-tokens-after", String(context.tokens)],
    ["x-memfold-session-cached", String(cached)],
    ["x-memfold-session-written", String(written)],
    ["x-memfold-session-saved-usd", saved.toFixed(6)],
  ]
}

/** Stores an answer, and notes its call and what it has cost. Returns why it was not stored; `null` if it was. */
const store = async (
  { calls, savings, follower, memory }: Accounts,
  { request, url, dialect, speaker }: Conversing,
  { session, followed, context, text, before, asked }: Prepared,
  answer: Fields,
): Promise<string | null> => {
  const messages = decode(dialect, [answer])
  if (messages === null) return "unreadable"
  const usage = dialect.usage(answer)
  const { model } = JSON.parse(text) as { model?: unknown }
  const time = Effect.runSync(Clock.currentTimeMillis)
  if (usage !== null) savings.call({ session, model, usage, before, after: context.tokens, time })
  const headers = endToEnd(request.rawHeaders, new Set([...ownHeaders, "host", "expect"]))
  const isGuarded =
    followed.isGuarded === true || differs(messages, await asStored(memory, session, messages))
  calls.set(session, callOf({ dialect, url, headers, body: text, isGuarded }, messages))
  return (await follower.answered(session, asked, messages, speaker, context.prefix)) ? null : "not-current"
}

/** Forwards a request, and stores its answer before the client knows that it is whole. */
export const exchange = async (
  accounts: Accounts,
  conversing: Conversing & { readonly response: ServerResponse },
  prepared: Prepared,
): Promise<ProxyRecord> => {
  const { request, response, url, target, patience, path, dialect, isCounting } = conversing
  const { session, followed, context, sent, before } = prepared
  const { savings, follower } = accounts
  const { saved } = savings.of(session)
  let [charged, isStored]: [Usage | null, boolean] = [null, false]
  let notStored: string | null = null
  const tap = answerTap(dialect, {
    onAnswer: async (answer) => {
      charged = dialect.usage(answer)
      // If it fails, the client has its answer all the same. One that sends the whole conversation brings it with the next request.
      notStored = await store(accounts, conversing, prepared, answer).catch(() => "memory-failed")
      isStored = notStored === null
    },
    onNone: (reason) => void (notStored = reason),
  })
  const ending = await forward({
    request,
    response,
    url,
    target,
    patience,
    body: Buffer.from(sent),
    without: ownHeaders,
    answerHeaders: answerHeaders(prepared, savings),
    // The head has gone by now.
    answerTrailers: () => (notStored === null ? [] : [["x-memfold-not-stored", notStored]]),
    ...(isCounting ? {} : { tap }),
  })
  const usage = charged as Usage | null
  if (isStored && ending._tag === "ClientLeft" && ending.dropped > 0) follower.notHeard(session)
  return {
    path,
    session,
    doubt: null,
    how: followed.how,
    ending,
    tokens: { before, after: context.tokens },
    charged: usage === null ? null : { ...usage, saved: savings.of(session).saved - saved },
    isStored,
    notStored,
  }
}
