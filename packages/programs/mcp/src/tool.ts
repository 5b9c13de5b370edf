/** A tool: its description, the schemas of what goes in and out, and what it does with a memory. */
import type { McpServer } from "@modelcontextprotocol/server"
import type { Origin, PromiseMemory } from "memfold"
import * as z from "zod"
import { readAs } from "./arguments.js"
import { failure } from "./failure.js"

/** The memory that the tools use, with messages in the format of Chat Completions. */
export type ServedMemory = PromiseMemory<"openai">

/** What the tools use of a memory: {@link ServedMemory} has it, and what a service makes of each tenant's sessions. */
export interface ToolMemory extends Pick<
  ServedMemory,
  "append" | "compact" | "events" | "facts" | "messages" | "revert" | "sessions" | "state" | "summaries"
> {
  readonly context: (...given: Parameters<ServedMemory["context"]>) => Promise<{
    readonly messages: Awaited<ReturnType<ServedMemory["context"]>>["messages"]
    readonly layout: ReadonlyArray<{
      readonly section: string
      readonly from: number
      readonly to: number
      readonly tokens: number
      readonly parts?: ReadonlyArray<string> | undefined
      readonly origin?: Origin.Origin | undefined
    }>
    readonly tokens: number
  }>
  readonly recall: (
    session: string,
    query: string,
    options: Omit<NonNullable<Parameters<ServedMemory["recall"]>[2]>, "settings" | "strategy">,
  ) => Promise<{
    readonly messages: ReadonlyArray<
      Omit<Awaited<ReturnType<ServedMemory["recall"]>>["messages"][number], "message" | "origin"> & {
        readonly origin?: Origin.Origin | undefined
      }
    >
    readonly tokens: number
    readonly unsearched?: number | undefined
  }>
  readonly sessionsOf: (
    owner: string,
    page: { readonly limit: number },
  ) => Promise<Pick<Awaited<ReturnType<ServedMemory["sessionsOf"]>>, "sessions" | "before">>
}

/**
 * What a tool may change.
 *
 * - `nothing`: it only reads
 * - `adds`: it adds to the session, and takes nothing away
 * - `takes-back`: contexts lose something that they showed; the log keeps it
 */
export type Changes = "nothing" | "adds" | "takes-back"

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly changes: Changes
  readonly input: Input
  readonly output: Output
  readonly run: (memory: ToolMemory, input: z.output<Input>) => Promise<z.input<Output>>
}

/** A tool that can be registered with a server. */
export interface Tool {
  readonly name: string
  readonly changes: Changes
  readonly register: (server: McpServer, memory: ToolMemory) => void
}

/** Makes a tool of its definition. The result is sent as structured content, and as JSON text for clients without it. */
export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  title,
  description,
  changes,
  input,
  output,
  run,
}: Definition<Input, Output>): Tool => ({
  name,
  changes,
  register: (server, memory) => {
    const annotations = {
      readOnlyHint: changes === "nothing",
      destructiveHint: changes === "takes-back",
      idempotentHint: changes === "nothing",
      openWorldHint: false,
    }
    server.registerTool<Output, z.ZodType<z.output<Input>>>(
      name,
      {
        title,
        description,
        inputSchema: z.preprocess((given) => readAs(input, given), input),
        outputSchema: output,
        annotations,
      },
      // The generic callback type does not resolve for a schema that is not known yet.
      (async (given: z.output<Input>) => {
        try {
          const structuredContent = (await run(memory, given)) as Record<string, unknown>
          return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
        } catch (error) {
          return failure(error)
        }
      }) as never,
    )
  },
})
