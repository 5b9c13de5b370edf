/** What a webhook makes of each thing that its receiver does, over real connections. */
import { Memory } from "@memfold/core"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

const event: Memory.FedEvent = {
  session: "chat",
  version: 1,
  id: "e1",
  time: 0,
  event: { _tag: "UnknownEvent", type: "Later", schemaVersion: 9 },
  position: "1",
}

const portOf = async (server: Server): Promise<number> => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Waits for a second only where nothing answers: a busy machine needs longer. */
const post = (url: string) =>
  Effect.runPromise(
    Effect.match(
      Memory.webhook({ url, secret, timeout: url.endsWith("/silent") ? "1 second" : "1 minute" })([event]),
      {
        onSuccess: () => "taken",
        onFailure: ({ reason }) => reason,
      },
    ),
  )

/** A server whose certificate nobody has signed but itself. */
const selfSigned = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-webhook-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [keyFile, file] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  const call = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
  execFileSync("openssl", [...call, "-keyout", keyFile, "-out", file], { stdio: "ignore" })
  return createSecureServer({ key: readFileSync(keyFile), cert: readFileSync(file) }, (_, response) =>
    response.end(),
  )
}

it("takes what is answered with a status from 200 to 299, follows no redirect, and says why there is no answer", async () => {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    asked.push(path)
    const status = Number(path.slice(1))
    if (path === "/silent") return
    if (path === "/reset") return void request.socket.destroy()
    if (path === "/endless") return void response.writeHead(200).write("x")
    response.writeHead(status, status >= 300 && status < 400 ? { location: "/target" } : {}).end()
  })
  onTestFinished(() => server.closeAllConnections())
  const at = `127.0.0.1:${await portOf(server)}`
  const noise = await portOf(
    createSocketServer((socket) => void socket.on("error", () => {}).end("HELLO\r\n\r\n")),
  )
  const secure = await portOf(selfSigned())
  const gone = createSocketServer()
  await once(gone.listen(0, "127.0.0.1"), "listening")
  const free = (gone.address() as AddressInfo).port
  await once(gone.close(), "close")
  const expected: ReadonlyArray<readonly [url: string, outcome: string]> = [
    ...[200, 204, 299].map((status) => [`http://${at}/${status}`, "taken"] as const),
    ...[300, 301, 302, 303, 304, 307, 308, 400, 410, 429, 500, 503].map(
      (status) => [`http://${at}/${status}`, `${at} answered with status ${status}`] as const,
    ),
    // Nobody reads what is answered, however long it is.
    [`http://${at}/endless`, "taken"],
    [`http://${at}/silent`, `${at} did not answer`],
    [`http://127.0.0.1:${free}/`, `127.0.0.1:${free} did not answer (ECONNREFUSED)`],
    [`https://localhost:${secure}/`, `localhost:${secure} did not answer (DEPTH_ZERO_SELF_SIGNED_CERT)`],
  ]
  for (const [url, outcome] of expected) expect([url, await post(url)]).toEqual([url, outcome])
  // How these are named is up to the runtime: by a code, or by the class of an error that has none.
  for (const url of [`http://${at}/reset`, `http://127.0.0.1:${noise}/`, "http://nowhere.invalid/"])
    expect(await post(url)).toMatch(/ did not answer \([A-Z]\w+\)$/)
  expect(asked).not.toContain("/target")
})

it("refuses a URL that cannot be posted to, before anything is given up for it", () => {
  for (const url of ["", "crm", "ftp://x", "http://ann@x/", "https://ann:pass@x/", "https://:pass@x/"])
    expect(() => Memory.webhook({ url, secret })).toThrow(Memory.InvalidOption)
})

it.skipIf(!existsSync("/usr/bin/python3"))(
  "signs what a receiver checks with nothing but HMAC-SHA256 and base64, here in Python",
  async () => {
    let verdict = ""
    const check = [
      "import base64, hashlib, hmac, json, sys",
      "given = json.load(sys.stdin)",
      "signed = f\"{given['id']}.{given['time']}.\".encode() + base64.b64decode(given['body'])",
      "digest = hmac.new(base64.b64decode(given['secret'][len('whsec_'):]), signed, hashlib.sha256).digest()",
      "print(hmac.compare_digest('v1,' + base64.b64encode(digest).decode(), given['signature']))",
    ].join("\n")
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => void parts.push(part))
      request.on("end", () => {
        const {
          "webhook-id": id,
          "webhook-timestamp": time,
          "webhook-signature": signature,
        } = request.headers
        const input = JSON.stringify({
          id,
          time,
          signature,
          secret,
          body: Buffer.concat(parts).toString("base64"),
        })
        verdict = execFileSync("python3", ["-c", check], { input }).toString().trim()
        response.end()
      })
    })
    const url = `http://127.0.0.1:${await portOf(server)}/`
    const worded = { ...event, session: "Grüße \u{1F600}" }
    await Effect.runPromise(Memory.webhook({ url, secret })([worded]))
    expect(verdict).toBe("True")
  },
)
