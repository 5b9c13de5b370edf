/**
 * Clients as a process: `clients.js URL CLIENTS TURNS`. Each client has a session, and for each turn it appends two messages and then
 * asks for the context, without a pause. Prints what was measured as JSON.
 */
import { Agent, request } from "node:http"

const [url = "", clients = "1", turns = "1"] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxFreeSockets: Number(clients) })

/** What a run of clients measured; times in milliseconds. */
export interface Measured {
  readonly seconds: number
  readonly errors: number
  readonly appends: ReadonlyArray<number>
  readonly contexts: ReadonlyArray<number>
}

/** Sends a request; resolves with how long its answer took, or `null` if it was no success. */
const timed = (method: string, path: string, body?: object): Promise<number | null> =>
  new Promise((resolve) => {
    const began = performance.now()
    const headers = body === undefined ? {} : { "content-type": "application/json" }
    const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
      response.resume()
      response.once("end", () =>
        resolve(Math.floor((response.statusCode ?? 0) / 100) === 2 ? performance.now() - began : null),
      )
    })
    sent.once("error", () => resolve(null))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

const appends: Array<number | null> = []
const contexts: Array<number | null> = []

const client = async (number: number) => {
  const path = `/v1/sessions/session-${number}`
  for (let turn = 0; turn < Number(turns); turn++) {
    const messages = [
      {
        role: "user",
        content: `Question ${turn}: where is my order KX-${number}? It should have been here.`,
      },
      {
        role: "assistant",
        content: `Order KX-${number} left the depot in Graz on Monday, and is on its way.`,
      },
    ]
    appends.push(await timed("POST", `${path}/messages`, { messages }))
    contexts.push(await timed("GET", `${path}/context`))
  }
}

// Connections are made before: a busy process of Node takes new ones slowly, whatever it serves.
await Promise.all(Array.from({ length: Number(clients) }, () => timed("GET", "/v1/sessions/none/context")))

const began = performance.now()
await Promise.all(Array.from({ length: Number(clients) }, (_, number) => client(number)))
const isTime = (time: number | null): time is number => time !== null
const measured: Measured = {
  seconds: (performance.now() - began) / 1_000,
  errors: [...appends, ...contexts].filter((time) => time === null).length,
  appends: appends.filter(isTime),
  contexts: contexts.filter(isTime),
}
console.log(JSON.stringify(measured))
process.exit()
