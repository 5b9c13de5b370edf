/** A consumer of the feed that posts each event to a URL, signed as Standard Webhooks says (https://www.standardwebhooks.com). */
import { Clock, type Duration, Effect, Schema } from "effect"
import { encoder } from "../event/checksum.js"
import { InvalidOption } from "../options/OptionGroup.js"
import type { FedEvent } from "./feed.js"

/** Where events are posted, and how. */
export interface WebhookOptions {
  /** An `http:` or `https:` URL, without a user and a password. */
  readonly url: string
  /** The secret that is shared with who receives: `whsec_`, and 24 to 64 random bytes in base64. */
  readonly secret: string
  /** How long an answer may take; 15 seconds by default. */
  readonly timeout?: Duration.DurationInput
}

/** An event was not taken. The text has neither the path of the URL nor what was answered. */
export class WebhookFailed extends Schema.TaggedError<WebhookFailed>()("WebhookFailed", {
  session: Schema.String,
  version: Schema.Number,
  host: Schema.String,
  /** The status of the answer; `null` without one. */
  status: Schema.NullOr(Schema.Number),
  /** Why there is no answer, as the runtime names it, such as `ECONNREFUSED`; `null` if it took too long. */
  code: Schema.NullOr(Schema.String),
}) {
  /** What the webhook did. */
  get reason(): string {
    const { host, status, code } = this
    if (status !== null) return `${host} answered with status ${status}`
    return `${host} did not answer${code === null ? "" : ` (${code})`}`
  }
  override get message(): string {
    return `The webhook did not take event ${this.version} of session "${this.session}": ${this.reason}`
  }
}

// Every runtime has these, and this package has the types of none.
interface Bytes {
  readonly buffer: ArrayBuffer
}
declare const crypto: {
  readonly subtle: {
    digest(algorithm: "SHA-256", data: Uint8Array): Promise<ArrayBuffer>
    importKey(form: "raw", key: Uint8Array, of: object, extractable: false, uses: ["sign"]): Promise<Bytes>
    sign(algorithm: "HMAC", key: Bytes, data: Uint8Array): Promise<ArrayBuffer>
  }
}
declare const URL: new (text: string) => {
  readonly protocol: string
  readonly host: string
  readonly username: string
  readonly password: string
}
declare const atob: (text: string) => string
declare const btoa: (text: string) => string
declare const fetch: (
  url: string,
  request: object,
) => Promise<{
  readonly ok: boolean
  readonly status: number
  readonly body: { cancel(): Promise<void> } | null
}>

const base64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)))

/** The bytes of a secret; `null` if it is none. */
const keyOf = (secret: string): Uint8Array | null => {
  const [, text] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? []
  if (text === undefined || text.length % 4 !== 0) return null
  const key = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))
  return key.length >= 24 && key.length <= 64 ? key : null
}

/** The host of a URL; `null` if it is none to post to. */
const hostOf = (url: string): string | null => {
  try {
    const { protocol, host, username, password } = new URL(url)
    // No `fetch` posts with a user in the URL.
    return /^https?:$/.test(protocol) && `${username}${password}` === "" ? host : null
  } catch {
    return null
  }
}

/** What a failed `fetch` says of the connection: a code, or the name of the error that has none, and no text. */
const codeOf = (error: unknown): string | null => {
  const { code, name } = Object(Object(error).cause ?? error) as {
    readonly code?: unknown
    readonly name?: unknown
  }
  const isWord = (value: unknown): value is string => typeof value === "string" && /^[A-Z]\w*$/.test(value)
  return [code, name].find(isWord) ?? null
}

/**
 * Makes a consumer that posts events, one after the other, with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. The id
 * is that of the event, whenever it comes again. The body is `{ type, timestamp, data }`, whose `data` is the event as the feed has it. It
 * fails with {@link WebhookFailed} where an answer has no status from 200 to 299; redirects are not followed.
 *
 * @throws InvalidOption: the URL or the secret is none
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * export const told = (memory: Memory.Service, secret: string) =>
 *   memory.consume("crm", Memory.webhook({ url: "https://crm.example/hooks", secret }), { batch: 1, attempts: 20 })
 * ```
 */
export const webhook = ({
  url,
  secret,
  timeout = "15 seconds",
}: WebhookOptions): ((events: ReadonlyArray<FedEvent>) => Effect.Effect<void, WebhookFailed>) => {
  const [host, key] = [hostOf(url), keyOf(secret)]
  if (host === null)
    throw new InvalidOption({
      option: "url",
      allowed: "an http: or https: URL without a user and a password",
    })
  if (key === null)
    throw new InvalidOption({ option: "secret", allowed: '"whsec_" and 24 to 64 random bytes in base64' })

  const post = async (event: FedEvent, seconds: number, signal: unknown) => {
    const { position: _position, ...data } = event
    const timestamp = new Date(event.time).toISOString()
    const body = JSON.stringify({ type: event.event._tag, timestamp, data })
    const name = encoder.encode(JSON.stringify([event.session, event.id]))
    const id = `msg_${base64(await crypto.subtle.digest("SHA-256", name)).replace(/\W/g, "")}`
    const of = { name: "HMAC", hash: "SHA-256" }
    const signing = await crypto.subtle.importKey("raw", key, of, false, ["sign"])
    const signed = await crypto.subtle.sign("HMAC", signing, encoder.encode(`${id}.${seconds}.${body}`))
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,${base64(signed)}`,
    }
    const answer = await fetch(url, { method: "POST", redirect: "manual", headers, body, signal })
    await answer.body?.cancel()
    return answer
  }

  const deliver = (event: FedEvent): Effect.Effect<void, WebhookFailed> => {
    const failed = (status: number | null, error?: unknown) =>
      new WebhookFailed({
        session: event.session,
        version: event.version,
        host,
        status,
        code: codeOf(error),
      })
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tryPromise({
        try: (signal) => post(event, Math.floor(now / 1_000), signal),
        catch: (error) => failed(null, error),
      }),
    ).pipe(
      Effect.timeoutFail({ duration: timeout, onTimeout: () => failed(null) }),
      Effect.flatMap(({ ok, status }) => (ok ? Effect.void : failed(status))),
    )
  }
  return (events) => Effect.forEach(events, deliver, { discard: true })
}
