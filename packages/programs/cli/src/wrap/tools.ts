/**
 * The coding agents that can be wrapped: how each one is told another address for one run. Nothing is written: what a tool needs stands
 * in its environment or in its arguments, before those of the user.
 */
import { isObject, valueOr } from "../transcript/source.js"

/** What a tool is started with. */
export interface Start {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

/** How a tool is wrapped. */
export interface Tool {
  readonly program: string
  /** Where its requests go without a wrapper, as far as its environment says. */
  readonly upstreams: (env: NodeJS.ProcessEnv) => Readonly<{ openai?: string; anthropic?: string }>
  /**
   * How it is started.
   *
   * @param proxy - the address of the proxy
   * @param args - the arguments of the user
   */
  readonly start: (proxy: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) => Start
}

/** An address without the version of the API at its end: the paths that are passed on have it. */
const withoutVersion = (address: string): string => address.replace(/\/+$/, "").replace(/\/v1$/, "")

const given = (value: string | undefined, other: string): string =>
  value === undefined || value === "" ? other : withoutVersion(value)

const openai = (env: NodeJS.ProcessEnv): string => given(env["OPENAI_BASE_URL"], "https://api.openai.com")
const anthropic = (env: NodeJS.ProcessEnv): string =>
  given(env["ANTHROPIC_BASE_URL"], "https://api.anthropic.com")

/** A value that the environment already has, if it is an object; an empty one for anything else. */
const objectOr = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

/** The configuration of opencode with the address of each provider, over what the environment has already. */
const opencodeConfig = (text: string | undefined, addresses: Readonly<Record<string, string>>): string => {
  const config = objectOr(valueOr(text ?? "", {}))
  const providers = objectOr(config["provider"])
  const changed = Object.entries(addresses).map(([name, baseURL]) => {
    const provider = objectOr(providers[name])
    return [name, { ...provider, options: { ...objectOr(provider["options"]), baseURL } }]
  })
  return JSON.stringify({ ...config, provider: { ...providers, ...Object.fromEntries(changed) } })
}

/** The tools, by the names that the command line takes. */
export const tools = {
  claude: {
    program: "claude",
    upstreams: (env) => ({ anthropic: anthropic(env) }),
    start: (proxy, args) => ({ args, env: { ANTHROPIC_BASE_URL: proxy } }),
  },
  codex: {
    program: "codex",
    upstreams: (env) => ({ openai: openai(env) }),
    start: (proxy, args) => ({
      args: ["-c", `openai_base_url=${JSON.stringify(`${proxy}/v1`)}`, ...args],
      env: {},
    }),
  },
  opencode: {
    program: "opencode",
    upstreams: (env) => ({ openai: openai(env), anthropic: anthropic(env) }),
    start: (proxy, args, env) => ({
      args,
      env: {
        OPENCODE_CONFIG_CONTENT: opencodeConfig(env["OPENCODE_CONFIG_CONTENT"], {
          openai: `${proxy}/v1`,
          anthropic: `${proxy}/v1`,
        }),
      },
    }),
  },
} as const satisfies Readonly<Record<string, Tool>>

export type ToolName = keyof typeof tools

export const toolNames = Object.keys(tools)

export const isTool = (name: string): name is ToolName => Object.hasOwn(tools, name)
