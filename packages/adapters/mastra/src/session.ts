/** A stored session, as Mastra reads and writes it. */
import { changeOf, resentBehind, textsBehind, withUnseen } from "@memfold/ai-sdk/codec"
import {
  asStored,
  type ContextParts,
  goBack,
  isSame,
  lateResults,
  type PlaceOfCall,
  StoredSession,
} from "@memfold/codec"
import { type Memory, Message, type Session } from "@memfold/core"
import type { MastraDBMessage } from "@mastra/core/agent"
import { Either } from "effect"
import { decodeMessages } from "./decode.js"
import { encodeMessages, positionId } from "./encode.js"
import { formOf, idOf, withForm } from "./form.js"
import { saysNothing } from "./parts.js"
import { encodePrompt, type Prompt, type Target } from "./prompt.js"

/** The context of a session as a prompt, and what it consists of. */
export interface RenderedPrompt extends ContextParts {
  readonly prompt: Prompt
}

type Messages = ReadonlyArray<Message.Message>

/** A step that has only begun, or failed: Mastra adds its beginning to the answer before the model is called. */
const isEmpty = ({ role, parts }: Message.Message): boolean => role !== "user" && parts.every(saysNothing)

const idsOf = (results: ReadonlyArray<Message.ToolResult>): Array<string> => results.map(({ id }) => id)

/** Results with one for each call: Mastra keeps one of calls of an answer that have the same id, and the others would wait for ever. */
const withTwins = (results: Message.Message, answer: Message.Message | undefined): Message.Message => {
  if (results.role !== "tool" || answer === undefined) return results
  const own = Message.results(results)
  const left = idsOf(own)
  const twins = Message.calls(answer).flatMap(({ id }) => {
    const at = left.indexOf(id)
    if (at !== -1) left.splice(at, 1)
    return at === -1 ? own.filter((one) => one.id === id).slice(0, 1) : []
  })
  return twins.length === 0 ? results : { ...results, parts: [...results.parts, ...twins] }
}

/** The messages that a message of Mastra stands for, without steps in which nothing was said. */
const decoded = (message: MastraDBMessage): Messages =>
  Either.getOrThrowWith(decodeMessages([message]), (error) => error)
    .map((one, at, all) => withTwins(one, all[at - 1]))
    .filter((one) => !isEmpty(one))

/** The id of a stored message for Mastra. */
const idAt = (message: Message.Message, index: number): string => idOf(message) ?? positionId(index)

const byId = (stored: Messages): ReadonlyMap<string, Messages> => {
  const found = new Map<string, Array<Message.Message>>()
  for (const message of stored) {
    const id = idOf(message)
    if (id !== undefined) found.set(id, [...(found.get(id) ?? []), message])
  }
  return found
}

/** The ids of the calls and results since the last message of a user. */
interface Turn {
  readonly calls: ReadonlySet<string>
  readonly results: ReadonlyArray<string>
}

const turnOf = (stored: Messages): Turn => {
  const since = stored.slice(stored.findLastIndex(({ role }) => role === "user") + 1)
  return {
    calls: new Set(since.flatMap(Message.calls).map(({ id }) => id)),
    results: idsOf(since.flatMap(Message.results)),
  }
}

const withoutResults = (message: Message.Message, ids: Array<string>): ReadonlyArray<Message.Message> => {
  const parts = message.parts.filter((part) => {
    const at = part.type === "tool-result" ? ids.indexOf(part.id) : -1
    if (at !== -1) ids.splice(at, 1)
    return at === -1 && part.type === "tool-result"
  })
  return parts.length === 0 ? [] : [{ ...message, parts }]
}

/** What a message says, without when and how it was written: Mastra dates each part of a request anew. */
const saidIn = ({ parts }: Message.Message): ReadonlyArray<unknown> =>
  parts.map(({ providerData: _providerData, ...part }) => (part.type === "opaque" ? part.data : part))

/**
 * The steps of an answer that are not stored: the messages behind its stored messages, and results that have come since.
 * Stored results without a step in front of them belong to calls that are stored under another id.
 */
const newSteps = (answer: Messages, stored: Messages): Messages => {
  const left = [...stored]
  return answer.flatMap((message) => {
    const [next] = left
    if (message.role === "tool") {
      const end = left.findIndex(({ role }) => role !== "tool")
      const before = left.splice(0, end === -1 ? left.length : end)
      return before.length === 0 ? [message] : withoutResults(message, idsOf(before.flatMap(Message.results)))
    }
    if (next?.role !== "tool") return left.shift() === undefined ? [message] : []
    const answered = new Set(idsOf(Message.results(next)))
    return Message.calls(message).some(({ id }) => answered.has(id)) ? [] : [message]
  })
}

/**
 * The steps that are new of an answer that the application sends back under an id of its own, with results of tools that it ran
 * itself: the session has its calls.
 */
const newAnswers = (answer: Messages, { calls, results }: Turn): Messages => {
  const known = answer.filter((message) => {
    const own = Message.calls(message)
    return own.length > 0 && own.every(({ id }) => calls.has(id))
  })
  const said = new Set(known.flatMap(Message.calls).map(({ id }) => id))
  const done = results.filter((id) => said.has(id))
  return answer.flatMap((message) => {
    if (message.role !== "tool") return known.includes(message) ? [] : [message]
    const ofKnown = Message.results(message).some(({ id }) => said.has(id))
    return ofKnown ? withoutResults(message, done) : [message]
  })
}

/** The steps in front of the first step that has a call without a result. */
const finished = (answer: Messages): Messages => {
  const done = new Set(idsOf(answer.flatMap(Message.results)))
  const open = answer.findIndex((message) => Message.calls(message).some(({ id }) => !done.has(id)))
  return open === -1 ? answer : answer.slice(0, open)
}

/** A message of a call of an agent, as messages of a session. */
interface CallMessage {
  readonly messages: Messages
  /** Whether the application sent it, and no model of this call. */
  readonly sent: boolean
}

/** The messages of an agent's call that the session does not have. */
const newOf = (given: ReadonlyArray<CallMessage>, stored: Messages, ended: boolean): Messages => {
  const known = byId(stored)
  const turn = turnOf(stored)
  const groups = given.map(({ messages, sent }) => {
    const [first] = messages
    const before = known.get(first === undefined ? "" : (idOf(first) ?? "")) ?? []
    if (first?.role === "assistant") {
      const left = sent && before.length === 0 ? newAnswers(messages, turn) : newSteps(messages, before)
      return { messages: left, known: before.length > 0 || left.length < messages.length }
    }
    const isStored = first !== undefined && before.some((one) => isSame(saidIn(one), saidIn(first)))
    return { messages: isStored ? [] : messages, known: isStored }
  })
  // What stands before a message that is stored was taken back, or is older than the messages that are looked at.
  const last = groups.findLastIndex((group) => group.known)
  return groups
    .filter((group, index) => group.known || index > last)
    .flatMap(({ messages }) => (ended ? messages : finished(messages)))
}

/** A message of Mastra, and the messages of a session that it stands for. */
export interface GivenMessage {
  readonly message: MastraDBMessage
  readonly id: string
  readonly role: string
  readonly messages: Messages
}

const isEdited = ({ messages: [given] }: GivenMessage, stored: { readonly messages: Messages }): boolean =>
  given !== undefined &&
  !stored.messages.some((one) => one.role === given.role && isSame(saidIn(one), saidIn(given)))

/** How many stored messages are read to find a message that has been edited. */
const farBack = 1_000

/** The messages of an application without ids that a session has, and whether it has the answer to them, too. */
const knownByText = (
  sent: ReadonlyArray<GivenMessage>,
  stored: Messages,
): { readonly ids: ReadonlyArray<string>; readonly isAnswered: boolean } => {
  for (let at = sent.length - 1; at >= 0; at--) {
    const answer = sent[at]!.messages.findLast(({ role }) => role === "assistant")
    if (answer === undefined) continue
    const behind = sent.slice(at + 1)
    const given = behind.flatMap(({ messages }) => messages)
    const resent = resentBehind(Message.text(answer), given, stored)
    if (resent === null) continue
    let left = resent.known
    const known = behind.filter(({ messages }) => (left -= messages.length) >= 0)
    const ids = [...sent.slice(0, at + 1), ...known].map(({ id }) => id)
    return { ids, isAnswered: resent.isAnswered }
  }
  return { ids: [], isAnswered: false }
}

/** What a list of an application is, compared with the session. */
export interface Received {
  /** The ids of messages that the session has under other ids. */
  readonly known: ReadonlyArray<string>
  /** The ids of messages that another page has sent a moment ago, and this one did not see. */
  readonly unseen?: ReadonlyArray<string> | undefined
}

/** A session of a memory. It keeps nothing, so it costs nothing to make one. */
export class MastraSession {
  constructor(
    private readonly memory: Memory.AnyMemory,
    readonly id: string,
    private readonly stored = new StoredSession(memory, id, "mastra"),
  ) {}

  private with(stored: StoredSession): MastraSession {
    return new MastraSession(this.memory, this.id, stored)
  }

  /** The session as this process knows it. */
  get known(): MastraSession {
    return this.with(this.stored.known)
  }

  /** Runs work that stores what is new in what it is given, as {@link StoredSession.compare}. */
  compare(work: (session: MastraSession) => Promise<void>): Promise<void> {
    return this.stored.compare((stored) => work(this.with(stored)))
  }

  /** Runs work behind all earlier work of this process on the session. */
  inOrder<A>(work: () => Promise<A>): Promise<A> {
    return this.stored.inOrder(work)
  }

  async read(target: Target): Promise<RenderedPrompt & { readonly prefix: Session.Prefix }> {
    const { encoded, ...context } = await this.stored.context(({ messages }) =>
      encodePrompt(messages, target),
    )
    return { prompt: encoded.prompt, ...context }
  }

  /** The messages of a call, each as the session stores it. */
  async given(list: ReadonlyArray<MastraDBMessage>): Promise<ReadonlyArray<GivenMessage>> {
    const all = list.map(decoded)
    const stored = await asStored(this.stored, all.flat())
    let from = 0
    return list.map((message, at) => {
      const messages = stored.slice(from, (from += all[at]!.length))
      const { role = "user" } = messages[0] ?? {}
      return { message, id: message.id, role: role === "tool" ? "assistant" : role, messages }
    })
  }

  /**
   * Makes the session what the application shows, when a call of an agent begins: if the application edited a message, took
   * messages back or asks for another answer, the conversation goes on from that place.
   *
   * @param given the messages that the application sent
   */
  async receive(given: ReadonlyArray<GivenMessage>): Promise<Received> {
    const { memory, id } = this.stored
    const sent = given.filter(({ messages }) => messages.length > 0)
    const ids = new Set(sent.map((one) => one.id))
    const limit = 100 + sent.length
    let { messages, from, before, total } = await memory.messages(id, { limit })
    if (total === 0) return { known: [] }
    const isNamed = () => messages.some((one, position) => ids.has(idAt(one, from + position)))
    if (!isNamed()) {
      const known = knownByText(sent, messages)
      if (known.isAnswered) await memory.regenerate(id)
      if (known.ids.length > 0 || sent.length < 2) return { known: known.ids }
    }
    const answer = sent.findLast(({ role }) => role === "assistant")?.id
    const isAnswer = (message: Message.Message, index: number) => idAt(message, index) === answer
    if (answer !== undefined && (await goBack(this.stored, isAnswer, { messages, from })))
      ({ messages, from, before } = await memory.messages(id, { limit }))
    if (!isNamed()) {
      if (before === null) return { known: [] }
      const page = await memory.messages(id, { limit: farBack, before })
      messages = [...page.messages, ...messages]
      ;({ from } = page)
      if (!isNamed()) return { known: [] }
    }
    const options = { idOf: positionId, isWhole: true, regenerates: false, isEdited }
    const change = changeOf(sent, { messages, from }, options)
    if (change.from === null) return { known: [], unseen: change.unseen }
    const added = change.added.flatMap((one) => {
      if ("stored" in one) return [one.stored]
      return "page" in one ? one.page.messages : textsBehind(one.answer.messages, one.behind)
    })
    await this.stored.editShown(change.from, added)
    return { known: [] }
  }

  branch(): Promise<number> {
    return this.stored.branch()
  }

  /** Whether what a call produces belongs to no question any more. */
  isLeft(call: PlaceOfCall): Promise<boolean> {
    return this.stored.isLeft(call)
  }

  /**
   * Stores the messages of a call of an agent that are new.
   *
   * @param sent the ids of the messages that the application sent
   * @param unseen the ids of messages of another page that the application did not see
   * @param ended whether the call is over: then calls that wait for a result of the application are stored, too
   * @param prefix what the newest answer was produced behind, if it is known
   */
  async save(
    messages: ReadonlyArray<GivenMessage>,
    {
      sent,
      unseen,
      ended,
      prefix,
    }: {
      readonly sent: ReadonlySet<string>
      readonly unseen?: ReadonlyArray<string> | undefined
      readonly ended: boolean
      readonly prefix: Session.Prefix | undefined
    },
  ): Promise<void> {
    const given = messages.map((one) => ({ ...one, sent: sent.has(one.id) }))
    const all = given.flatMap((one) => one.messages)
    const newest = await this.stored.newestPage(all.length)
    const found = newOf(given, newest.messages, ended)
    const fresh = found[0]?.role === "user" ? withUnseen(found, unseen) : found
    const forms = new Map(all.map((one) => [idOf(one), formOf(one)] as const))
    const formed = fresh.map((message, index) => {
      // Each append says the other fields of its messages, as they are now.
      const next = fresh[index + 1]
      const isLast = next === undefined || idOf(next) !== idOf(message)
      const form = isLast ? forms.get(idOf(message)) : undefined
      return form === undefined ? message : withForm(message, form)
    })
    const { keep, added } = lateResults(newest.messages, formed)
    if (keep < newest.messages.length) return void (await this.stored.editShown(newest.from + keep, added))
    await this.stored.append(formed, {
      idempotencyKey: this.stored.keyOf("call", formed),
      prefix: fresh[0]?.role === "assistant" ? prefix : undefined,
    })
  }

  /** The whole conversation, covered messages included, as messages of Mastra. */
  async all(): Promise<Array<MastraDBMessage>> {
    const { messages, times } = await this.stored.all()
    return encodeMessages(messages, { times })
  }
}
