/** The root in AWS KMS, through Amazon's client and a small server of the protocol. */
import { KMSClient } from "@aws-sdk/client-kms"
import { InMemoryEventLog, Message } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { Effect, Either, type Scope } from "effect"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { folderKeyring, sealLog } from "../src/index.js"
import { kmsRoot } from "../src/kms.js"
import { folders } from "./support.js"

const { newFolder } = folders()

interface KmsRequest {
  readonly KeyId: string
  readonly Plaintext?: string
  readonly CiphertextBlob?: string
  readonly EncryptionContext?: Readonly<Record<string, string>>
}

/** Answers Encrypt and Decrypt of the protocol (JSON 1.1, `x-amz-target`) as AWS does: keys stay here, and a context has to fit. */
const kms = async () => {
  const keys = new Map<string, Buffer>()
  const seen: Array<{ readonly target: string; readonly body: KmsRequest }> = []
  const answer = (target: string, body: KmsRequest): object | null => {
    const key = keys.get(body.KeyId) ?? randomBytes(32)
    keys.set(body.KeyId, key)
    const about = Buffer.from(JSON.stringify(body.EncryptionContext ?? {}))
    if (target === "TrentService.Encrypt") {
      const nonce = randomBytes(12)
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(about)
      const text = Buffer.from(body.Plaintext ?? "", "base64")
      const sealed = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
      return { CiphertextBlob: sealed.toString("base64"), KeyId: body.KeyId }
    }
    try {
      const sealed = Buffer.from(body.CiphertextBlob ?? "", "base64")
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12))
        .setAAD(about)
        .setAuthTag(sealed.subarray(-16))
      const text = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
      return { Plaintext: text.toString("base64"), KeyId: body.KeyId }
    } catch {
      return null
    }
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const target = String(request.headers["x-amz-target"])
      const isSigned = request.headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") === true
      const body = JSON.parse(Buffer.concat(chunks).toString()) as KmsRequest
      seen.push({ target, body })
      const found = isSigned ? answer(target, body) : null
      response.writeHead(found === null ? 400 : 200, { "content-type": "application/x-amz-json-1.1" })
      response.end(JSON.stringify(found ?? { __type: "InvalidCiphertextException" }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const client = new KMSClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "AKIA", secretAccessKey: "secret" },
    maxAttempts: 1,
  })
  onTestFinished(async () => {
    client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { client, seen }
}

const run = <A, E>(use: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(use))

it("wraps the keys of owners, names none of them, and is asked once for each", async () => {
  const { client, seen } = await kms()
  const folder = join(newFolder(), "owners")
  const store = await Effect.runPromise(InMemoryEventLog.make)
  const process = () =>
    memoryOver(sealLog(store, folderKeyring({ folder, root: kmsRoot({ client, keyId: "alias/memfold" }) })), {
      strategy: pairs,
      compaction: { mode: "manual" },
    })
  await run(
    Effect.gen(function* () {
      const memory = yield* process()
      for (let at = 0; at < 5; at++)
        yield* memory.append("chat", Message.user("Hello, KANARIENVOGEL"), { owner: "ann-4711" })
      expect(seen.map(({ target }) => target)).toEqual(["TrentService.Encrypt", "TrentService.Decrypt"])
      const later = yield* process()
      expect((yield* later.messages("chat")).messages).toHaveLength(5)
      expect(seen).toHaveLength(3)
      expect(JSON.stringify(seen)).not.toMatch(/ann-4711|KANARIENVOGEL/)
    }),
  )
})

it("refuses a key that was wrapped for another owner, or by another root", async () => {
  const { client } = await kms()
  const root = kmsRoot({ client, keyId: "alias/memfold" })
  const key = randomBytes(32)
  const wrapped = await root.wrap(key, "owner:ann k1")
  expect(Buffer.from(await root.unwrap(wrapped, "owner:ann k1"))).toEqual(key)
  await expect(root.unwrap(wrapped, "owner:ben k1")).rejects.toThrow("InvalidCiphertext")
  await expect(kmsRoot({ client, keyId: "alias/other" }).unwrap(wrapped, "owner:ann k1")).rejects.toThrow(
    "InvalidCiphertext",
  )
  const unread = await run(
    Effect.either(
      folderKeyring({
        folder: newFolder(),
        root: { ...root, wrap: () => Promise.reject(new Error("AccessDeniedException")) },
      }).current({ owner: "ann" }),
    ),
  )
  expect(Either.isLeft(unread) && unread.left.message).toContain("AccessDeniedException")
})
