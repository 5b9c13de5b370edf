/** Generated items of the Agents SDK: all that its schema knows, with provider data of any shape. */
import * as fc from "fast-check"

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("", "14 °C, rain", "{}", "…\u2028"))
const id = fc.constantFrom("a", "b", "call_1", "x".repeat(70))
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>
const data = fc.dictionary(
  fc.constantFrom("id", "type", "annotations", "phase", "createdBy", "created_by", "status", "__proto__"),
  json,
  { maxKeys: 3 },
)

const maybe = { requiredKeys: [] as Array<never> }

/** An object with some fields that are always there, and some that may be. */
const item = (
  fixed: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  optional: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(fc.record(fixed), fc.record({ id, providerData: data, ...optional }, maybe))
    .map(([one, other]) => ({ ...one, ...other }))

const type = <T extends string>(name: T) => ({ type: fc.constant(name) })
const status = fc.constantFrom("in_progress", "completed", "incomplete")
const caller = fc.oneof(fc.record(type("direct")), fc.record({ ...type("program"), callerId: id }))

const image = fc.oneof(
  fc.constant("data:image/png;base64,AAAA"),
  fc.constant("https://a.org/a.png"),
  fc.record({ id }),
)
const file = fc.oneof(
  fc.constant("data:text/plain;base64,AAAA"),
  fc.constant("https://a.org/a.pdf"),
  fc.record({ id }),
  fc.record({ url: fc.constant("https://a.org/b.pdf") }),
)
const toolImage = fc.oneof(
  fc.constant("data:image/png;base64,AAAA"),
  fc.record({ fileId: id }),
  fc.record({ url: fc.constant("https://a.org/a.png") }),
  fc.record({ data: fc.constant("AAAA"), mediaType: fc.constant("image/png") }),
)
const mark = { promptCacheBreakpoint: fc.constant({ mode: "explicit" }) }

const part = (
  fixed: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
) =>
  fc
    .tuple(fc.record(fixed), fc.record({ providerData: data, ...optional }, maybe))
    .map(([one, other]) => ({ ...one, ...other }))

const inputText = part({ ...type("input_text"), text }, mark)
const inputImage = part(
  { ...type("input_image"), image },
  { detail: fc.constantFrom("low", "auto"), ...mark },
)
const inputFile = part({ ...type("input_file"), file }, { filename: fc.constant("a.pdf"), ...mark })
const audio = part({ ...type("audio"), audio: fc.constant("AAAA") }, { format: fc.constant("wav") })
const userContent = fc.array(fc.oneof(inputText, inputImage, inputFile, audio), { maxLength: 3 })
const assistantContent = fc.array(
  fc.oneof(
    part({ ...type("output_text"), text }),
    part({ ...type("refusal"), refusal: text }),
    part({ ...type("image"), image: fc.constant("AAAA") }),
  ),
  { maxLength: 3 },
)

const output = fc.oneof(
  text,
  part({ ...type("text"), text }),
  part({ ...type("image") }, { image: toolImage, detail: fc.constantFrom("low", "auto") }),
  part({ ...type("file"), file: fc.constant("https://a.org/a.pdf") }),
  fc.array(fc.oneof(inputText, inputImage, inputFile), { maxLength: 3 }),
)

const message = { type: fc.constant("message") }

/** An item of the Agents SDK. */
export const agentItem: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  item({ role: fc.constant("user"), content: fc.oneof(text, userContent) }, message),
  item({ role: fc.constant("system"), content: text }, message),
  item(
    { role: fc.constant("assistant"), status, content: assistantContent },
    { ...message, phase: fc.constantFrom("commentary", "final_answer") },
  ),
  item(
    { ...type("function_call"), callId: id, name: text, arguments: text },
    { status, caller, namespace: text },
  ),
  item(
    { ...type("function_call_result"), callId: id, name: text, status, output },
    { caller, namespace: text },
  ),
  item(
    { ...type("reasoning"), content: fc.array(inputText, { maxLength: 2 }) },
    { rawContent: fc.array(part({ ...type("reasoning_text"), text }), { maxLength: 2 }) },
  ),
  item(
    { ...type("hosted_tool_call"), name: fc.constantFrom("web_search_call", "mcp_call", "mine") },
    { status: text, output: text, arguments: text, caller },
  ),
  item({
    ...type("computer_call"),
    callId: id,
    status,
    action: fc.constant({ type: "click", x: 1, y: 2, button: "left" }),
  }),
  item({
    ...type("computer_call_result"),
    callId: id,
    output: fc.record({ ...type("computer_screenshot"), data: text }),
  }),
  item(
    {
      ...type("shell_call"),
      callId: id,
      action: fc.record({ commands: fc.array(text, { maxLength: 2 }), timeoutMs: fc.nat() }),
    },
    { status, caller },
  ),
  item(
    {
      ...type("shell_call_output"),
      callId: id,
      output: fc.constant([{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }]),
    },
    { status, maxOutputLength: fc.nat() },
  ),
  item({
    ...type("apply_patch_call"),
    callId: id,
    status: fc.constantFrom("in_progress", "completed"),
    operation: fc.constant({ type: "update_file", path: "a", diff: "b", moveTo: "c" }),
  }),
  item(
    { ...type("apply_patch_call_output"), callId: id, status: fc.constantFrom("completed", "failed") },
    { output: text },
  ),
  item({ ...type("program"), callId: id, code: text, fingerprint: text }),
  item({
    ...type("program_output"),
    callId: id,
    output: text,
    status: fc.constantFrom("completed", "incomplete"),
  }),
  item(
    { ...type("tool_search_call"), arguments: json },
    { callId: id, call_id: id, execution: fc.constantFrom("client", "server") },
  ),
  item(
    {
      ...type("tool_search_output"),
      tools: fc.array(fc.record({ ...type("function"), name: text, deferLoading: fc.boolean() }), {
        maxLength: 2,
      }),
    },
    { toolSearchAgentName: text },
  ),
  item({ ...type("compaction"), encrypted_content: text }, { created_by: text }),
  item({ ...type("unknown") }),
)
