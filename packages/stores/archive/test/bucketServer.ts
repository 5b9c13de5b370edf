/** A server of S3 that refuses what is not signed as AWS asks for, and an archive in a bucket of it. */
import { freePort } from "@memfold/harness/ports"
import { sign } from "aws4"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import S3rver from "s3rver"
import { afterAll } from "vitest"
import { s3Archive, type S3Options } from "../src/index.js"

const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }

/** How long a signature counts, in milliseconds. */
const longest = 15 * 60_000

const text = (value: string | Array<string> | undefined): string => String(value ?? "")

/** What is wrong with the signature of a request, as S3 names it; `null` if nothing is. Another program signs the request again. */
const wrongWith = ({ method = "", url = "", headers }: IncomingMessage, body: Buffer): string | null => {
  const [, key, day, region, names, given] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      text(headers.authorization),
    ) ?? []
  if (key === undefined || region === undefined || names === undefined) return "AccessDenied"
  if (key !== credentials.accessKeyId) return "InvalidAccessKeyId"
  const signed = names.split(";")
  const date = text(headers["x-amz-date"])
  const time = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))
  if (!(Math.abs(Date.now() - time) < longest) || !date.startsWith(`${day}T`)) return "RequestTimeTooSkewed"
  // Otherwise whoever is between could change them.
  const must = Object.keys(headers).filter((name) => name.startsWith("x-amz-") || name === "host")
  if (!must.every((name) => signed.includes(name))) return "AccessDenied"
  const digest = createHash("sha256").update(body).digest("hex")
  if (headers["x-amz-content-sha256"] !== digest) return "XAmzContentSHA256Mismatch"
  const { headers: expected = {} } = sign(
    {
      method,
      path: url,
      service: "s3",
      region,
      headers: Object.fromEntries(signed.map((name) => [name, text(headers[name])])),
    },
    credentials,
  )
  return text(expected["Authorization"] as string).endsWith(`Signature=${given}`)
    ? null
    : "SignatureDoesNotMatch"
}

const refuse = (answer: ServerResponse, code: string): void => {
  answer.writeHead(403, { "content-type": "application/xml" })
  answer.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`)
}

/** What a bucket may do to whoever asks for an object. */
export const faults = [
  "says nothing",
  "stalls",
  "breaks off",
  "answers 500",
  "cuts",
  "alters",
  "confuses",
] as const
type Fault = (typeof faults)[number]

/** Spoils the answer of a bucket. */
const spoil = (fault: Fault, answer: ServerResponse, whole: Buffer): void => {
  if (fault === "says nothing") return
  if (fault === "answers 500") return void answer.writeHead(500).end()
  if (fault === "stalls" || fault === "breaks off") {
    answer.writeHead(200, { "content-length": whole.length }).write(whole.subarray(0, whole.length / 2))
    if (fault === "breaks off") setImmediate(() => answer.destroy())
    return
  }
  const at = whole.length >> 1
  const altered = Buffer.from(whole)
  altered[at] = altered[at]! ^ 1
  answer.end(fault === "cuts" ? whole.subarray(0, at) : fault === "alters" ? altered : gzipSync(""))
}

/** A server that checks signatures and hands the requests to another one, which believes them. */
const checking = (port: number, faultNow: () => Fault | null) =>
  createServer((asked, answer) => {
    const answered = async () => {
      const body = await buffer(asked)
      const wrong = wrongWith(asked, body)
      if (wrong !== null) return refuse(answer, wrong)
      const { method, url, headers } = asked
      const fault = method === "GET" ? faultNow() : null
      const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (from) => {
        if (fault !== null) return void buffer(from).then((whole) => spoil(fault, answer, whole))
        answer.writeHead(from.statusCode ?? 500, from.headers)
        from.pipe(answer)
      })
      onward.on("error", (error) => answer.destroy(error))
      onward.end(body)
    }
    answered().catch((error: Error) => answer.destroy(error))
  })

/** A server with a bucket and one pair of keys, and archives in it. */
export const bucketServer = async () => {
  const [port, behind] = [await freePort(), await freePort()]
  const directory = mkdtempSync(join(tmpdir(), "memfold-s3-"))
  const server = new S3rver({
    port: behind,
    address: "127.0.0.1",
    silent: true,
    directory,
    configureBuckets: [{ name: "chats", configs: [] }],
  })
  await server.run()
  let fault: Fault | null = null
  const front = checking(behind, () => fault)
  await new Promise<void>((ready) => front.listen(port, "127.0.0.1", ready))
  afterAll(async () => {
    front.close()
    front.closeAllConnections()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const endpoint = `http://127.0.0.1:${port}`
  /** What it does to whoever asks for an object, until it is told otherwise. */
  const fails = (how: Fault | null): void => void (fault = how)
  const archive = ({ timeout, ...given }: Partial<typeof credentials> & Pick<S3Options, "timeout"> = {}) =>
    s3Archive({
      bucket: "chats",
      prefix: "cold",
      endpoint,
      region: "us-east-1",
      ...(timeout === undefined ? {} : { timeout }),
      client: { credentials: { ...credentials, ...given }, maxAttempts: 1 },
    })
  return { archive, fails, endpoint, url: `s3://chats/cold?endpoint=${endpoint}&region=us-east-1` }
}
