import { describe, expect, it } from "vitest"
import { signer } from "./binding.js"

const { sign, check, compaction } = signer("an account")

type Block = Readonly<Record<string, unknown>>
interface Message {
  readonly role: string
  readonly content: string | ReadonlyArray<Block>
}
interface Request {
  readonly system?: unknown
  readonly tools?: ReadonlyArray<unknown>
  readonly messages: ReadonlyArray<Message>
}

const user = (content: Message["content"]): Message => ({ role: "user", content })

/** The request with a thoughtful answer and the next question. */
const answered = (request: Request, text: string, next: string): Request => {
  const [signature] = sign(request, [`thought of ${text}`])
  const content = [
    { type: "thinking", thinking: `thought of ${text}`, signature },
    { type: "text", text },
  ]
  return { ...request, messages: [...request.messages, { role: "assistant", content }, user(next)] }
}

const tools = [{ name: "search", input_schema: { type: "object" } }]
const first: Request = { system: "Be brief.", tools, messages: [user("one?")] }
const three = answered(answered(answered(first, "1", "two?"), "2", "three?"), "3", "four?")

/** The request with its message at this position changed. */
const changed = (request: Request, position: number, change: (message: Message) => Message): Request => ({
  ...request,
  messages: request.messages.map((message, index) => (index === position ? change(message) : message)),
})

const withoutThinking = ({ role, content }: Message): Message => ({
  role,
  content: typeof content === "string" ? content : content.filter(({ type }) => type !== "thinking"),
})

const bound = (request: Request) => check(request).map(({ path, problem }) => `${problem} ${path}`)
const all = ["bound messages.1.content.0", "bound messages.3.content.0", "bound messages.5.content.0"]

describe("what keeps reasoning valid", () => {
  const cases: ReadonlyArray<readonly [string, Request]> = [
    [
      "messages at the end",
      { ...three, messages: [...three.messages, { role: "assistant", content: "4" }, user("five?")] },
    ],
    ["leaving out reasoning from the start", changed(changed(three, 1, withoutThinking), 3, withoutThinking)],
    ["leaving out the newest reasoning", changed(three, 5, withoutThinking)],
    ["leaving out all of it", { ...three, messages: three.messages.map(withoutThinking) }],
    [
      "a mark of cache_control",
      changed(three, 0, () => user([{ type: "text", text: "one?", cache_control: { type: "ephemeral" } }])),
    ],
    ["the system prompt as a block", { ...three, system: [{ text: "Be brief.", type: "text" }] }],
    ["a tool that is loaded later", { ...three, tools: [...tools, { name: "deploy", defer_loading: true }] }],
  ]
  for (const [name, request] of cases) {
    it(name, () => {
      expect(bound(request)).toEqual([])
    })
  }
})

describe("what invalidates it", () => {
  const cases: ReadonlyArray<readonly [string, Request, ReadonlyArray<string>]> = [
    ["another system prompt", { ...three, system: "Be long." }, all],
    ["another tool", { ...three, tools: [...tools, { name: "write" }] }, all],
    ["a changed first message", changed(three, 0, () => user("won?")), all],
    ["a change in the middle: what is behind it", changed(three, 2, () => user("too?")), all.slice(1)],
    [
      "a summary in place of the first messages",
      { ...three, messages: [user("Summary."), ...three.messages.slice(2)] },
      ["bound messages.2.content.0", "bound messages.4.content.0"],
    ],
    ["reasoning left out between others", changed(three, 3, withoutThinking), all.slice(2)],
  ]
  for (const [name, request, expected] of cases) {
    it(name, () => {
      expect(bound(request)).toEqual(expected)
    })
  }

  it("a changed text, or the signature of another account", () => {
    const rewritten = changed(three, 1, ({ role, content }) => ({
      role,
      content: (content as ReadonlyArray<Block>).map((block) =>
        block["type"] === "thinking" ? { ...block, thinking: "something else" } : block,
      ),
    }))
    expect(bound(rewritten)[0]).toBe("broken messages.1.content.0")
    expect(
      signer("another account")
        .check(three)
        .map(({ problem }) => problem),
    ).toEqual(["broken", "broken", "broken"])
  })
})

describe("after a change", () => {
  it("what is thought from then on is valid, as long as the old reasoning is dropped or left out", () => {
    const swapped = { ...three, messages: [user("Summary."), ...three.messages.slice(2)] }
    const goesOn = answered(swapped, "4", "five?")
    expect(bound(goesOn)).toEqual(["bound messages.2.content.0", "bound messages.4.content.0"])
    expect(
      bound({
        ...goesOn,
        messages: [...goesOn.messages.slice(0, 5).map(withoutThinking), ...goesOn.messages.slice(5)],
      }),
    ).toEqual([])
  })

  it("a summary of the API's own keeps the reasoning of the messages behind it", () => {
    const summarized = { ...three, messages: three.messages.slice(0, 3) }
    const block = { type: "compaction", content: "…", signature: compaction(summarized) }
    const swap = (request: Request): Request => ({
      ...request,
      messages: [{ role: "assistant", content: [block] }, ...request.messages.slice(3)],
    })
    expect(bound(swap(three))).toEqual([])
    expect(bound(answered(swap(three), "4", "five?"))).toEqual([])
    expect(bound({ ...swap(three), system: "Be long." })).toHaveLength(2)
    const added = swap(three)
    expect(
      bound({ ...added, messages: [added.messages[0]!, user("By the way."), ...added.messages.slice(1)] }),
    ).toHaveLength(2)
  })
})

describe("the Responses API", () => {
  const responses = signer("an account", "responses")
  const asked = { role: "user", content: "one?" }
  const [signature] = responses.sign({ input: "one?" }, ["a thought"])
  const reasoning = {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "a thought" }],
    encrypted_content: signature,
  }

  it("binds reasoning items to the items before them, not to the instructions", () => {
    const input = [asked, reasoning, { role: "assistant", content: "1" }]
    expect(responses.check({ input, instructions: "Be brief." })).toEqual([])
    expect(
      responses.check({ input: [{ ...asked, content: [{ type: "input_text", text: "one?" }] }, reasoning] }),
    ).toEqual([])
    expect(responses.check({ input: [{ ...asked, content: "won?" }, reasoning] })).toEqual([
      { path: "input[1]", problem: "bound" },
    ])
  })
})
