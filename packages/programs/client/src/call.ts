/** How requests are sent: with the token, tried again where that is safe, and with errors that need no Effect. */
import { FetchHttpClient, type HttpApi, HttpApiClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Cause, Duration, Effect, Exit, Layer, ParseResult, Schedule, Schema } from "effect"
import { api } from "./api.js"
import { Format } from "./schemas.js"
import { isPassing, ServiceError } from "./ServiceError.js"
import { isProblem } from "./statuses.js"
import { wrongIn } from "./wrong.js"

/** Where the service is, and who asks it. */
export interface ClientOptions {
  /** The address of the service, such as `http://127.0.0.1:4710`. */
  readonly url: string
  /** A token, if the service asks for one. */
  readonly token?: string
  /** The format of messages; `"openai"` by default. */
  readonly format?: Format
  /** How often a request is tried again where that is safe; 2 by default. */
  readonly retries?: number
  /** Instead of the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** What a header can have: characters up to U+00FF, none of them a control, and no space at its ends, which would be lost. */
const inHeader = /^[!-~\u00A1-\u00FF](?:[ -~\u00A0-\u00FF]*[!-~\u00A1-\u00FF])?$/
const ofHeader = "characters up to U+00FF, with no space at its ends"

const options: {
  readonly [Name in keyof ClientOptions]-?: readonly [isAllowed: (value: unknown) => boolean, must: string]
} = {
  url: [
    (value) => typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    "the address of the service, such as http://127.0.0.1:4710",
  ],
  token: [
    (value) => value === undefined || (typeof value === "string" && inHeader.test(value)),
    `a text of ${ofHeader}`,
  ],
  format: [
    (value) => value === undefined || Schema.is(Format)(value),
    `one of ${Format.literals.join(", ")}`,
  ],
  retries: [
    (value) => value === undefined || (Number.isInteger(value) && (value as number) >= 0),
    "a whole number, 0 or more",
  ],
  fetch: [(value) => value === undefined || typeof value === "function", "a function"],
}

/** Fails for an option that is not allowed, or that there is not. */
const checkOptions = (given: ClientOptions): void => {
  const refuse = (detail: string) => {
    throw new ServiceError({ status: null, detail, error: "InvalidOption" })
  }
  if (typeof given !== "object" || given === null) refuse(`The client needs its url: ${options.url[1]}`)
  for (const [name, [isAllowed, must]] of Object.entries(options))
    if (!isAllowed(given[name as keyof ClientOptions])) refuse(`The option "${name}" must be ${must}`)
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(options, name))
  if (unknown !== undefined)
    refuse(`There is no option "${unknown}"; there are: ${Object.keys(options).join(", ")}`)
}

/** The options of a write. */
export interface WriteOptions {
  /** A text of your own for this write. By default the client makes one, so that it can try again. */
  readonly idempotencyKey?: string | undefined
  /** The write is refused (412) if the session has another version. */
  readonly ifVersion?: number | undefined
}

/** A write with its key: what is in its headers, and the payload. */
export const written = <Payload extends object>({
  idempotencyKey = globalThis.crypto.randomUUID(),
  ifVersion,
  ...payload
}: WriteOptions & Payload) => {
  if (!inHeader.test(idempotencyKey))
    throw refused(`"idempotencyKey" must be a text of ${ofHeader}: it is sent in a header; nothing was sent`)
  if (ifVersion !== undefined && !(Number.isSafeInteger(ifVersion) && ifVersion >= 0))
    throw refused('"ifVersion" must be a whole number, 0 or more; nothing was sent')
  return {
    headers: {
      "idempotency-key": idempotencyKey,
      ...(ifVersion === undefined ? {} : { "if-match": `"${ifVersion}"` }),
    },
    payload,
  }
}

/** An argument is wrong; nothing was sent. */
export const refused = (detail: string) => new ServiceError({ status: null, detail, error: "InvalidInput" })

/**
 * An id, as it stands in a path.
 *
 * @param kind - what it is the id of, for the error
 */
export const inPath = (kind: "session" | "owner" | "fact" | "group", id: string): string => {
  if (typeof id !== "string" || id.trim() === "" || !id.isWellFormed())
    throw refused(
      `The id of a${kind === "owner" ? "n" : ""} ${kind} is required: a text of whole characters that is not empty`,
    )
  // A path drops them, in any encoding.
  if (id === "." || id === "..") throw refused(`The id of a ${kind} must not be "${id}": no path can have it`)
  return encodeURIComponent(id)
}

const errorOf = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  if (isProblem(error)) return new ServiceError({ problem: error })
  if (ParseResult.isParseError(error))
    return refused(`${wrongIn(ParseResult.ArrayFormatter.formatErrorSync(error))}; nothing was sent`)
  const status =
    typeof error === "object" && error !== null && "response" in error
      ? (error.response as { readonly status: number }).status
      : null
  const detail =
    status === null
      ? "The service cannot be reached"
      : status === 431
        ? "The request has too long headers or too long a path (431): shorten the id, the token or the key"
        : `The service gave an answer (${status}) that cannot be read; is it another version, or another service?`
  return new ServiceError({ status, detail })
}

/** The requests of the declaration. The type names the declaration: written out, it would be longer than the whole client. */
type Requests =
  typeof api extends HttpApi.HttpApi<infer _Id, infer Groups, infer Failure, infer _Needs>
    ? HttpApiClient.Client<Groups, Failure, never>
    : never

/** The requests of the declaration, and two ways to send them. */
export interface Calls {
  readonly requests: Requests
  readonly authorization: Readonly<Record<string, string>>
  readonly fetch: typeof globalThis.fetch
  /** Sends a request once. */
  readonly once: <A, E>(request: Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>
  /** Sends a request that may be sent twice: a read, or a write with a key. */
  readonly safely: <A, E>(request: Effect.Effect<A, E>) => Promise<A>
}

export const makeCalls = (given: ClientOptions): Calls => {
  checkOptions(given)
  const { url, token, retries = 2, fetch = globalThis.fetch } = given
  const authorization: Readonly<Record<string, string>> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const requests = Effect.runSync(
    HttpApiClient.make(api, {
      baseUrl: url,
      transformClient: HttpClient.mapRequest(HttpClientRequest.setHeaders(authorization)),
    }).pipe(
      Effect.provide(Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))),
    ),
  )
  /** As late as the service says, where it says it. */
  const again = Schedule.identity<ServiceError>().pipe(
    Schedule.intersect(Schedule.exponential("200 millis")),
    Schedule.intersect(Schedule.recurs(retries)),
    Schedule.modifyDelay(([[error]], delay) =>
      Duration.max(delay, Duration.seconds(error.problem?.retryAfter ?? 0)),
    ),
  )
  const once: Calls["once"] = async (request, signal) => {
    const exit = await Effect.runPromiseExit(request, signal && { signal })
    if (Exit.isSuccess(exit)) return exit.value
    throw errorOf(Cause.squash(exit.cause))
  }
  return {
    requests,
    authorization,
    fetch,
    once,
    safely: (request) =>
      once(Effect.mapError(request, errorOf).pipe(Effect.retry({ schedule: again, while: isPassing }))),
  }
}
