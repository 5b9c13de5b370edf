/** Requests to the service that the page came from. */
import type { Problem } from "@memfold/client/api"

/** The service refused a request, or could not be reached. */
export class Refusal extends Error {
  constructor(
    /** The status of the response; 0 if there was none. */
    readonly status: number,
    detail: string,
  ) {
    super(detail)
  }
}

const tokenKey = "memfold-studio-token"

/** The token of the service that requests are sent with, for this tab; none by default. */
export const token = {
  get: (): string | null => sessionStorage.getItem(tokenKey),
  set: (text: string): void =>
    text === "" ? sessionStorage.removeItem(tokenKey) : sessionStorage.setItem(tokenKey, text),
}

/** The headers that every request has. */
export const authorization = (): Readonly<Record<string, string>> => {
  const text = token.get()
  // What no header can have is in no token either: the service refuses it, where the browser would not even ask.
  return text === null ? {} : { authorization: `Bearer ${text.replaceAll(/[^!-~]/gu, "?")}` }
}

/**
 * The address of a path of the service, wherever the page is served.
 *
 * @throws Refusal: an id of the path is "." or ".."; an address drops them, in any encoding, and would be the one of something else
 */
export const addressOf = (path: string): string => {
  const { pathname, href } = new URL(`..${path}`, document.baseURI)
  if (!pathname.endsWith(path))
    throw new Refusal(0, 'No address can have the id "." or ".."; the command line shows what has it')
  return href
}

/** What a request consists of, besides its path. */
export interface Asked {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Called while the service works, with how far it is. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** How many messages the service is done with. */
export interface Progress {
  readonly done: number
  readonly of: number
}

/** The operations that change nothing, although they are sent as a POST. */
const reading = /\/(?:preview|compare|trace|recall)$/

/** The problem in the body of a response, as a sentence. */
const detailOf = (body: Partial<Problem> | null, status: number, isWrite: boolean): string => {
  // What the service says is for programs: they can send a write again with its key.
  if (body?.type === "urn:memfold:TimedOut")
    return `It took longer than a request may, so the service has stopped waiting.${isWrite ? " Look at what it did before you try again." : ""}`
  return body?.detail ?? `The service answered with the status ${status}`
}

/** A line of an answer that takes long. */
type Line = Partial<Problem> & { readonly progress?: Progress; readonly answer?: unknown }

/** Reads lines that say how far the service is, up to the answer. */
const answerIn = async (response: Response, onProgress: (progress: Progress) => void): Promise<unknown> => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let rest = ""; ;) {
    const { done, value } = await reader.read()
    if (done) throw new Refusal(0, "The service broke off; is it still running?")
    const lines = (rest + value).split("\n")
    rest = lines.pop()!
    for (const line of lines.map((one) => JSON.parse(one) as Line)) {
      if (line.progress !== undefined) onProgress(line.progress)
      else if ("answer" in line) return line.answer
      else throw new Refusal(line.status ?? 0, detailOf(line, line.status ?? 0, false))
    }
  }
}

/**
 * Sends a request and reads its answer.
 *
 * @throws Refusal: the service refused it, or cannot be reached
 */
export const ask = async <Answer>(
  path: string,
  { method = "GET", query = {}, body, signal, onProgress }: Asked = {},
): Promise<Answer> => {
  const url = new URL(addressOf(path))
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  const response = await fetch(url, {
    method,
    headers: {
      ...authorization(),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(onProgress === undefined ? {} : { accept: "application/x-ndjson" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new Refusal(0, "The service cannot be reached; is it still running?")
  })
  if (!response.ok) {
    const problem = (await response.json().catch(() => null)) as Partial<Problem> | null
    const isWrite = method !== "GET" && !reading.test(path)
    throw new Refusal(response.status, detailOf(problem, response.status, isWrite))
  }
  return (await (onProgress === undefined ? response.json() : answerIn(response, onProgress))) as Answer
}

export const ofSession = (session: string, path = ""): string =>
  `/v1/sessions/${encodeURIComponent(session)}${path}`

/** Asks for a change of a session. */
export const post = <Answer>(session: string, path: string, body: unknown): Promise<Answer> =>
  ask(ofSession(session, path), { method: "POST", body })

/** What went wrong, as a sentence. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
