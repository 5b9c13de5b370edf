/** From the request of a client to the request that goes upstream: parsed, its session followed, and composed anew. */
import { type Fields, isFields } from "@memfold/codec"
import { Memory, type Message, type Render } from "@memfold/core"
import { inSteps, type Steps } from "@memfold/log/breathe"
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Addressed } from "./address.js"
import { type Begins, MayNotBegin } from "./begins.js"
import { compose, type Parsed } from "./compose.js"
import type { Dialect } from "./dialects.js"
import { isAlike } from "./conversation.js"
import type { Follower } from "./Follower.js"
import { asStored, keysOf } from "./KnownSessions.js"
import { type Named, sessionOf } from "./names.js"
import { type Doubt, jsonOf, parse } from "./parse.js"
import type { Followed, Given } from "./place.js"
import type { Speaker } from "./speaker.js"

/** A request of a client, and who sends it. */
export interface Incoming extends Addressed {
  readonly request: IncomingMessage
  /** How long the upstream may be silent, in milliseconds. */
  readonly patience: number | undefined
  readonly prefix: string
  readonly speaker: Speaker
  readonly mayBegin: Begins
  /** Ends the work on the request: its client has left. */
  readonly signal: AbortSignal
}

/** A request with a conversation. */
export interface Conversing extends Incoming {
  readonly dialect: Dialect
}

export interface Following {
  readonly memory: Memory.Service
  readonly follower: Follower
}

/** A request as it goes upstream. */
export interface Prepared {
  readonly session: string
  /** Its id as the client knows it. */
  readonly name: string
  readonly followed: Followed
  readonly context: Render.Context
  readonly text: string
  /** What goes upstream, if the list in `text` was written in a shorter way. */
  readonly sent: string
  readonly before: number
  /** What the conversation said when the model was asked. */
  readonly asked: ReadonlyArray<string>
}

/** A request passes as it came, which is known only once its session was looked at. */
class Doubtful extends Error {
  override readonly name = "Doubtful"
  constructor(readonly doubt: string) {
    super(`the request passes as it came: ${doubt}`)
  }
}

/** The names of tools, also of those in a namespace. */
const toolNames = (tools: unknown): ReadonlyArray<unknown> =>
  (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => {
    const { name, function: fn, type, tools: inside } = isFields(tool) ? tool : ({} as Fields)
    return [name ?? (isFields(fn) ? fn["name"] : type), ...toolNames(inside)]
  })

const toolsOf = ({ body, items, from }: Parsed): ReadonlyArray<unknown> => {
  const added = items.slice(0, from).map((item) => (isFields(item) ? item["tools"] : undefined))
  return [body["tools"], ...added].flatMap(toolNames)
}

/** What the model is set to: agents under one session name differ in it. A date or a path in an instruction does not count. */
const settingOf = ({ body, items, from }: Parsed, names: ReadonlyArray<unknown>): string => {
  const instructions = body["system"] ?? body["instructions"] ?? items.slice(0, from)
  const beginning = JSON.stringify(instructions ?? "")
    .replaceAll(/[^a-z]+/gi, " ")
    .slice(0, 400)
  return createHash("sha256")
    .update(JSON.stringify([names, names.length > 0 ? "" : beginning]))
    .digest("hex")
}

/** What a client sends: its conversation, or only what is new. */
const historyOf = ({ headers }: IncomingMessage, { sendsAll }: Named): Given["history"] => {
  const said = headers["x-memfold-history"]
  if (said === "new" || said === "full") return said
  return sendsAll ? "full" : "auto"
}

/** A request in its parts, and the session that it names. */
interface ParsedRequest {
  readonly parsed: Parsed
  readonly named: Named
  readonly messages: ReadonlyArray<Message.Message>
  readonly given: string
}

/** The request in its parts, and the session that it names. Most doubts are its: they are no errors, whose stack would cost time. */
function* parsedOf({ request, dialect }: Conversing, text: string | null): Steps<ParsedRequest | Doubt> {
  if (text === null) return { doubt: "not-text" }
  const body = jsonOf(text)
  if (!isFields(body)) return { doubt: "not-json" }
  const named = sessionOf(request.headers, body)
  if (named === null) return { doubt: "no-session" }
  const parsed = yield* parse(dialect, text)
  if ("doubt" in parsed) return parsed
  return { parsed, named, messages: parsed.units.flatMap((unit) => unit.messages), given: text }
}

const givenIn = (
  { request, prefix, speaker, mayBegin, signal }: Conversing,
  { parsed, named, messages }: ParsedRequest,
): Given => {
  const tools = toolsOf(parsed)
  return {
    session: `${prefix}${named.session}`,
    speaker,
    messages,
    history: historyOf(request, named),
    setting: settingOf(parsed, tools),
    isAside: named.isAgent && tools.length === 0,
    isRetry: Number(request.headers["x-stainless-retry-count"] ?? 0) > 0,
    idempotencyKey: [request.headers["idempotency-key"]].flat()[0],
    mayBegin: (id) => mayBegin(id.slice(prefix.length)),
    signal,
  }
}

/** The session of a request that only counts tokens: nothing is stored. */
const counted = async ({ memory, follower }: Following, given: Given): Promise<Followed> => {
  const session = await follower.ownSession(given)
  const asked = await follower.said(session)
  const keys = await keysOf(await asStored(memory, session, given.messages))
  // Only what is stored word for word is known to go up in another form.
  const isStored =
    asked.length > 0 && asked.length <= keys.length && asked.every((key, at) => isAlike(key, keys[at]))
  if (!isStored) throw new Doubtful("not-stored")
  return { session, how: "append", isWhole: true }
}

/** The request for the upstream, with the context of its session. */
const composed = async (
  { memory, follower }: Following,
  { parsed, given }: ParsedRequest,
  followed: Followed,
  { url, signal }: Conversing,
): Promise<Omit<Prepared, "name">> => {
  const { session, isWhole } = followed
  const asked = await follower.said(session)
  const context = await Memory.asPromise(memory.context(session), signal)
  const text = await Memory.asPromise(
    inSteps(() => compose(parsed, context, isWhole, url.href)),
    signal,
  )
  if (text === null) throw new Doubtful("not-sayable")
  const { appendedTokens: before } = await Memory.asPromise(memory.state(session))
  const sent = text === parsed.text ? given : text
  return { session, followed, context, text, sent, before, asked }
}

/** Why a request passes as it came. A client whose session cannot be read, or written, gets its answer without the memory. */
const doubtOf = (error: unknown): Doubt => {
  if (error instanceof Doubtful) return { doubt: error.doubt }
  return { doubt: error instanceof MayNotBegin ? "too-many-sessions" : "memory-failed" }
}

/**
 * Follows the session of a request, and writes what goes upstream.
 *
 * @param text - the body; `null` if it is no text
 */
export const prepare = async (
  following: Following,
  conversing: Conversing,
  text: string | null,
): Promise<Prepared | Doubt> => {
  try {
    const request = await Memory.asPromise(
      inSteps(() => parsedOf(conversing, text)),
      conversing.signal,
    )
    if ("doubt" in request) return request
    const given = givenIn(conversing, request)
    const followed = conversing.isCounting
      ? await counted(following, given)
      : await following.follower.follow(given)
    const prepared = await composed(following, request, followed, conversing)
    return { ...prepared, name: prepared.session.slice(conversing.prefix.length) }
  } catch (error) {
    return doubtOf(error)
  }
}
