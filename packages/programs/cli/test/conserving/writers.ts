/** Writes conversations as the files of programs. A format says which parts of the model its files have. */
import type { Call, Compacted, Conversation, Step, Turn } from "./model.js"

/** What files of a format have. */
export interface Writer {
  readonly format: string
  readonly has: ReadonlyArray<
    | "system"
    | "reasoning"
    | "calls"
    | "queued"
    | "file"
    | "left"
    | "beside"
    | "compacted"
    | "keeps"
    | "odd"
    | "lines"
  >
  readonly write: (conversation: Conversation) => string
}

type Fields = Readonly<Record<string, unknown>>

const lines = (rows: ReadonlyArray<unknown>): string => rows.map((row) => JSON.stringify(row)).join("\n")
const some = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])
const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
const odd = (texts: ReadonlyArray<string>): Fields =>
  Object.fromEntries(texts.map((text, at) => [`unheard${"x".repeat(at)}`, { text }]))
const argsOf = (input: string) => JSON.stringify({ q: input })

/** Messages of Chat Completions. */
const chatTurn = ({ user, steps }: Turn): ReadonlyArray<Fields> => [
  { role: "user", content: user },
  ...steps.flatMap(({ reasoning, text, calls }) => [
    given({
      role: "assistant",
      content: text ?? null,
      reasoning_content: reasoning,
      tool_calls:
        calls.length === 0
          ? undefined
          : calls.map(({ id, name, input }) => ({
              id,
              type: "function",
              function: { name, arguments: argsOf(input) },
            })),
    }),
    ...calls.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
  ]),
]
const chatOf = ({ system, turns }: Conversation): ReadonlyArray<Fields> => [
  ...some(system).map((content) => ({ role: "system", content })),
  ...turns.flatMap(chatTurn),
]

/** Blocks of Anthropic's messages. */
const blocksOf = ({ reasoning, text, calls }: Step): ReadonlyArray<Fields> => [
  ...some(reasoning).map((thinking) => ({ type: "thinking", thinking, signature: "c2ln" })),
  ...some(text).map((one) => ({ type: "text", text: one })),
  ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: { q: input } })),
]
const resultsOf = ({ calls }: Step): ReadonlyArray<Fields> =>
  calls.map(({ id, output }) => ({ type: "tool_result", tool_use_id: id, content: output }))

const anthropicTurn = ({ user, steps }: Turn): ReadonlyArray<Fields> => [
  { role: "user", content: user },
  ...steps.flatMap((step) => [
    { role: "assistant", content: blocksOf(step) },
    ...(step.calls.length === 0 ? [] : [{ role: "user", content: resultsOf(step) }]),
  ]),
]

const responsesTurn = ({ user, steps }: Turn): ReadonlyArray<Fields> => [
  { type: "message", role: "user", content: [{ type: "input_text", text: user }] },
  ...steps.flatMap(({ reasoning, text, calls }) => [
    ...some(reasoning).map((one) => ({
      type: "reasoning",
      id: `rs_${one.length}`,
      summary: [{ type: "summary_text", text: one }],
    })),
    ...some(text).map((one) => ({
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: one }],
    })),
    ...calls.map(({ id, name, input }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: argsOf(input),
    })),
    ...calls.map(({ id, output }) => ({ type: "function_call_output", call_id: id, output })),
  ]),
]

/** What a sub-agent does is written behind the first answer that calls a tool: once. */
const writtenOnce = <A>(beside: Turn | undefined, write: (turn: Turn, call: Call) => ReadonlyArray<A>) => {
  let isWritten = false
  return ({ calls: [call] }: Step): ReadonlyArray<A> => {
    if (beside === undefined || call === undefined || isWritten) return []
    isWritten = true
    return write(beside, call)
  }
}

/** The same turns with entries that go back over those that were left. */
const branched = <A>(
  { turns, left, compacted }: Conversation,
  write: {
    readonly turn: (turn: Turn) => ReadonlyArray<A>
    readonly back: (turns: ReadonlyArray<Turn>) => ReadonlyArray<A>
    readonly compact: (at: Compacted) => ReadonlyArray<A>
  },
): ReadonlyArray<A> =>
  turns.flatMap((turn, at) => [
    ...write.turn(turn),
    ...(left?.after === at ? [...left.turns.flatMap(write.turn), ...write.back(left.turns)] : []),
    ...compacted.filter(({ after }) => after === at + 1).flatMap(write.compact),
  ])

/**
 * Writes the turns into a tree: those that were left hang on the turn that they went on from, and the conversation goes on from there, too.
 *
 * - `last`, `goBack`: the place of what was written last, and the way back to a place
 */
const inTree = <Place>(
  { turns, left, compacted }: Conversation,
  write: {
    readonly turn: (turn: Turn, isKept: boolean) => void
    readonly last: () => Place
    readonly goBack: (place: Place) => void
    readonly compact?: (at: Compacted) => void
  },
): void => {
  for (const [at, turn] of turns.entries()) {
    write.turn(turn, true)
    const here = write.last()
    if (left?.after === at) {
      for (const other of left.turns) write.turn(other, false)
      write.goBack(here)
    }
    for (const made of compacted) if (made.after === at + 1) write.compact?.(made)
  }
}

/** Entries in a chain: each names the one before it; `at` goes back to one. */
class Chain {
  readonly rows: Array<Fields> = []
  last: string | null = null
  /** What each entry has beside its fields. */
  more: Fields = {}
  private count = 0

  constructor(private readonly names: { readonly id: string; readonly parent: string }) {}

  add(fields: Fields): string {
    const id = `e${(this.count += 1)}`
    this.rows.push({ [this.names.id]: id, [this.names.parent]: this.last, ...this.more, ...fields })
    this.last = id
    return id
  }
}

const claudeCode = (conversation: Conversation): string => {
  const { odd: texts } = conversation
  const chain = new Chain({ id: "uuid", parent: "parentUuid" })
  const firsts: Array<string> = []
  const turn = ({ user, queued, file, steps }: Turn, isMain = true): void => {
    const first = chain.add({ type: "user", message: { role: "user", content: user } })
    if (isMain) firsts.push(first)
    for (const content of some(file))
      chain.add({
        type: "attachment",
        attachment: {
          type: "file",
          filename: "/a.txt",
          content: { type: "text", file: { filePath: "/a.txt", content } },
        },
      })
    for (const [at, step] of steps.entries()) {
      const id = conversation.hasOneId ? "same" : `msg_${chain.rows.length}`
      // Blocks of an answer stand on lines of their own.
      for (const block of blocksOf(step))
        chain.add({ type: "assistant", message: { id, role: "assistant", model: "m", content: [block] } })
      aside(step)
      for (const result of resultsOf(step))
        chain.add({
          type: "user",
          message: { role: "user", content: [result] },
          toolUseResult: { stdout: "A copy for the program" },
        })
      if (at === 0)
        for (const prompt of some(queued))
          chain.add({ type: "attachment", attachment: { type: "queued_command", prompt } })
    }
  }
  const aside = writtenOnce(conversation.beside, (one) => {
    const here = chain.last
    chain.last = null
    chain.more = { isSidechain: true, agentId: "a1" }
    turn(one, false)
    chain.last = here
    chain.more = {}
    return []
  })
  for (const text of texts) chain.add({ type: "unheard-of", note: { text } })
  let first: string | null = null
  inTree(conversation, {
    turn,
    last: () => chain.last,
    goBack: (place) => void (chain.last = place),
    compact: (compacted) => {
      const head = compacted.keeps === 0 ? undefined : firsts.at(-compacted.keeps)
      const tail = chain.last
      first ??= tail
      // Right behind a rewind, only the row that it went back to says that there was one.
      const isBehindRewind = conversation.left?.after === compacted.after - 1
      const logicalParentUuid = conversation.isLoose && !isBehindRewind ? first : tail
      chain.last = null
      chain.add({
        type: "system",
        subtype: "compact_boundary",
        logicalParentUuid,
        compactMetadata: given({
          trigger: "auto",
          preservedSegment: head === undefined ? undefined : { headUuid: head },
        }),
      })
      chain.add({
        type: "user",
        isCompactSummary: true,
        message: { role: "user", content: compacted.summary },
      })
      // The next prompt hangs on what was kept.
      if (conversation.isLoose && head !== undefined) chain.last = tail
    },
  })
  return lines(chain.rows)
}

const codex = (conversation: Conversation): string => {
  const { system, odd: texts } = conversation
  const item = (payload: Fields) => ({ type: "response_item", payload })
  const event = (payload: Fields) => ({ type: "event_msg", payload })
  const turn = (one: Turn): ReadonlyArray<Fields> => {
    const [user = {}, ...answer] = responsesTurn(one)
    return [
      { type: "turn_context", payload: { model: "m", summary: "auto" } },
      item(user),
      event({ type: "user_message", message: one.user }),
      ...answer.map(item),
    ]
  }
  return lines([
    { type: "session_meta", payload: { id: "s", base_instructions: { text: system } } },
    ...texts.map((text) => event({ type: "unheard_of", text })),
    ...branched<Fields>(conversation, {
      turn,
      back: (turns) => [event({ type: "thread_rolled_back", num_turns: turns.length })],
      compact: ({ summary }) => [{ type: "compacted", payload: { message: summary } }],
    }),
  ])
}

const geminiMessages =
  (next: () => string) =>
  ({ user, steps }: Turn): ReadonlyArray<Fields> => [
    { id: next(), type: "user", content: user },
    ...steps.map(({ reasoning, text, calls }) => ({
      id: next(),
      type: "gemini",
      content: text ?? "",
      thoughts: some(reasoning).map((one, at) =>
        at === 0 && one.length % 2 === 0 ? one : { description: one },
      ),
      toolCalls: calls.map(({ id, name, input, output }) => ({
        id,
        name,
        args: { q: input },
        status: "success",
        ...(output.length % 2 === 0
          ? { resultDisplay: output }
          : { result: [{ functionResponse: { id, name, response: { output } } }] }),
      })),
    })),
  ]

const geminiLines = (conversation: Conversation): string => {
  let count = 0
  const messages = geminiMessages(() => `m${(count += 1)}`)
  const firsts = new Map<Turn, unknown>()
  const head = { sessionId: "s", startTime: "2026-03-02T12:00:00Z" }
  return lines([
    head,
    ...conversation.odd.map((text) => ({ unheard: { text } })),
    ...branched<Fields>(conversation, {
      turn: (turn) => {
        const all = messages(turn)
        firsts.set(turn, all[0]?.["id"])
        return all
      },
      back: ([first]) => [{ $rewindTo: firsts.get(first!) }],
      compact: () => [],
    }),
  ])
}

const opencode = (conversation: Conversation): string => {
  let count = 0
  const message = (role: string, parts: ReadonlyArray<Fields>, more: Fields = {}) => ({
    info: { id: `m${(count += 1)}`, role, ...more },
    parts,
  })
  const firsts: Array<string> = []
  const turn = ({ user, steps }: Turn): ReadonlyArray<Fields> => {
    const asked = message("user", [{ type: "text", text: user }])
    firsts.push(asked.info.id)
    const parts = steps.flatMap(({ reasoning, text, calls }) => [
      { type: "step-start" },
      ...some(reasoning).map((one) => ({ type: "reasoning", text: one })),
      ...some(text).map((one) => ({ type: "text", text: one })),
      ...calls.map(({ id, name, input, output }) => ({
        type: "tool",
        tool: name,
        callID: id,
        state: { status: "completed", input: { q: input }, output },
      })),
      { type: "step-finish" },
    ])
    return [asked, message("assistant", parts)]
  }
  const messages = branched<Fields>(
    { ...conversation, left: undefined },
    {
      turn,
      back: () => [],
      compact: ({ keeps, summary }) => [
        message("user", [
          given({
            type: "compaction",
            auto: true,
            tail_start_id: keeps === 0 ? undefined : firsts.at(-keeps),
          }),
        ]),
        message("assistant", [{ type: "text", text: summary }], { summary: true }),
      ],
    },
  )
  // What the user took back stands at the end, until the next prompt.
  const left = conversation.left?.turns.flatMap(turn) ?? []
  const [first] = left as ReadonlyArray<{ readonly info?: Fields }>
  const revert = first === undefined ? {} : { revert: { messageID: first.info?.["id"], snapshot: "abc" } }
  return JSON.stringify({
    info: { id: "s", ...revert, ...odd(conversation.odd) },
    messages: [...messages, ...left],
  })
}

/** What `/chat save` of Gemini CLI keeps: contents of Gemini's API, without ids in older versions. */
const geminiContents = ({ turns }: Conversation): string =>
  JSON.stringify(
    turns.flatMap(({ user, steps }) => [
      { role: "user", parts: [{ text: user }] },
      ...steps.flatMap(({ reasoning, text, calls }, at) => {
        const ids = (id: string): Fields => (at % 2 === 0 ? { id } : {})
        return [
          {
            role: "model",
            parts: [
              ...some(reasoning).map((one) => ({ text: one, thought: true })),
              ...some(text).map((one) => ({ text: one })),
              ...calls.map(({ id, name, input }) => ({
                functionCall: { ...ids(id), name, args: { q: input } },
              })),
            ],
          },
          ...(calls.length === 0
            ? []
            : [
                {
                  role: "user",
                  parts: calls.map(({ id, name, output }) => ({
                    functionResponse: { ...ids(id), name, response: { output } },
                  })),
                },
              ]),
        ]
      }),
    ]),
  )

const pi = (conversation: Conversation): string => {
  const { odd: texts } = conversation
  const chain = new Chain({ id: "id", parent: "parentId" })
  const firsts: Array<string> = []
  const say = (message: Fields): string => chain.add({ type: "message", message })
  const turn = ({ user, queued, steps }: Turn, isMain = true): void => {
    const first = say({ role: "user", content: [{ type: "text", text: user }] })
    if (isMain) firsts.push(first)
    for (const [at, { reasoning, text, calls }] of steps.entries()) {
      say({
        role: "assistant",
        content: [
          ...some(reasoning).map((thinking) => ({ type: "thinking", thinking })),
          ...some(text).map((one) => ({ type: "text", text: one })),
          ...calls.map(({ id, name, input }) => ({ type: "toolCall", id, name, arguments: { q: input } })),
        ],
      })
      for (const { id, name, output } of calls)
        say({
          role: "toolResult",
          toolCallId: id,
          toolName: name,
          content: [{ type: "text", text: output }],
          isError: false,
        })
      if (at === 0) for (const content of some(queued)) chain.add({ type: "custom_message", content })
    }
  }
  inTree(conversation, {
    turn,
    last: () => chain.last,
    goBack: (place) => void (chain.last = place),
    compact: (compacted) => {
      chain.add(
        given({
          type: "compaction",
          summary: compacted.summary,
          firstKeptEntryId: compacted.keeps === 0 ? undefined : firsts.at(-compacted.keeps),
        }),
      )
    },
  })
  return lines([
    { type: "session", version: 3, cwd: "/" },
    ...texts.map((text) => ({ type: "unheard_of", text })),
    ...chain.rows,
  ])
}

const shareGpt = ({ system, turns, odd: texts }: Conversation): string =>
  JSON.stringify([
    given({
      system,
      conversations: turns.flatMap(({ user, steps }) => [
        { from: "human", value: user },
        ...steps.flatMap(({ text, calls }) => [
          ...some(text).map((value) => ({ from: "gpt", value })),
          ...(calls.length === 0
            ? []
            : [
                {
                  from: "function_call",
                  value: JSON.stringify(calls.map(({ name, input }) => ({ name, arguments: { q: input } }))),
                },
              ]),
          ...calls.map(({ output }) => ({ from: "observation", value: output })),
        ]),
      ]),
      ...odd(texts),
    }),
  ])

const chatGpt = (conversation: Conversation): string => {
  const { odd: texts } = conversation
  const mapping: Record<string, unknown> = { root: { id: "root", parent: null, children: [] } }
  let last = "root"
  const add = (role: string, content: Fields, more: Fields = {}): void => {
    const id = `n${Object.keys(mapping).length}`
    mapping[id] = { id, parent: last, message: { id, author: { role }, content, ...more } }
    last = id
  }
  const text = (one: string): Fields => ({ content_type: "text", parts: [one] })
  const turn = ({ user, steps }: Turn): void => {
    add("user", text(user))
    for (const { reasoning, text: said, calls } of steps) {
      for (const content of some(reasoning))
        add("assistant", { content_type: "thoughts", thoughts: [{ content }] })
      for (const one of some(said)) add("assistant", text(one))
      for (const { input, output } of calls) {
        add("assistant", { content_type: "code", text: input }, { recipient: "python" })
        add("tool", { content_type: "execution_output", text: output })
      }
    }
  }
  for (const one of texts)
    add("assistant", { content_type: "unheard_of", blocks: [{ kind: "x", text: one }] })
  inTree(conversation, { turn, last: () => last, goBack: (place) => void (last = place) })
  mapping["odd"] = null
  const nodes = Object.entries(mapping)
  const all = Object.fromEntries(conversation.isReversed ? nodes.toReversed() : nodes)
  return JSON.stringify([{ mapping: all, current_node: last, conversation_id: "c" }, { title: "nothing" }])
}

const claudeExport = (conversation: Conversation): string => {
  const { odd: texts } = conversation
  const messages: Array<Fields> = []
  let last = "00000000-0000-4000-8000-000000000000"
  const add = (fields: Fields): void => {
    const uuid = `n${messages.length}`
    messages.push({ uuid, parent_message_uuid: last, ...fields })
    last = uuid
  }
  const turn = ({ user, file, steps }: Turn): void => {
    add(
      given({
        sender: "human",
        text: user,
        content: [{ type: "text", text: user }],
        attachments: file === undefined ? undefined : [{ file_name: "a.txt", extracted_content: file }],
      }),
    )
    add({
      sender: "assistant",
      text: steps.flatMap(({ text }) => some(text)).join("\n\n"),
      content: steps.flatMap((step) => [
        ...blocksOf(step),
        ...step.calls.map(({ id, name, output }) => ({
          type: "tool_result",
          tool_use_id: id,
          name,
          content: [{ type: "text", text: output }],
        })),
      ]),
    })
  }
  for (const one of texts)
    add({ sender: "assistant", text: "", content: [{ type: "unheard_of", note: { text: one } }] })
  inTree(conversation, { turn, last: () => last, goBack: (place) => void (last = place) })
  if (conversation.isReversed) messages.reverse()
  return JSON.stringify([{ uuid: "c", current_leaf_message_uuid: last, chat_messages: messages }])
}

const uiParts = ({ reasoning, text, calls }: Step): ReadonlyArray<Fields> => [
  { type: "step-start" },
  ...some(reasoning).map((one) => ({ type: "reasoning", text: one })),
  ...some(text).map((one) => ({ type: "text", text: one })),
  ...calls.map(({ id, name, input, output }) => ({
    type: `tool-${name}`,
    toolCallId: id,
    state: "output-available",
    input: { q: input },
    output,
  })),
]

const aiSdk = ({ turns, odd: texts }: Conversation): string =>
  JSON.stringify(
    turns.flatMap(({ user, steps }, at) => [
      { id: `u${at}`, role: "user", parts: [{ type: "text", text: user }] },
      {
        id: `a${at}`,
        role: "assistant",
        parts: [
          ...steps.flatMap(uiParts),
          ...(at === 0 ? texts.map((text) => ({ type: "data-unheard", data: { text } })) : []),
        ],
      },
    ]),
  )

const aiSdk4 = ({ turns, odd: texts }: Conversation): string =>
  JSON.stringify(
    turns.flatMap(({ user, steps }, at) => [
      { id: `u${at}`, role: "user", content: user },
      {
        id: `a${at}`,
        role: "assistant",
        content: steps.flatMap(({ text }) => some(text)).join(""),
        parts: steps.flatMap(({ reasoning, text, calls }) => [
          { type: "step-start" },
          ...some(reasoning).map((one) => ({ type: "reasoning", reasoning: one })),
          ...some(text).map((one) => ({ type: "text", text: one })),
          ...calls.map(({ id, name, input, output }) => ({
            type: "tool-invocation",
            toolInvocation: {
              toolCallId: id,
              toolName: name,
              args: { q: input },
              state: "result",
              result: output,
            },
          })),
        ]),
        ...(at === 0 && texts.length > 0 ? { annotations: texts.map((text) => ({ text })) } : {}),
      },
    ]),
  )

/** Dumps of LangChain, in the form of an older or of a newer version. */
const langchain =
  (isOld: boolean) =>
  ({ system, turns, odd: texts }: Conversation): string => {
    const dump = (type: string, data: Fields) => ({ type, data })
    return JSON.stringify([
      ...some(system).map((content) => dump("system", { content })),
      ...turns.flatMap(({ user, steps }) => [
        dump("human", { content: user }),
        ...steps.flatMap(({ reasoning, text, calls }) => [
          dump("ai", {
            content: text ?? "",
            ...(isOld
              ? {
                  additional_kwargs: given({
                    reasoning_content: reasoning,
                    tool_calls: calls.map(({ id, name, input }) => ({
                      id,
                      type: "function",
                      function: { name, arguments: argsOf(input) },
                    })),
                  }),
                }
              : {
                  content: [
                    ...some(reasoning).map((thinking) => ({ type: "thinking", thinking })),
                    ...some(text).map((one) => ({ type: "text", text: one })),
                    ...calls.map(({ id, name, input }) => ({
                      type: "tool_use",
                      id,
                      name,
                      input: { q: input },
                    })),
                  ],
                }),
          }),
          ...calls.map(({ id, output }) => dump("tool", { content: output, tool_call_id: id })),
        ]),
      ]),
      ...texts.map((text) => dump("ai", { content: [{ type: "unheard_of", note: { text } }] })),
    ])
  }

const grok = (conversation: Conversation): string => {
  const { odd: texts } = conversation
  const responses: Array<Fields> = []
  let last: string | undefined
  const add = (fields: Fields): void => {
    const id = `r${responses.length}`
    responses.push({ response: given({ _id: id, parent_response_id: last, ...fields }) })
    last = id
  }
  const turn = ({ user, steps }: Turn): void => {
    add({ sender: "human", message: user, create_time: { $date: { $numberLong: "1772452800000" } } })
    for (const { reasoning, text } of steps)
      if (text !== undefined || reasoning !== undefined)
        add(given({ sender: "ASSISTANT", message: text, thinking_trace: reasoning, model: "grok-4" }))
  }
  inTree(conversation, { turn, last: () => last, goBack: (place) => void (last = place) })
  // Without a mark, the way that is written last is where a conversation stands.
  if (conversation.isReversed && conversation.left === undefined) responses.reverse()
  return JSON.stringify({ conversations: [{ conversation: { id: "c", ...odd(texts) }, responses }] })
}

const copilotLines = ({ turns, beside, odd: texts }: Conversation): string => {
  let count = 0
  const event = (type: string, data: Fields) => ({ type, id: `e${(count += 1)}`, parentId: null, data })
  const turn = ({ user, steps }: Turn, more: Fields = {}): ReadonlyArray<Fields> => [
    event("user.message", { content: user, ...more }),
    ...steps.flatMap((step) => [
      event(
        "assistant.message",
        given({
          content: step.text ?? "",
          reasoningText: step.reasoning,
          toolRequests: step.calls.map(({ id, name, input }) => ({
            toolCallId: id,
            name,
            arguments: { q: input },
          })),
          ...more,
        }),
      ),
      ...aside(step),
      ...step.calls.map(({ id, output }) =>
        event("tool.execution_complete", {
          toolCallId: id,
          success: true,
          result: { content: output },
          ...more,
        }),
      ),
    ]),
  ]
  const aside = writtenOnce(beside, (one, { id }) => turn(one, { parentToolCallId: id }))
  return lines([
    event("session.start", { sessionId: "s", producer: "copilot-agent" }),
    ...texts.map((text) => event("unheard.of", { text })),
    ...turns.flatMap((one) => turn(one)),
  ])
}

const copilotPage = ({ turns, odd: texts }: Conversation): string =>
  JSON.stringify({
    version: 3,
    responderUsername: "GitHub Copilot",
    requests: turns.map(({ user, steps }, at) => ({
      requestId: `r${at}`,
      message: { text: user, parts: [{ text: user }] },
      response: steps.flatMap(({ reasoning, text }) => [
        ...some(reasoning).map((value) => ({ kind: "thinking", value })),
        ...some(text).map((value) => ({ value })),
      ]),
      ...(at === 0 ? odd(texts) : {}),
    })),
  })

/** The same chat as VS Code writes it now: what it was at first, and a line for each change. */
const copilotChanges = (conversation: Conversation): string => {
  const { requests, ...session } = JSON.parse(copilotPage(conversation)) as {
    readonly requests: ReadonlyArray<{ readonly response: ReadonlyArray<unknown> }>
  }
  return lines([
    { kind: 0, v: { ...session, requests: [] } },
    ...requests.flatMap(({ response, ...request }, at) => [
      { kind: 2, k: ["requests"], v: [{ ...request, response: response.slice(0, 1) }] },
      { kind: 2, k: ["requests", at, "response"], i: Math.min(1, response.length), v: response.slice(1) },
    ]),
  ])
}

export const writers: ReadonlyArray<Writer> = [
  { format: "openai", has: ["calls", "system", "reasoning", "lines"], write: (one) => lines(chatOf(one)) },
  {
    format: "openai-responses",
    has: ["calls", "reasoning"],
    write: ({ turns }) => JSON.stringify({ input: turns.flatMap(responsesTurn) }),
  },
  {
    format: "anthropic",
    has: ["calls", "system", "reasoning"],
    write: ({ system, turns }) => JSON.stringify(given({ system, messages: turns.flatMap(anthropicTurn) })),
  },
  { format: "ai-sdk", has: ["calls", "reasoning", "odd"], write: aiSdk },
  { format: "ai-sdk-4", has: ["calls", "reasoning", "odd"], write: aiSdk4 },
  { format: "langchain", has: ["calls", "system", "reasoning", "odd"], write: langchain(false) },
  { format: "langchain", has: ["calls", "system", "reasoning", "odd"], write: langchain(true) },
  {
    format: "claude-code",
    has: ["calls", "reasoning", "queued", "file", "left", "beside", "compacted", "keeps", "odd", "lines"],
    write: claudeCode,
  },
  {
    format: "codex",
    has: ["calls", "system", "reasoning", "left", "compacted", "odd", "lines"],
    write: codex,
  },
  { format: "gemini-cli", has: ["calls", "reasoning", "left", "odd", "lines"], write: geminiLines },
  {
    format: "gemini-cli",
    has: ["calls", "reasoning", "odd"],
    write: ({ turns, odd: texts }) => {
      let count = 0
      return JSON.stringify({
        sessionId: "s",
        startTime: "2026-03-02T12:00:00Z",
        messages: turns.flatMap(geminiMessages(() => `m${(count += 1)}`)),
        ...odd(texts),
      })
    },
  },
  { format: "gemini-cli", has: ["calls", "reasoning"], write: geminiContents },
  {
    format: "opencode",
    has: ["calls", "reasoning", "left", "compacted", "keeps", "odd"],
    write: opencode,
  },
  {
    format: "pi",
    has: ["calls", "reasoning", "queued", "left", "compacted", "keeps", "odd", "lines"],
    write: pi,
  },
  { format: "copilot", has: ["reasoning", "calls", "beside", "odd", "lines"], write: copilotLines },
  { format: "copilot", has: ["reasoning", "odd"], write: copilotPage },
  { format: "copilot", has: ["reasoning", "odd"], write: copilotChanges },
  { format: "grok", has: ["reasoning", "left", "odd"], write: grok },
  { format: "sharegpt", has: ["calls", "system", "odd"], write: shareGpt },
  { format: "chatgpt", has: ["calls", "reasoning", "left", "odd"], write: chatGpt },
  { format: "claude", has: ["calls", "reasoning", "file", "left", "odd"], write: claudeExport },
  {
    format: "tau-bench",
    has: ["calls", "system", "reasoning", "odd"],
    write: (one) => JSON.stringify([{ task_id: 0, traj: chatOf(one), ...odd(one.odd) }]),
  },
  {
    format: "swe-agent",
    has: ["calls", "system", "reasoning", "odd"],
    write: (one) =>
      JSON.stringify({
        history: chatOf(one).map(({ tool_call_id: id, ...message }) =>
          id === undefined ? message : { ...message, tool_call_ids: [id] },
        ),
        // The run once more, step by step: the history lacks the answer that ends it, and those that were asked for again.
        trajectory: [
          ...one.turns.flatMap(({ steps }) =>
            steps.map(({ text = "", calls }) => ({
              action: "ls",
              response: text,
              thought: text,
              observation: calls.at(-1)?.output ?? "",
              state: { open_file: "n/a" },
            })),
          ),
          ...one.odd.map((text) => ({ action: "submit", response: text, observation: "" })),
        ],
      }),
  },
]
