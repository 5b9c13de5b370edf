/** Contexts of a memory, as the AI SDK takes them. */
import { type ContextParts, type StoredSession, unsupportedSections } from "@memfold/codec"
import { Message, Render } from "@memfold/core"
import { type AiSdkContext, encodeContext, type EncodeOptions } from "./encode.js"
import { ofType } from "./form.js"

/** A context, and what it consists of. */
export interface RenderedContext extends AiSdkContext, ContextParts {}

const isAnswered = (open: ReadonlyArray<Message.Message>): boolean => {
  const parts = open.flatMap((one) => one.parts)
  const answers = new Set(ofType(parts, "tool-approval-response").map(({ approvalId }) => approvalId))
  const done = new Set<unknown>(open.flatMap(Message.results).map(({ id }) => id))
  for (const { approvalId, toolCallId } of ofType(parts, "tool-approval-request")) {
    if (answers.has(approvalId)) done.add(toolCallId)
  }
  return open.flatMap(Message.calls).every(({ id }) => done.has(id))
}

/**
 * An open group with the calls that the AI SDK is to run in one message, behind everything else: their results come at the end, and
 * providers want each behind its call.
 */
const inOneStep = (open: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const messages = Render.openInOrder(open)
  const answered = new Set(messages.flatMap(Message.results).map(({ id }) => id))
  const waiting = messages.filter((one) => Message.calls(one).some(({ id }) => !answered.has(id)))
  const asked = new Set(waiting.flatMap(Message.calls).map(({ id }) => id))
  const isBehind = (one: Message.Message): boolean =>
    ofType(one.parts, "tool-approval-response").length > 0 ||
    Message.results(one).some(({ id }) => asked.has(id))
  const [step, ...others] = waiting
  if (step === undefined) return messages
  const parts = [step, ...others].flatMap((one) => one.parts)
  const left = messages.filter((one) => !waiting.includes(one))
  return [...left.filter((one) => !isBehind(one)), { ...step, parts }, ...left.filter(isBehind)]
}

/**
 * The messages of an open group, which a context leaves out, if its calls are all approved or denied: the AI SDK goes on with them
 * by itself, runs the tools, or says that they were denied. Of any other group, no messages, because its results have to come first.
 */
export const openGroup = async (
  { memory, id }: StoredSession,
  { layout }: Render.Context,
): Promise<ReadonlyArray<Message.Message>> => {
  const open = layout.find(({ section }) => section === "open")
  if (open === undefined) return []
  const { messages, from } = await memory.messages(id, { limit: open.to - open.from })
  return from === open.from && isAnswered(messages) ? inOneStep(messages) : []
}

/**
 * A context for a major version of the AI SDK, and for a server.
 *
 * @param open the messages of {@link openGroup}
 */
export const rendered = (
  context: Render.Context,
  open: ReadonlyArray<Message.Message>,
  options: EncodeOptions,
): RenderedContext => {
  const { omitted, ...encoded } = encodeContext([...context.messages, ...open], options)
  return {
    ...encoded,
    layout: [...context.layout, ...unsupportedSections(omitted, context.sources)],
    tokens: context.tokens,
  }
}
