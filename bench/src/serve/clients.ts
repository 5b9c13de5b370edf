/**
 * Clients as a process: `clients.js LOAD`, a {@link Load} as JSON. Each client has sessions of its own, and asks without a pause. Prints
 * "part" whenever another part of the requests is answered, and in the end what was measured as JSON.
 */
import { Agent, request } from "node:http"
import { setTimeout } from "node:timers/promises"

/** What clients do. */
export interface Load {
  readonly url: string
  readonly clients: number
  readonly turns: number
  /** What the ids of the sessions begin with. */
  readonly name: string
  /** In each turn: append two messages and ask for the context (`memory`), read a stream through the proxy (`streams`), or both. */
  readonly kinds: ReadonlyArray<"memory" | "streams">
  /** How often "part" is printed. */
  readonly parts: number
  /** Whether a request without an answer is sent again, with the same key. */
  readonly isPatient: boolean
}

/** What a run of clients measured; times in milliseconds, errors are answers that are no success. */
export interface Measured {
  readonly seconds: number
  readonly errors: number
  readonly repeated: number
  readonly appends: ReadonlyArray<number>
  readonly contexts: ReadonlyArray<number>
  /** To the first byte of a stream, and to its end. */
  readonly firstBytes: ReadonlyArray<number>
  readonly streams: ReadonlyArray<number>
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load
const agent = new Agent({ keepAlive: true, maxFreeSockets: load.clients })

interface Timed {
  readonly first: number
  readonly whole: number
}

type Headers = Readonly<Record<string, string>>

/** Sends a request once; `"lost"` without a whole answer, `"refused"` for one that is no success. */
const attempt = (
  method: string,
  path: string,
  headers: Headers,
  body?: object,
): Promise<Timed | "lost" | "refused"> =>
  new Promise((resolve) => {
    const began = performance.now()
    let first = 0
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const sent = request(
      `${load.url}${path}`,
      { method, agent, headers: { ...type, ...headers } },
      (answer) => {
        const { statusCode: status = 0 } = answer
        answer.on("data", () => (first ||= performance.now() - began))
        answer.once("error", () => resolve("lost"))
        answer.once("end", () => {
          if (!answer.complete || status === 503) resolve("lost")
          else
            resolve(status >= 200 && status < 300 ? { first, whole: performance.now() - began } : "refused")
        })
      },
    )
    sent.once("error", () => resolve("lost"))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

let [errors, repeated, answered] = [0, 0, 0]
const total =
  load.clients * load.turns * (load.kinds.includes("memory") ? 2 : 0) +
  load.clients * load.turns * (load.kinds.includes("streams") ? 1 : 0)

/** Sends a request until it is answered, if the clients are patient. */
const timed = async (
  method: string,
  path: string,
  headers: Headers = {},
  body?: object,
): Promise<Timed | null> => {
  for (;;) {
    const outcome = await attempt(method, path, headers, body)
    if (outcome === "lost" && load.isPatient) {
      repeated++
      await setTimeout(50)
      continue
    }
    const before = Math.floor((answered * load.parts) / total)
    if (Math.floor((++answered * load.parts) / total) > before) console.log("part")
    if (typeof outcome !== "string") return outcome
    errors++
    return null
  }
}

const [appends, contexts, streams]: ReadonlyArray<Array<Timed>> = [[], [], []]
const note = (list: Array<Timed> | undefined, one: Timed | null): void => {
  if (one !== null) list?.push(one)
}

const client = async (number: number) => {
  const id = `${load.name}-${number}`
  const path = `/v1/sessions/${id}`
  for (let turn = 0; turn < load.turns; turn++) {
    const question = `Question ${turn}: where is my order KX-${number}? It should have been here.`
    const key = { "idempotency-key": `${id}-${turn}` }
    if (load.kinds.includes("memory")) {
      const answer = `Order KX-${number} left the depot in Graz on Monday, and is on its way.`
      const messages = [
        { role: "user", content: question },
        { role: "assistant", content: answer },
      ]
      note(appends, await timed("POST", `${path}/messages`, key, { messages }))
      note(contexts, await timed("GET", `${path}/context`))
    }
    if (load.kinds.includes("streams")) {
      const body = { model: "gpt-6.2-sol", stream: true, messages: [{ role: "user", content: question }] }
      const headers = { ...key, "x-session-id": `${id}-asked`, "x-memfold-history": "new" }
      note(streams, await timed("POST", "/v1/chat/completions", headers, body))
    }
  }
}

// Connections are made before: a busy process of Node takes new ones slowly, whatever it serves.
await Promise.all(Array.from({ length: load.clients }, () => attempt("GET", "/v1/sessions/none/context", {})))

const began = performance.now()
await Promise.all(Array.from({ length: load.clients }, (_, number) => client(number)))
const wholeOf = (list: ReadonlyArray<Timed> = []) => list.map(({ whole }) => whole)
const measured: Measured = {
  seconds: (performance.now() - began) / 1_000,
  errors,
  repeated,
  appends: wholeOf(appends),
  contexts: wholeOf(contexts),
  firstBytes: (streams ?? []).map(({ first }) => first),
  streams: wholeOf(streams),
}
// Of a thousand clients, it is longer than what a pipe takes at once.
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit())
