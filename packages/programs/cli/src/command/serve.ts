/** `memfold serve`: the memory as a service; and `memfold token`: who may use it. */
import { Options } from "@effect/cli"
import { defaultStrategy, loading, optional, UnknownName, withoutSecrets } from "@memfold/catalog"
import type { ServeOptions, StoredToken } from "@memfold/server"
import type { OptionGroup } from "@memfold/core"
import { Console, Effect, Either, Option, Predicate } from "effect"
import { existsSync } from "node:fs"
import { withArchive } from "@memfold/archive"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { parsedFile } from "./parsedFile.js"
import { listening } from "./signals.js"
import { spend, spendOf } from "./spend.js"
import { clean, color } from "../terminal/terminal.js"

/** The service: a module that no other command needs. */
const server = Effect.promise(() => import("@memfold/server"))
/** The page of `--studio`: a package of its own, which is read only where it is asked for. */
export const studioPage = Effect.tryPromise({
  try: async () => (await import("@memfold/studio")).pageFiles(),
  catch: () =>
    new UsageError({ problem: "the page is not there: install @memfold/studio again, or build it" }),
})

/** The tools of `--mcp`: a package that only its users install. */
const tools = loading(() =>
  optional<{ readonly mcpHandler: NonNullable<ServeOptions["mcp"]> }>("@memfold/mcp"),
)

const tokenFile = Options.text("tokens").pipe(Options.withPseudoName("FILE"))

export const readTokens = (path: string) =>
  Effect.gen(function* () {
    const { tokensIn } = yield* server
    return yield* Either.mapLeft(
      tokensIn(yield* parsedFile("--tokens", path)),
      (error) => new UsageError({ problem: `--tokens ${path}: ${error.message}` }),
    )
  })

/** The options of the service whose name on the command line does not follow from theirs. */
const renamed: Readonly<Record<string, string>> = {
  allowedHosts: "allow-host",
  environmentPrefix: "env-prefix",
  "load.appends": "max-appends",
  "load.appendsPerSession": "max-appends-per-session",
  settingsFile: "settings",
}

/** What is wrong with the options of a service, by the names that the user typed. */
const wrongOption = (error: unknown): UsageError => {
  const wrong = error instanceof Error ? error.cause : undefined
  // Its class may be another copy.
  if (Predicate.isTagged(wrong, "InvalidOption")) {
    const { option, allowed, known } = wrong as OptionGroup.InvalidOption
    if (known === undefined)
      return new UsageError({ problem: `--${renamed[option] ?? options.dashed(option)} must be ${allowed}` })
  }
  return new UsageError({ problem: error instanceof Error ? error.message : String(error) })
}

/** Serves until the scope ends. */
export const serving = (given: ServeOptions) =>
  Effect.flatMap(server, ({ serve }) =>
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () => serve(given),
        catch: wrongOption,
      }),
      ({ close }) => Effect.promise(close),
    ),
  )

/** Serves until the process is asked to end; `announce` says what to print once it listens. */
export const served = (given: ServeOptions, announce: (url: string) => string) =>
  Effect.gen(function* () {
    const asked = yield* listening
    const { url } = yield* serving(given)
    yield* Console.log(announce(url))
    yield* asked
  }).pipe(Effect.scoped)

const mebibytes = (count: number): number => count * 2 ** 20

/** The headers for a collector: `key=value` pairs of the environment, as OpenTelemetry has them. */
const otlpHeaders = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (process.env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "").split(",").flatMap((pair) => {
      const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      if (name === undefined || value === undefined) return []
      try {
        return [[name, decodeURIComponent(value)] as const]
      } catch {
        return [[name, value] as const]
      }
    }),
  )
/** The upstreams as they are written: an address for both APIs, or `NAME=ADDRESS` for one. */
const upstreamsIn = (given: ReadonlyArray<string>): Exclude<ServeOptions["upstream"], string | undefined> =>
  Object.assign(
    {},
    ...given.map((one) => {
      const [, name, address] = /^(openai|anthropic)=(.*)$/s.exec(one) ?? []
      return name === undefined ? { openai: one, anthropic: one } : { [name]: address }
    }),
  ) as Exclude<ServeOptions["upstream"], string | undefined>

export const command = options.command(
  "serve",
  "Serve the memory over HTTP, for programs of any language.",
  {
    store: options
      .storeText("store", "The store, as for other commands; sqlite:memfold.db by default.")
      .pipe(Options.withDefault("sqlite:memfold.db")),
    port: options
      .integer("port", "N", "The port; 4710 by default, 0 for a free one.")
      .pipe(Options.withDefault(4710)),
    host: options
      .text("host", "ADDRESS", "The address to listen on; any other than this machine's own needs --tokens.")
      .pipe(Options.withDefault("127.0.0.1")),
    allowedHosts: options.repeatedText(
      "allow-host",
      "NAME",
      "A host name that requests may have; may be repeated.",
    ),
    tokens: tokenFile.pipe(
      Options.optional,
      Options.withDescription('Who may use the service: a file that "memfold token" writes.'),
    ),
    strategy: options.strategy.pipe(Options.withDefault(defaultStrategy)),
    settings: options.optionalText(
      "settings",
      "FILE",
      "A settings file of the strategy (JSON), such as agent-tools.json.",
    ),
    environmentPrefix: options.environmentPrefix,
    summarizer: options.summarizer,
    layers: options.flag("layers", "Learn facts about users and scopes, and recall them."),
    upstream: options.repeatedText(
      "upstream",
      "URL",
      "Pass requests to the APIs of OpenAI and Anthropic on to this address, with the memory of their session; openai=URL and anthropic=URL for one of each.",
    ),
    summaryModel: options.optionalText(
      "summary-model",
      "MODEL",
      "The model of the upstream that writes summaries; the model of each session by default.",
    ),
    maxBody: options.optionalInteger(
      "max-body",
      "MIB",
      "The largest body of a request, in MiB; 10 by default.",
    ),
    maxBodies: options.optionalInteger(
      "max-bodies",
      "MIB",
      "What bodies that are not whole may have in memory, of all clients, in MiB; 256 by default.",
    ),
    maxConnections: options.optionalInteger(
      "max-connections",
      "N",
      "The most connections at the same time; 10,000 by default.",
    ),
    maxSubscribers: options.optionalInteger(
      "max-subscribers",
      "N",
      "The most subscribers to changes, one tenant half of them; 10,000 by default.",
    ),
    maxAppends: options.optionalInteger(
      "max-appends",
      "N",
      "The most appends that wait for the store; 10,000 by default.",
    ),
    maxAppendsPerSession: options.optionalInteger(
      "max-appends-per-session",
      "N",
      "The most appends of a session that wait; 1,000 by default.",
    ),
    upstreamTimeout: options.optionalInteger(
      "upstream-timeout",
      "SECONDS",
      "How long an upstream may be silent; 900 by default.",
    ),
    rate: options.optionalInteger(
      "rate",
      "N",
      "The most requests a second for each token; 100 by default with tokens.",
    ),
    maxSessions: options.optionalInteger("max-sessions", "N", "The most sessions of a tenant."),
    studio: options.flag("studio", "Serve the page that shows what the model saw, under /studio/."),
    mcp: options.flag(
      "mcp",
      "Serve the tools of @memfold/mcp at /mcp; what a tool may do is what its token may.",
    ),
    readOnly: options.flag("read-only", "Without --tokens: let every request read, and none write."),
    otlp: options.optionalText(
      "otlp",
      "URL",
      "An OpenTelemetry collector for traces and metrics (OTLP over HTTP); OTEL_EXPORTER_OTLP_ENDPOINT by default.",
    ),
    archive: options.archive,
    guard: options.guard,
    ...options.trust,
    ...spend,
    audit: options.optionalChoice(
      "audit",
      ["changes", "reads"],
      "What the audit trails have beside erasures and holds: exports and deletions, or each read as well.",
    ),
    quiet: options.flag("quiet", "Log failures only, and not each request."),
  },
  ({ allowedHosts, environmentPrefix, host, layers, mcp, port, quiet, readOnly, store, studio, ...rest }) =>
    Effect.gen(function* () {
      // What the store and the summarizer are called is checked here: their errors name what is allowed.
      yield* options.summarizerOf(rest.summarizer)
      const { strategy, summarizer, rate, maxConnections, maxSessions, maxSubscribers } = rest
      const tokens = yield* Effect.transposeMapOption(rest.tokens, readTokens)
      const collector = Option.orElse(rest.otlp, () =>
        Option.fromNullable(process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] || null),
      )
      const given = options.given({
        otlp: Option.map(collector, (url) => ({ url, headers: otlpHeaders() })),
        tokens,
        rate,
        maxConnections,
        maxSessions,
        maxSubscribers,
        maxBody: Option.map(rest.maxBody, mebibytes),
        maxBodies: Option.map(rest.maxBodies, mebibytes),
        upstreamTimeout: Option.map(rest.upstreamTimeout, (seconds) => `${seconds} seconds` as const),
        summaryModel: rest.summaryModel,
        beforeAppend: yield* options.guardOf(rest.guard),
        trust: rest.trust,
        minimumOrigin: rest.minimumOrigin,
        audit: Option.map(rest.audit, (which) => ({ reads: which === "reads" })),
      })
      const load = options.given({ appends: rest.maxAppends, appendsPerSession: rest.maxAppendsPerSession })
      const caps = yield* spendOf(rest)
      const settings = Option.isSome(rest.settings)
        ? {
            settings: (yield* options.readSettings(rest.settings)) as object,
            settingsFile: rest.settings.value,
          }
        : {}
      const site = studio ? { site: yield* studioPage } : {}
      const tooling = mcp ? { mcp: (yield* tools).mcpHandler } : {}
      const opened = yield* options.servedStore(store)
      yield* served(
        {
          store: Option.isNone(rest.archive) ? opened : withArchive(opened, rest.archive.value),
          port,
          host,
          allowedHosts,
          strategy,
          environmentPrefix,
          summarizer,
          layers,
          readOnly,
          log: quiet ? "error" : "info",
          upstream: upstreamsIn(rest.upstream),
          ...settings,
          ...given,
          load,
          ...caps,
          ...site,
          ...tooling,
        },
        (url) =>
          `${color.green("memfold serves")} ${clean(withoutSecrets(store))} at ${url}\n` +
          (rest.upstream.length > 0
            ? `  ${color.green("and passes on")} to ${clean(rest.upstream.map(withoutSecrets).join(", "))}: name the session in x-session-id\n`
            : "") +
          color.dim(
            `  ${studio ? `studio: ${url}/studio/   ` : ""}${mcp ? `MCP: ${url}/mcp   ` : ""}documentation: ${url}/docs   to end it: Ctrl+C`,
          ),
      )
    }),
)

export const tokenCommand = options.command(
  "token",
  "Make a token for a tenant of the service.",
  {
    tenant: options.text("tenant", "NAME", "Whose sessions the token is for."),
    rights: options
      .text("rights", "LIST", "What it allows: read, write, erase; read,write by default.")
      .pipe(Options.withDefault("read,write")),
    name: Options.text("name").pipe(
      Options.optional,
      Options.withDescription("A name for the token, for people."),
    ),
    tokens: tokenFile.pipe(Options.withDescription("The file that it is added to, as its hash.")),
  },
  ({ tenant, rights: list, name, tokens: path }) =>
    Effect.gen(function* () {
      const { makeToken, replaceFile, rights, tokensIn } = yield* server
      const known = existsSync(path) ? yield* readTokens(path) : []
      const wanted = list.split(",").map((right) => right.trim())
      const wrong = wanted.find((right) => !(rights as ReadonlyArray<string>).includes(right))
      if (wrong !== undefined) return yield* new UnknownName({ kind: "right", given: wrong, allowed: rights })
      const { token, stored } = makeToken({
        ...(Option.isSome(name) ? { name: name.value } : {}),
        tenant,
        rights: wanted as StoredToken["rights"],
      })
      const file = { tokens: [...known, stored] }
      if (Either.isLeft(tokensIn(file)))
        return yield* new UsageError({
          problem: `--tenant ${tenant}: a name has lower-case letters, digits, ".", "_" and "-", at most 63 of them`,
        })
      yield* Effect.try({
        try: () => replaceFile(path, file),
        catch: () => new UsageError({ problem: `--tokens ${path}: the file cannot be written` }),
      })
      yield* Console.log(token)
      yield* Console.error(
        clean(`memfold: the token is shown once; ${path} has its hash. Start the service again to use it`),
      )
    }),
)
