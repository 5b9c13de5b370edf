/** Services and proxies with a fault, each made by changing a line. A test of the laws L19 to L22 has to fail, by its name. */
import type { EngineMutant } from "./engines.js"

export interface RimMutant extends EngineMutant {
  /** The file with the test; `law` is how the name of the test begins. */
  readonly test: string
}

/** Makes faults of sources that tests in a folder find. */
export const faultsIn =
  (tests: string, sources = "") =>
  (
    name: string,
    [test, law]: readonly [test: string, law: string],
    file: string,
    from: string,
    to: string,
  ): RimMutant => ({
    name,
    law,
    test: `${tests}/${test}.test.ts`,
    changes: [{ file: `${sources}${file}.ts`, from, to }],
  })

const fault = faultsIn("packages/programs/server/test")

const rights = ["routes", "L21: every route asks for the rights that it declares"] as const
const keys = ["speakers", "L20: two keys under one name have two conversations"] as const
const kept = ["speakers", "L20: two keys hear nothing of conversations"] as const
const begun = ["routes", "L21: every route begins a session only if it says so"] as const
const foreign = ["routes", "L21: every route has no words of another tenant"] as const
const crowd = ["bounds", "L19: memory has bounds subscribers are bounded"] as const
const names = ["ownNames", "L22: a stream with such a name"] as const
const left = ["leaving", "L19: POST v1/chat/completions"] as const
const answers = [
  "upstreams",
  "an upstream that answers with anything L19: says what came in place of an answer",
] as const

export const rimMutants: ReadonlyArray<RimMutant> = [
  fault("asks for no right", rights, "server/src/authorization", "asked.every((right)", "asked.some((right)"),
  fault(
    "reads the body before it looks at the token",
    rights,
    "server/src/guard",
    'const token = bearer(request.headers["authorization"])',
    'const token = bearer(request.headers["authorization"])\n      yield* textOf(request, options.maxBody, { room: options.bodies, key: "" })',
  ),
  fault(
    "erases an item for whoever may write",
    ["routes", "L21: every route asks for the right to erase"],
    "proxy/src/conversations/table",
    '/items/:item": erasing(',
    '/items/:item": writing(',
  ),
  fault(
    "begins any number of sessions for the proxy",
    begun,
    "server/src/proxied",
    "Effect.runPromise(mayBegin(session))",
    "Promise.resolve(void session)",
  ),
  fault(
    "keeps responses for all tenants in one place",
    foreign,
    "proxy/src/conversations/routes",
    "byPrefix.get(prefix)",
    "[...byPrefix.values()][0]",
  ),
  fault(
    "shares what subscribers wait for between tenants",
    ["bounds", "L19: memory has bounds whoever subscribes hears the own tenant"],
    "server/src/changes",
    "JSON.stringify([tenant, session, position])",
    "JSON.stringify([session, position])",
  ),
  fault("takes all keys for one speaker", keys, "proxy/src/speaker", "keyFields.has(name)", 'name === ""'),
  fault(
    "names a session by the key of a cache",
    ["speakers", "L20: two keys and one name that many share"],
    "proxy/src/names",
    'textIn(body["session_id"])',
    'textIn(body["session_id"]) ?? textIn(body["prompt_cache_key"])',
  ),
  fault(
    "tells anybody what a response said who has its id",
    kept,
    "proxy/src/conversations/routes",
    "checkSpeaker(found.id, given.body ?? {}, asker.speaker)",
    "void checkSpeaker",
  ),
  fault(
    "knows an idempotency key by itself",
    ["speakers", "L20: two keys may send one idempotency key"],
    "proxy/src/conversations/routes",
    "[markOf(speaker), key]",
    "[key]",
  ),
  fault(
    "counts the requests of all tokens together",
    ["limits", "limits of the rate are for each token by itself"],
    "server/src/authorization",
    "rate(token.sha256, now)",
    'rate("", now)',
  ),
  fault(
    "counts requests, and not their work",
    ["work", "the rate of a token counts work"],
    "server/src/limits",
    "work * perSecond",
    "0 * perSecond",
  ),
  fault(
    "takes lists of any length",
    ["work", "a body has at most 10,000 items"],
    "adapters/codec/src/measured",
    "depth > most.depth || longest > most.longest || items > most.items",
    "depth > most.depth",
  ),
  fault("has any number of subscribers", crowd, "server/src/limits", "all + bytes > most ||", ""),
  fault("gives one tenant all places", crowd, "server/src/limits", "> most / 2)", "> most)"),
  fault(
    "answers any number of requests of one connection at once",
    ["bounds", "L19: memory has bounds requests of one connection"],
    "server/src/serve",
    "pipelined.size === mostPipelined",
    "pipelined.size === 1e9",
  ),
  fault(
    "goes on with requests that wait behind another one when their client has left",
    ["leaving", "L19: requests that wait behind another one"],
    "server/src/serve",
    'response.destroy().emit("close")',
    "response.destroy()",
  ),
  fault(
    "goes on with a conversation when its client has left",
    left,
    "proxy/src/Proxy",
    'left.abort(new Error("the client closed the connection"))',
    "void left",
  ),
  fault("grows the prototype of all objects", names, "proxy/src/answers", "own(draft, name)", "draft[name]"),
  fault(
    "takes the codings of an answer from what every object has",
    names,
    "proxy/src/forward",
    "decoders.get(name)?.()",
    "(Object.fromEntries(decoders) as Record<string, () => Transform>)[name]?.()",
  ),
  fault(
    "leaves out the fields behind the thousandth",
    ["passing", "a request that the memory does not change L22: keeps all fields"],
    "server/src/serve",
    "server.maxHeadersCount = 0",
    "server.maxHeadersCount = 1_000",
  ),
  fault(
    "lets a path go back",
    ["passing", "a request that the memory does not change L22: leaves no path"],
    "proxy/src/address",
    '.includes("..")',
    '.includes("...")',
  ),
  fault(
    "waits for an answer as long as there are interim ones",
    answers,
    "proxy/src/forward",
    "if (++interim <= mostInterim) return",
    "if (++interim > 0) return",
  ),
  fault(
    "passes any status on",
    answers,
    "proxy/src/forward",
    "if (statusCode < 200 ||",
    "if (statusCode < 1 ||",
  ),
]
