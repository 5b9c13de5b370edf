/** How the service is set, and the checks of that. */
import { type GivenSummarizer, storeForms, type StoreUrl, type StrategyName } from "@memfold/catalog"
import { type EventLog, type Guard, Memory, OptionGroup } from "@memfold/core"
import * as Layers from "@memfold/layers"
import { type Duration, type Layer, Predicate, Schema } from "effect"
import type { ToolHandler } from "./mcp.js"
import type { Site } from "./site.js"
import type { StoredToken } from "./tokens.js"

const { Callable, checkedBy, duration, durationWithin, nested, numberOf, option, orLayer, problemIn } =
  OptionGroup

/** An option of the service has a value that is not allowed; the `cause` is the `InvalidOption`, where one option alone is wrong. */
export class ServeError extends Error {
  readonly _tag = "ServeError"
  override readonly name = "ServeError"
}

/** The options of `serve`. All of them have defaults. */
export interface ServeOptions extends Pick<Memory.Options, "trust" | "minimumOrigin" | "load"> {
  /** The store, by its URL or as a layer; `sqlite:memfold.db` by default. */
  readonly store?: StoreUrl | Layer.Layer<EventLog.EventLog, EventLog.LogError>
  /** The port; 4710 by default, and 0 takes a free one. */
  readonly port?: number
  /** The address to listen on; `127.0.0.1` by default. Any other than an address of this machine alone needs `tokens`. */
  readonly host?: string
  /**
   * Names, besides those of this machine, that requests may have as their host and origin, so that no web page reaches the service
   * through a browser that was led astray.
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /** Who may use the service. Without tokens, whoever reaches the port may do everything. */
  readonly tokens?: ReadonlyArray<StoredToken>
  /** Without tokens: whether every request may only read. */
  readonly readOnly?: boolean
  /** The strategy, by its name; `break-even` by default. */
  readonly strategy?: StrategyName
  /** A parsed settings file of the strategy, such as `agent-tools.json` with its section `agent.contextWindow`. */
  readonly settings?: object
  /**
   * The path of the settings file. It is read when the service starts, unless `settings` is given, and `PUT /v1/settings` writes it.
   * Without it, changes count until the service ends.
   */
  readonly settingsFile?: string
  /** What environment variables with settings begin with; `MEMFOLD_` by default. */
  readonly environmentPrefix?: string
  /** Writes the summaries; `extractive` by default. */
  readonly summarizer?: GivenSummarizer | ReadonlyArray<GivenSummarizer>
  /** Facts about users and scopes, learned after each turn; off by default. */
  readonly layers?: boolean | Layers.Options
  /** When and how compactions run; in the background by default. */
  readonly compaction?: Memory.CompactionOptions
  /** The guard: what of each message is stored, such as `guard()` of `@memfold/guard`; all of it by default. */
  readonly beforeAppend?: Guard.BeforeAppend
  /** What summarizer and extractor may cost in a day; any amount by default. A tenant's sessions and owners have caps of their own. */
  readonly spend?: Memory.SpendOptions
  /** What the audit trails have beside erasures and holds: exports and deletions, and reads if they are asked for. */
  readonly audit?: Memory.AuditOptions
  /**
   * Where requests to the APIs of OpenAI and Anthropic go on to, which then get the memory of their session: an address for both,
   * such as `https://api.openai.com`, or one for each. Nothing is passed on by default.
   */
  readonly upstream?: string | { readonly openai?: string; readonly anthropic?: string }
  /** How long an upstream may be silent, before its answer and within it; 15 minutes by default. */
  readonly upstreamTimeout?: Duration.DurationInput
  /** The model of the upstream that writes summaries; by default, the model of the session, in its context. */
  readonly summaryModel?: string
  /** The largest body of a request, in bytes; 10 MiB by default. */
  readonly maxBody?: number
  /**
   * How many bytes of bodies that are not whole yet may be in memory, of all clients together, in bytes; 256 MiB by default. One
   * token has half of it at most.
   */
  readonly maxBodies?: number
  /** The most connections at the same time; 10,000 by default. */
  readonly maxConnections?: number
  /** The most subscribers to changes at the same time; 10,000 by default. Those of one token are half of them at most. */
  readonly maxSubscribers?: number
  /** The most requests a second for each token; 100 by default with tokens, and any number without. */
  readonly rate?: number
  /** The most sessions of a tenant; any number by default. */
  readonly maxSessions?: number
  /** How long a request may take; 60 seconds by default. */
  readonly timeout?: Duration.DurationInput
  /** How long requests may go on when the service ends; 10 seconds by default. */
  readonly shutdown?: Duration.DurationInput
  /** A page to serve under `/studio/`: the files of `@memfold/studio`, from its `pageFiles()`. */
  readonly site?: Site
  /** Tools of MCP at `/mcp`: `mcpHandler` of `@memfold/mcp`. What a tool may do is what its token may. */
  readonly mcp?: ToolHandler
  /**
   * An OpenTelemetry collector that gets traces and metrics, by OTLP over HTTP: its address, such as `http://127.0.0.1:4318`, and headers,
   * such as its token. Calls of the summarizer are spans by the GenAI conventions. Nothing of what was said is sent.
   */
  readonly otlp?: {
    readonly url: string
    readonly headers?: Readonly<Record<string, string>>
    /** What the service is called there; `memfold` by default. */
    readonly serviceName?: string
  }
  /** What is logged, as lines of JSON on standard error: `info` (default) has a line for each request. */
  readonly log?: "error" | "info" | "none"
}

/** The addresses to listen on that only this machine reaches. */
const localAddresses: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])
const localNames = ["localhost", "127.0.0.1", "[::1]"]

export const namesOf = ({ host = "127.0.0.1", allowedHosts = [] }: ServeOptions): ReadonlySet<string> =>
  new Set(
    [...localNames, ...(host.includes(":") ? [`[${host}]`] : [host]), ...allowedHosts].map((name) =>
      name.toLowerCase(),
    ),
  )

/** The limits of a service, where its options say nothing else. */
export const limitsOf = ({
  maxBody = 10 * 2 ** 20,
  maxBodies = 2 ** 28,
  maxConnections = 10_000,
  maxSubscribers = 10_000,
  timeout = "60 seconds",
  shutdown = "10 seconds",
}: ServeOptions) => ({ maxBody, maxBodies, maxConnections, maxSubscribers, timeout, shutdown })

/** The upstreams, by whose API they have. */
export const upstreamsOf = ({ upstream }: ServeOptions): Readonly<{ openai?: URL; anthropic?: URL }> => {
  const given = typeof upstream === "string" ? { openai: upstream, anthropic: upstream } : (upstream ?? {})
  return Object.fromEntries(
    Object.entries(given).map(([name, address]) => {
      const url = URL.canParse(address) ? new URL(address) : null
      if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "")
        throw new ServeError(
          `upstream: the address of ${name} is http://HOST or https://HOST, with a path at most`,
        )
      return [name, url]
    }),
  )
}

const Texts = Schema.Array(Schema.String)
const Bool = option(Schema.Boolean, "true or false")

/** The options, and what each must be. Any other name is a typing mistake. */
export const serveOptions = {
  store: option(orLayer(Schema.String), `${storeForms.join(", ")}, or a layer`),
  port: numberOf({ from: 0, to: 65_535 }),
  host: option(Schema.String, "an address of this machine, such as 127.0.0.1"),
  allowedHosts: option(Texts, "a list of names"),
  tokens: option(
    Schema.Array(Schema.Struct({ tenant: Schema.String, rights: Texts })),
    "a list of stored tokens, as makeToken gives them",
  ),
  readOnly: Bool,
  strategy: option(Schema.String, "the name of a strategy"),
  settings: option(checkedBy<object>(Predicate.isRecord), "an object: a parsed settings file"),
  settingsFile: option(Schema.String, "the path of a settings file"),
  environmentPrefix: option(Schema.String, "a text, such as MEMFOLD_"),
  // The catalog knows what a summarizer can be.
  summarizer: Schema.Unknown,
  layers: nested(Layers.optionGroup, "true, false, or an object of options", Schema.Boolean),
  compaction: Memory.memoryOptions.compaction,
  beforeAppend: Memory.memoryOptions.beforeAppend,
  spend: Memory.memoryOptions.spend,
  audit: Memory.memoryOptions.audit,
  trust: Memory.memoryOptions.trust,
  minimumOrigin: Memory.memoryOptions.minimumOrigin,
  load: Memory.memoryOptions.load,
  upstream: option(
    Schema.Union(
      Schema.String,
      Schema.Struct({ openai: Schema.optional(Schema.String), anthropic: Schema.optional(Schema.String) }),
    ),
    "an address, such as https://api.openai.com, or an object like { openai, anthropic }",
  ),
  upstreamTimeout: durationWithin(
    (millis) => millis >= 1,
    'a time of a millisecond or more, such as "30 seconds"',
  ),
  summaryModel: option(Schema.String, "the name of a model"),
  maxBody: option(Schema.Int.pipe(Schema.between(1, 2 ** 29)), "a size from 1 byte to 512 MiB"),
  maxBodies: option(Schema.Int.pipe(Schema.between(2, 2 ** 40)), "a size of 2 bytes or more"),
  maxConnections: numberOf({ from: 1, to: 1_000_000, unit: "connections" }),
  maxSubscribers: numberOf({ from: 2, to: 1_000_000, unit: "subscribers" }),
  rate: numberOf({ from: 1, to: 1_000_000, unit: "requests" }),
  maxSessions: numberOf({ from: 1, to: 1_000_000 }),
  timeout: duration(),
  shutdown: duration(),
  site: option(
    checkedBy<Site>((value) => value instanceof Map),
    "files, such as pageFiles() of @memfold/studio",
  ),
  mcp: option(Callable, "mcpHandler of @memfold/mcp"),
  otlp: option(
    Schema.Struct({
      url: Schema.String,
      headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
      serviceName: Schema.optional(Schema.String),
    }),
    "an object like { url, headers, serviceName }",
  ),
  log: option(Schema.Literal("error", "info", "none"), "error, info, or none"),
} satisfies Record<keyof ServeOptions, Schema.Schema.AnyNoContext>

/**
 * Checks the options.
 *
 * @throws ServeError: the first wrong option, and what it can be
 */
export const checkOptions = (options: ServeOptions): void => {
  if (!Predicate.isRecord(options as unknown))
    throw new ServeError("The options are an object like { port: 4710 }")
  const wrong = problemIn(serveOptions, options)
  if (wrong !== null) throw new ServeError(wrong.message, { cause: wrong })
  const { host = "127.0.0.1", tokens } = options
  if (options.otlp !== undefined && !/^https?:\/\/[^/]/.test(options.otlp.url))
    throw new ServeError("otlp is the address of a collector, such as http://127.0.0.1:4318")
  if (!localAddresses.has(host) && tokens === undefined)
    throw new ServeError(
      `${host} can be reached from other machines: give tokens (--tokens FILE), or listen on 127.0.0.1`,
    )
  if (options.readOnly === true && tokens !== undefined)
    throw new ServeError("readOnly is for a service without tokens: give tokens the right to read alone")
  const isProxy = Object.keys(upstreamsOf(options)).length > 0
  if (options.readOnly === true && isProxy)
    throw new ServeError("a proxy writes what passes through it: take readOnly or upstream, and not both")
  if (!isProxy && (options.summaryModel ?? options.upstreamTimeout) !== undefined)
    throw new ServeError("summaryModel and upstreamTimeout are for a proxy: give upstream (--upstream URL)")
}
