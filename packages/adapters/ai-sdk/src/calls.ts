/** The calls of the AI SDK on a session: what of each call is stored, and the context that it goes on with. */
import { BranchLeft, isFields, isSame, type PlaceOfCall, type StoredSession } from "@memfold/codec"
import type { Message, Session } from "@memfold/core"
import type { ModelMessage, UIMessage } from "ai"
import { type CallContext, type Contexts, joined } from "./contexts.js"
import type { AiSdkContext } from "./encode.js"
import { formOf, metadataOf, ownData, type UIForm } from "./form.js"
import { decoded } from "./page.js"
import { answersOf } from "./received.js"
import { type EndOfPage, newId, ownMessages, type Step, type StepToPrepare, usageOf } from "./steps.js"

/** How many steps of the model are stored, and how many parts of the application beside them. */
interface Skip {
  answers: number
  beside: number
}

/** A call of the AI SDK that is under way: what of it is stored. */
interface Turn extends PlaceOfCall, Skip {
  readonly id: string
  total: number
  /** The id of the answer on the page; `undefined` if the call continues an answer that has no id. */
  readonly responseId: string | undefined
  /** Whether the answer goes on with an earlier one, after results or approvals of the page. */
  readonly continues: boolean
  /** What the earlier answer has that this one goes on with. */
  readonly earlier: Skip
  prefix: Session.Prefix
  /** How many produced messages are stored. */
  saved: number
  /** What the page says of the answer beside its parts, such as its metadata, as far as it is stored. */
  fields: UIForm["fields"]
  /** Version 7: how many messages were produced before the first step, by tools that had been approved. */
  initial: number
  /** The context that the call began with. */
  readonly start: CallContext
}

/** The system text, with instructions that the call has from elsewhere (such as an agent). Only version 7 passes them. */
const instructed = (
  { start: { system: begun } }: Turn,
  { initialInstructions: given }: StepToPrepare,
  system: string | undefined,
  instructions: string | undefined,
): { readonly system?: string } => {
  if (given === undefined || given === null || given === begun) return joined(system)
  if (typeof given === "string") {
    const isBehind = begun !== undefined && given.endsWith(begun)
    const own = isBehind ? given.slice(0, -begun.length).trimEnd() : given
    return own === instructions ? joined(system) : joined(own, system)
  }
  // Only version 7 says its instructions, and it takes a list of system messages as well.
  const list = [given].flat().concat(system === undefined ? [] : [{ role: "system", content: system }])
  return { system: list as unknown as string }
}

/** Whether a part of a page is the application's own, beside what the model says: data, and sources. */
const isOfApplication = (part: object): boolean =>
  "type" in part && /^(data-|source-)/.test(String(part.type))

const isBeside = (part: Message.Part): boolean => {
  const ui = ownData(part)?.["ui"]
  return isFields(ui) && isOfApplication(ui)
}

const isStep = ({ role, parts }: Message.Message): boolean => role === "assistant" && !parts.every(isBeside)

const besideIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Part> =>
  messages.flatMap(({ parts }) => parts.filter(isBeside))

/**
 * What a message of a page has beyond the steps that are stored: the other steps, and what the application said beside the stored ones,
 * which have what the model said alone.
 *
 * @param page - the message of the page
 * @param skip - what of it is stored
 * @param fields - what it says beside its parts, if that is not stored
 */
const restOf = (
  produced: ReadonlyArray<Message.Message>,
  page: UIMessage,
  skip: Skip,
  id: string,
  fields: UIForm["fields"],
): ReadonlyArray<Message.Message> => {
  // Data that stands by itself, such as before the first step, is no step of the model.
  const steps = produced.flatMap((message, index) => (isStep(message) ? [index] : []))
  const from = skip.answers === 0 ? 0 : (steps[skip.answers] ?? produced.length)
  const left = produced.slice(from)
  if (from === 0) return left
  const beside = besideIn(produced.slice(0, from)).slice(skip.beside)
  if (beside.length === 0 && fields === undefined) return left
  const all = page.parts.flatMap((part, at) => (isOfApplication(part) ? [at] : []))
  const places = all.slice(skip.beside, skip.beside + beside.length)
  const ui = { id, continues: true, places, ...(fields === undefined ? {} : { fields }) }
  return [{ role: "assistant", parts: beside, ...metadataOf({ ui }) }, ...left]
}

/** A call that begins with a context, on a branch that ends with these messages. */
const begunTurn = (start: CallContext, stored: ReadonlyArray<Message.Message>, branch: number): Turn => {
  const answer = stored.slice(stored.findLastIndex(({ role }) => role === "user" || role === "system") + 1)
  const continued = answer.findLast((message) => formOf(message).ui?.id !== undefined)
  const id = newId()
  return {
    id,
    branch,
    total: start.prefix.total,
    responseId: answer.length === 0 ? `msg-${id}` : continued && formOf(continued).ui?.id,
    continues: answer.length > 0,
    earlier: { answers: answer.filter(isStep).length, beside: besideIn(answer).length },
    prefix: start.prefix,
    saved: 0,
    answers: 0,
    beside: 0,
    fields: answer.map((message) => formOf(message).ui?.fields).findLast((fields) => fields !== undefined),
    initial: 0,
    start,
  }
}

const withUsage = (
  messages: ReadonlyArray<Message.Message>,
  step: Step | undefined,
): ReadonlyArray<Message.Message> => {
  const usage = usageOf(step?.usage)
  return messages.map((message) =>
    message.role === "assistant" && usage !== undefined ? { ...message, usage } : message,
  )
}

/** Ends a call whose question was edited meanwhile, or that is to be answered anew. */
const refuseLeft = async ({ known, id }: StoredSession, turn: PlaceOfCall): Promise<void> => {
  if (await known.isLeft(turn)) throw new BranchLeft({ session: id })
}

/** The results of tools that ran before the first step of a call. */
const ranBefore = ({ start }: Turn, { messages }: StepToPrepare): ReadonlyArray<ModelMessage> =>
  messages.slice(start.messages.length).filter(({ role }) => role === "tool")

/** The calls of a session, one at a time. */
export class Calls {
  private turn: Turn | undefined

  constructor(
    private readonly stored: StoredSession,
    readonly contexts: Contexts,
    private readonly instructions: string | undefined,
  ) {}

  async begin(): Promise<AiSdkContext> {
    const context = await this.contexts.read()
    this.turn = await this.turnOf(context)
    const { system, messages } = context
    return { ...(system === undefined ? {} : { system }), messages: [...messages] }
  }

  private async turnOf(context: CallContext): Promise<Turn> {
    const { known } = this.stored
    return begunTurn(context, await known.newest(), await known.branch())
  }

  private async current(): Promise<Turn> {
    return (this.turn ??= await this.turnOf(await this.contexts.read()))
  }

  /** The next {@link Calls.ask} begins a call. */
  end(): void {
    this.turn = undefined
  }

  /** The context for the next call of the model, in the call of the AI SDK that is under way. */
  async ask(): Promise<CallContext> {
    const context = await this.contexts.read()
    this.turn ??= await this.turnOf(context)
    this.turn.total = context.prefix.total
    return context
  }

  /** How much of the call is stored. */
  position(): string {
    return `${this.turn?.id} ${this.turn?.saved}`
  }

  responseId(): string {
    return this.turn?.responseId ?? `msg-${newId()}`
  }

  /** Stores messages that the model and the tools produced behind a prefix. */
  async saveBehind(messages: ReadonlyArray<Message.Message>, prefix: Session.Prefix): Promise<void> {
    const turn = await this.current()
    turn.prefix = prefix
    await this.save(turn, messages)
  }

  /** Stores messages that the model and the tools produced, behind the stored messages of the same call. */
  private async save(turn: Turn, produced: ReadonlyArray<Message.Message>): Promise<void> {
    if (produced.length === 0) return
    const named = produced.map((message, index) => {
      const form = formOf(message)
      if (turn.responseId === undefined || form.ui !== undefined) return message
      const continues = turn.continues || turn.saved + index > 0 ? { continues: true } : {}
      const step = message.role === "assistant" ? { step: true } : {}
      return { ...message, ...metadataOf({ ...form, ui: { id: turn.responseId, ...continues, ...step } }) }
    })
    const idempotencyKey = `ai-sdk/produced/${turn.id}/${turn.saved}`
    const isSaved = await this.stored.compare(async (session) => {
      if (await session.isLeft(turn)) return false
      await session.append(named, { idempotencyKey, prefix: turn.prefix })
      return true
    })
    if (!isSaved) return
    turn.saved += produced.length
    turn.answers += produced.filter(isStep).length
    turn.beside += besideIn(produced).length
  }

  /** Stores what the steps produced and is not stored yet, with the tokens of each step. */
  async saveSteps(steps: ReadonlyArray<Step>, all: ReadonlyArray<ModelMessage> | undefined): Promise<void> {
    const turn = await this.current()
    const own = ownMessages(steps)
    if (all !== undefined) turn.initial = all.length - own.flat().length
    const before = all?.slice(0, turn.initial) ?? []
    const unknown = turn.initial - before.length
    const produced = [...decoded(before), ...own.flatMap((one, at) => withUsage(decoded(one), steps[at]))]
    await this.save(turn, produced.slice(Math.max(turn.saved - unknown, 0)))
  }

  /** The context for the next step of a call; of one that has only begun, what it began with. */
  private async contextOf(turn: Turn): Promise<CallContext> {
    const { stored, contexts } = this
    const isBegun = turn.saved === 0
    if (isBegun && (await contexts.isNewest(turn.start))) return turn.start
    const context = await contexts.read(isBegun ? stored.known : stored)
    await refuseLeft(stored, turn)
    turn.prefix = context.prefix
    turn.total = context.prefix.total
    return context
  }

  /** Stores what came before a step, and reads the context for it. */
  async prepare(step: StepToPrepare): Promise<AiSdkContext> {
    this.contexts.meet(step.model)
    const turn = await this.current()
    await refuseLeft(this.stored, turn)
    const { stepNumber, steps, responseMessages, experimental_steeringMessages: steering = [] } = step
    // In versions 5 and 6, tools that had been approved run before the first step, and only its messages say so.
    if (stepNumber === 0 && turn.saved === 0 && responseMessages === undefined)
      await this.save(turn, decoded(ranBefore(turn, step)))
    await this.saveSteps(steps, responseMessages)
    await this.stored.append(decoded(steering), {
      idempotencyKey: `ai-sdk/steering/${turn.id}/${stepNumber}`,
    })
    const { system, messages } = await this.contextOf(turn)
    return { ...instructed(turn, step, system, this.instructions), messages: [...messages] }
  }

  /** Stores what a message of a page has beyond what is stored of it. */
  async savePage({ responseMessage, isContinuation = false }: EndOfPage): Promise<void> {
    const turn = await this.current()
    const answers = answersOf(responseMessage, await this.stored.known.newest(), false)
    const produced = decoded([responseMessage])
    const earlier = isContinuation ? turn.earlier : { answers: 0, beside: 0 }
    const skip = { answers: turn.answers + earlier.answers, beside: turn.beside + earlier.beside }
    if (answers !== undefined) await this.save(turn, [answers])
    const fields = formOf(produced[0]!).ui?.fields
    const fresh = isSame(fields, turn.fields) ? undefined : fields
    await this.save(
      turn,
      restOf(produced, responseMessage, skip, turn.responseId ?? responseMessage.id, fresh),
    )
    turn.fields = fields
  }
}
