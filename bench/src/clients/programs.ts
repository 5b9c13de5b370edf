/** The programs, as they are started without a terminal, and how their models call a tool that reads a file. */
import type { AnsweredCall, ModelRequest } from "@memfold/strict-providers"
import { automaticCache, type Charged, markedCache } from "../proxy/promptCache.js"

type Fields = Readonly<Record<string, unknown>>

/** A program. */
export interface Program {
  /** What it is called here. */
  readonly name: string
  /** What it is called in `memfold wrap`. */
  readonly tool: "claude" | "codex" | "opencode"
  readonly package: string
  readonly prices: "claude-sonnet-5.5" | "gpt-6.2-sol"
  /** The cache of its provider. */
  readonly cache: () => (body: Fields) => Charged
  /** Fields that it sends to its provider and that no page documents. */
  readonly unpublished: ReadonlyArray<string>
  /** `compactAt` is the number of tokens at which it compacts by itself; `null` leaves that to the program. */
  readonly env: (home: string, compactAt: number | null) => Readonly<Record<string, string>>
  /** Its arguments for a question. */
  readonly args: (question: string, place: Place) => ReadonlyArray<string>
  /** At how many tokens it compacts in the run of its own compaction. */
  readonly compactAt: number
  /**
   * Whether its own compaction works where thinking is bound to what stands before it. opencode keeps thinking behind its summary, and
   * ends with an error when that is refused.
   */
  readonly knowsBinding: boolean
  readonly call: (file: string, asked: ModelRequest) => AnsweredCall | null
}

/** Where and when a question is asked. */
export interface Place {
  readonly folder: string
  readonly isFirst: boolean
  readonly compactAt: number | null
}

const codex: Program = {
  name: "codex",
  tool: "codex",
  package: "@openai/codex",
  prices: "gpt-6.2-sol",
  compactAt: 26_000,
  knowsBinding: true,
  cache: automaticCache,
  unpublished: ["client_metadata", "internal_chat_message_metadata_passthrough"],
  env: (home) => ({ CODEX_HOME: home, CODEX_API_KEY: "none" }),
  args: (question, { isFirst, compactAt }) => [
    "exec",
    ...(isFirst ? [] : ["resume", "--last"]),
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    ...(compactAt === null ? [] : ["-c", `model_auto_compact_token_limit=${compactAt}`]),
    question,
  ],
  call: (file) => ({
    name: "exec",
    input: `text((await tools.exec_command({ cmd: "cat ${file}" })).output)`,
  }),
}

/** Whether Claude Code asks for a summary: it wants a text and no calls. */
const asksForText = ({ messages }: Fields): boolean =>
  Array.isArray(messages) && JSON.stringify(messages.at(-1)).includes("Respond with TEXT ONLY")

const claude: Program = {
  name: "claude",
  tool: "claude",
  package: "@anthropic-ai/claude-code",
  prices: "claude-sonnet-5.5",
  compactAt: 26_000,
  knowsBinding: true,
  cache: markedCache,
  unpublished: [],
  env: (home, compactAt) => ({
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    ...(compactAt === null
      ? {}
      : {
          CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000",
          CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String(compactAt / 1_000),
        }),
  }),
  args: (question, { isFirst }) => [
    "--print",
    question,
    ...(isFirst ? [] : ["--continue"]),
    "--model",
    "claude-sonnet-5-5",
    "--allowedTools",
    "Bash",
  ],
  call: (file, { tools, body }) =>
    tools.includes("Bash") && !asksForText(body)
      ? { name: "Bash", arguments: { command: `cat ${file}`, description: "Reads facts" } }
      : null,
}

/** opencode, with a model of one of two providers. */
const opencode = (provider: "openai" | "anthropic", model: string): Program => ({
  name: `opencode-${provider}`,
  tool: "opencode",
  package: "opencode-ai",
  prices: provider === "openai" ? "gpt-6.2-sol" : "claude-sonnet-5.5",
  compactAt: 26_000,
  knowsBinding: false,
  cache: provider === "openai" ? automaticCache : markedCache,
  unpublished: [],
  env: (_, compactAt) => ({
    OPENAI_API_KEY: "none",
    ANTHROPIC_API_KEY: "none",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    ...(compactAt === null
      ? {}
      : {
          OPENCODE_CONFIG_CONTENT: JSON.stringify({
            provider: {
              [provider]: {
                models: {
                  [model]: { limit: { context: compactAt + 4_000, input: compactAt + 4_000, output: 4_000 } },
                },
              },
            },
          }),
        }),
  }),
  args: (question, { isFirst }) => [
    "run",
    ...(isFirst ? [] : ["--continue"]),
    "--model",
    `${provider}/${model}`,
    question,
  ],
  call: (file, { tools }) =>
    tools.includes("bash")
      ? { name: "bash", arguments: { command: `cat ${file}`, description: "Reads facts" } }
      : null,
})

/** All of them. */
export const programs: ReadonlyArray<Program> = [
  claude,
  codex,
  opencode("openai", "gpt-5"),
  opencode("anthropic", "claude-sonnet-4-5"),
]
