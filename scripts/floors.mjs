/**
 * The floors of the repository: which package stands on which, and what it may import. The lint rule `memfold/floors`, the picture in
 * CONTRIBUTING.md and the groups of tests are made of this table. Plain data: importing it does nothing.
 */

/**
 * From the bottom. A package imports what its floor `uses`, and of its own floor, of these floors the packages that they have `shared`;
 * all of them, where a floor names none, and for a floor that is `built` of parts. `modules` are the only ones it has from elsewhere.
 */
export const floors = [
  {
    name: "ports",
    packages: ["packages/ports/message", "packages/ports/log"],
    uses: [],
    shared: ["packages/ports/message", "packages/ports/log"],
    modules: ["effect"],
    reason: "a port depends on effect alone, and on no other port",
  },
  {
    name: "stores",
    packages: [
      "packages/stores/store-sql",
      "packages/store-sqlite",
      "packages/stores/store-postgres",
      "packages/stores/store-libsql",
      "packages/stores/store-cloudflare",
      "packages/store-redis",
      "packages/stores/sqlite-vec",
      "packages/stores/archive",
      "packages/stores/sharded",
      "packages/stores/sealed",
      "packages/stores/worker-bullmq",
      "packages/stores/worker-cluster",
      "packages/stores/worker-pg-boss",
    ],
    uses: ["ports"],
    shared: [],
    reason: "stores, vector indexes and queues fill a port of @memfold/log, and know nothing of the engine",
  },
  {
    name: "engine",
    packages: [
      "packages/core",
      "packages/engine/layers",
      "packages/engine/prices",
      "packages/strategies/break-even",
      "packages/strategies/rolling-buffer",
      "packages/strategies/rounds",
      "packages/strategies/sliding-window",
      "packages/strategies/split-turn",
      "packages/engine/summarizer-ai",
      "packages/engine/summarizer-extractive",
      "packages/engine/tokens-gpt",
      "packages/engine/embedder-static",
      "packages/engine/embedder-local",
      "packages/engine/guard",
    ],
    uses: ["ports"],
    shared: ["packages/core", "packages/engine/prices", "packages/engine/summarizer-extractive"],
    reason: "strategies, summarizers, counters and layers depend on core; nothing depends on memfold",
  },
  {
    name: "adapters",
    packages: [
      "packages/adapters/codec",
      "packages/adapters/openai",
      "packages/adapters/anthropic",
      "packages/adapters/ai-sdk",
      "packages/adapters/langchain",
      "packages/adapters/mastra",
      "packages/adapters/openai-agents",
      "packages/adapters/effect-ai",
    ],
    uses: ["ports", "engine"],
    shared: ["packages/adapters/codec"],
    reason: "adapters depend on messages, core and codec; nothing depends on memfold",
  },
  {
    name: "programs",
    packages: [
      "packages/programs/memfold",
      "packages/programs/cli",
      "packages/programs/catalog",
      "packages/programs/client",
      "packages/programs/server",
      "packages/programs/proxy",
      "packages/programs/mcp",
      "packages/programs/studio",
      "packages/programs/lab",
      "packages/programs/create-memfold",
    ],
    uses: ["ports", "stores", "engine", "adapters"],
    shared: [],
    built: true,
    reason: "a program is built of the floors below, and uses only those other programs that the table names",
  },
  {
    name: "tests",
    packages: ["packages/tests/testing", "packages/tests/strict-providers", "packages/tests/harness"],
    uses: ["ports", "stores", "engine", "adapters", "programs"],
    shared: [],
    built: true,
    reason: "what tests share may use every floor",
  },
]

/** A store in a SQL database, whose dialect is of `@memfold/store-sql`. */
const inSql = {
  also: ["packages/stores/store-sql"],
  reason: "a store in a SQL database is @memfold/store-sql with a client and what only its database needs",
}

/** Packages with rules of their own: `also` adds packages, `only` takes the place of the rule of the floor. */
export const exceptions = {
  "packages/ports/message": { only: [], reason: "a port depends on effect alone, and on no other port" },
  "packages/ports/log": { only: [], reason: "a port depends on effect alone, and on no other port" },
  "packages/store-sqlite": inSql,
  "packages/stores/store-postgres": inSql,
  "packages/stores/store-libsql": inSql,
  "packages/stores/store-cloudflare": inSql,
  "packages/stores/archive": {
    also: ["packages/core", "packages/programs/catalog"],
    reason: "an archive folds what it moves, and opens stores by URL",
  },
  "packages/stores/sharded": {
    also: ["packages/core", "packages/stores/archive", "packages/programs/catalog"],
    reason:
      "a session is moved by the copy of the archive, shards are opened by URL, and its options are checked as all are",
  },
  "packages/core": {
    only: ["packages/ports/message", "packages/ports/log"],
    modules: ["effect"],
    reason: "core depends on effect and the ports alone; everything points inward",
  },
  "packages/adapters/openai-agents": {
    only: ["packages/core", "packages/adapters/codec", "packages/adapters/openai"],
    reason:
      "items of the Agents SDK are those of the Responses API under other names: its codec is the only further package",
  },
  "packages/adapters/mastra": {
    only: ["packages/core", "packages/adapters/codec", "packages/adapters/ai-sdk"],
    reason:
      "messages of Mastra are pages of the AI SDK under other names: its codec is the only further package",
  },
  "packages/adapters/effect-ai": {
    only: ["packages/core", "packages/adapters/codec", "packages/engine/summarizer-ai"],
    reason: "the summarizer over a model of Effect AI is the only further package",
  },
  "packages/programs/memfold": {
    also: ["packages/programs/catalog"],
    reason: "the bundle of memfold would contain the command line a second time; only its bin starts it",
  },
  "packages/programs/cli": {
    also: [
      "packages/programs/catalog",
      "packages/programs/server",
      "packages/programs/studio",
      "packages/programs/lab",
    ],
    reason: "memfold starts the command line, which uses the library packages and not memfold",
  },
  "packages/programs/catalog": { reason: "memfold and the command line use the catalog, which uses neither" },
  "packages/programs/client": {
    only: [],
    node: false,
    reason: "who installs the client wants no stores, and may be in a browser",
  },
  "packages/programs/server": {
    also: [
      "packages/programs/catalog",
      "packages/programs/client",
      "packages/programs/proxy",
      "packages/programs/lab",
    ],
    reason: "the command line starts the server, which uses the library packages and not memfold",
  },
  "packages/programs/proxy": {
    also: ["packages/programs/catalog"],
    reason: "the service has the proxy, which uses the library packages alone",
  },
  "packages/programs/mcp": {
    only: ["packages/programs/memfold"],
    reason: "@memfold/mcp is a program that opens stores by URL: it uses memfold and none of its parts",
  },
  "packages/programs/studio": {
    only: ["packages/core", "packages/programs/client", "packages/engine/prices"],
    reason:
      "the page asks the service, and has the engine's fold; what else it imported would be sent to every browser",
  },
  "packages/programs/lab": {
    only: ["packages/core", "packages/engine/prices", "packages/engine/summarizer-extractive"],
    reason: "the lab replays sessions under policies, and needs no store and no program",
  },
  "packages/programs/create-memfold": {
    also: ["packages/programs/memfold"],
    reason: "a template is an application of memfold",
  },
  "packages/tests/testing": {
    only: ["packages/core", "packages/ports/message", "packages/ports/log"],
    reason: "the laws are about core and its ports: whoever tests a part of their own has no other package",
  },
  "packages/tests/strict-providers": {
    only: ["packages/ports/message"],
    reason:
      "the strict servers know the providers' rules, and of memfold the tables of items and fields alone",
  },
  "packages/tests/harness": { also: ["packages/tests/testing", "packages/tests/strict-providers"] },
}

/** The name of the package in a folder. */
export const nameOf = (folder) => {
  const [name, parent] = folder.split("/").toReversed()
  if (name === "memfold" || name === "create-memfold") return name
  return parent === "strategies" ? `@memfold/strategy-${name}` : `@memfold/${name}`
}

const places = new Map(
  floors.flatMap((floor) => floor.packages.map((folder) => [nameOf(folder), { floor, folder }])),
)

/** The name of the floor of a package, by the name of the package; `undefined` for a package of others. */
export const floorOf = (name) => places.get(name)?.floor.name

/** The package that a module is of: `effect` for `effect/Schema`. */
const packageIn = (module) => /^(?:@[^/]+\/)?[^/]+/u.exec(module)?.[0] ?? module

/** Why the package in a folder may not import a module; `null` if it may. Relative paths are not looked at. */
export const refusal = (folder, module) => {
  if (module.startsWith(".")) return null
  const own = places.get(nameOf(folder))
  if (own?.folder !== folder) return null
  const { floor } = own
  const {
    only,
    also = [],
    modules = floor.modules,
    node = true,
    reason = floor.reason,
  } = exceptions[folder] ?? {}
  const name = packageIn(module)
  const other = places.get(name)
  if (other === undefined) {
    if (name.startsWith("@memfold/")) return reason
    const isFree = modules === undefined || modules.includes(name)
    return isFree && (node || !module.startsWith("node:")) ? null : reason
  }
  if (other.folder === folder || also.includes(other.folder)) return null
  if (only !== undefined) return only.includes(other.folder) ? null : reason
  const isBelow = floor.uses.includes(other.floor.name)
  const isShared = other.floor.shared.includes(other.folder)
  return isShared
    ? isBelow || other.floor === floor
      ? null
      : reason
    : isBelow && floor.built === true
      ? null
      : reason
}

/** Words in lines of at most `width` characters. */
const wrapped = ([first, ...words], width) =>
  words
    .reduce(
      ([line, ...before], word) =>
        `${line}, ${word}`.length <= width ? [`${line}, ${word}`, ...before] : [word, `${line},`, ...before],
      [first],
    )
    .toReversed()

/** The floors as CONTRIBUTING.md shows them, the highest first, with what each uses. */
export const picture = () =>
  floors
    .toReversed()
    .flatMap(({ name, packages, uses }) => {
      const names = packages.map((folder) => nameOf(folder).replace("@memfold/", ""))
      const lines = wrapped(names, 88)
      const below = uses.length === 0 ? "effect alone" : uses.join(", ")
      return [
        ...lines.map((line, at) => `${(at === 0 ? name : "").padEnd(10)}${line}`),
        `${"".padEnd(10)}  └─► ${below}`,
      ]
    })
    .join("\n")
