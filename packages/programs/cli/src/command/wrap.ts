/** `memfold wrap`: a coding agent behind the proxy, for as long as it runs. */
import { Args, HelpDoc, Options } from "@effect/cli"
import { defaultStrategy } from "@memfold/catalog"
import { Effect, Option } from "effect"
import { mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { isTool, type Tool, toolNames, tools } from "../wrap/tools.js"
import { runTool } from "../wrap/runTool.js"
import { Ended, UsageError } from "./failure.js"
import * as options from "./options.js"
import { serving } from "./serve.js"
import { clean } from "../terminal/terminal.js"
import { notAllowed } from "../terminal/wrongCall.js"

/** Where sessions of wrapped tools are kept: not in the folder that the tool works on. */
const defaultStore = (): string => {
  const data = process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share")
  const folder = join(data, "memfold")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return `sqlite:${join(folder, "agents.db")}`
}

const runningAt = (address: string): Effect.Effect<string, UsageError> => {
  const url = URL.canParse(address) ? new URL(address) : null
  return url !== null && /^https?:$/.test(url.protocol)
    ? Effect.succeed(url.href.replace(/\/+$/, ""))
    : new UsageError({ problem: `--proxy ${address}: an address is http://HOST:PORT` })
}

export const command = options.command(
  "wrap",
  "Run a coding agent with the memory: memfold wrap codex -- exec 'Fix the tests'. Nothing of its configuration is changed.",
  {
    tool: Args.text({ name: toolNames.join("|") }).pipe(
      Args.withDescription("The coding agent."),
      Args.mapEffect((given) =>
        isTool(given)
          ? Effect.succeed(given)
          : Effect.fail(HelpDoc.p(notAllowed("the coding agent", clean(given), toolNames))),
      ),
    ),
    args: Args.text({ name: "args" }).pipe(
      Args.repeated,
      Args.withDescription('Its arguments, behind "--".'),
    ),
    store: options
      .storeText("store", "Where its sessions are kept; a file of the user by default.")
      .pipe(Options.optional),
    proxy: options.optionalText(
      "proxy",
      "URL",
      'A "memfold serve --upstream" that runs already, in place of one for this run.',
    ),
    upstream: options.optionalText(
      "upstream",
      "URL",
      "The address of the API; by default, what the tool would use.",
    ),
    strategy: options.strategy.pipe(Options.withDefault(defaultStrategy)),
    summarizer: options.summarizer,
    guard: options.guard,
    ...options.trust,
  },
  ({ tool: name, args, store, proxy, upstream, strategy, summarizer, guard, ...rest }) =>
    Effect.gen(function* () {
      const tool: Tool = tools[name]
      const beforeAppend = yield* options.guardOf(guard)
      yield* options.summarizerOf(summarizer)
      const url = Option.isSome(proxy)
        ? yield* runningAt(proxy.value)
        : (yield* serving({
            store: Option.getOrElse(store, defaultStore),
            strategy,
            summarizer,
            port: 0,
            log: "none",
            upstream: Option.getOrElse(upstream, () => tool.upstreams(process.env)),
            ...options.given({ beforeAppend, ...rest }),
          })).url
      const code = yield* runTool(tool.program, tool.start(url, args, process.env))
      if (code !== 0) return yield* new Ended({ code })
    }).pipe(Effect.scoped),
)
