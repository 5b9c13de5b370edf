/** The programs, as they are started without a terminal, and how their models call a tool that reads a file. */
import type { AnsweredCall, ModelRequest } from "@memfold/strict-providers"
import { automaticCache, type Charged, markedCache } from "../proxy/promptCache.js"

type Fields = Readonly<Record<string, unknown>>

/** A program. */
export interface Program {
  /** Its name in `memfold wrap`. */
  readonly name: "claude" | "codex" | "opencode"
  readonly package: string
  readonly prices: "claude-sonnet-5.5" | "gpt-6.2-sol"
  /** The cache of its provider. */
  readonly cache: () => (body: Fields) => Charged
  /** Fields that it sends to its provider and that no page documents. */
  readonly unpublished: ReadonlyArray<string>
  readonly env: (home: string) => Readonly<Record<string, string>>
  /** Its arguments for a question; `compactAt` is the number of tokens at which it compacts by itself. */
  readonly args: (question: string, place: Place) => ReadonlyArray<string>
  readonly compactAt: number
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
  package: "@openai/codex",
  prices: "gpt-6.2-sol",
  compactAt: 26_000,
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

const claude: Program = {
  name: "claude",
  package: "@anthropic-ai/claude-code",
  prices: "claude-sonnet-5.5",
  compactAt: 26_000,
  cache: markedCache,
  unpublished: [],
  env: (home) => ({
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
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
  call: (file, { tools }) =>
    tools.includes("Bash")
      ? { name: "Bash", arguments: { command: `cat ${file}`, description: "Reads facts" } }
      : null,
}

/** All of them. */
export const programs: ReadonlyArray<Program> = [claude, codex]
