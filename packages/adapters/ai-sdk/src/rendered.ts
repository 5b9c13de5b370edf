/** Contexts of a memory, as the AI SDK takes them. */
import { type Fields, type UnsupportedSection, unsupportedSections } from "@memfold/codec"
import { Message, type Render } from "@memfold/core"
import { type AiSdkContext, encodeContext, type Major } from "./encode.js"
import { ownData } from "./form.js"

/** A context, and what it consists of. */
export interface RenderedContext extends AiSdkContext {
  /** The sections in order: what each one is, which messages it covers, and its tokens; `unsupported` ones come last. */
  readonly layout: ReadonlyArray<Render.Section | UnsupportedSection>
  /** The size of the context in tokens, by the memory's token counter. */
  readonly tokens: number
}

const dataOf = (messages: ReadonlyArray<Message.Message>, type: string): ReadonlyArray<Fields> =>
  messages
    .flatMap(({ parts }) => parts)
    .flatMap((part): ReadonlyArray<Fields> => {
      const data = ownData(part)
      return data?.["type"] === type ? [data] : []
    })

/**
 * The messages of an open group whose calls are all approved or denied: the AI SDK goes on with them by itself, runs the
 * tools, or says that they were denied. Of any other group, no messages, because its results have to come first.
 */
export const answeredGroup = (open: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const answers = new Set(dataOf(open, "tool-approval-response").map(({ approvalId }) => approvalId))
  const done = new Set<unknown>(open.flatMap(Message.results).map(({ id }) => id))
  for (const { approvalId, toolCallId } of dataOf(open, "tool-approval-request")) {
    if (answers.has(approvalId)) done.add(toolCallId)
  }
  return open.flatMap(Message.calls).every(({ id }) => done.has(id)) ? open : []
}

/**
 * A context for a major version of the AI SDK.
 *
 * @param open the messages of an {@link answeredGroup}, which the context leaves out
 */
export const rendered = (
  context: Render.Context,
  open: ReadonlyArray<Message.Message>,
  major: Major,
): RenderedContext => {
  const { omitted, ...encoded } = encodeContext([...context.messages, ...open], { major })
  return {
    ...encoded,
    layout: [...context.layout, ...unsupportedSections(omitted, context.sources)],
    tokens: context.tokens,
  }
}
