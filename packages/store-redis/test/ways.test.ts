/** The other ways to a server: TLS, a database of its own, and a master behind sentinels. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it, vi } from "vitest"
import { eventually, servers } from "./servers.js"
import { all, openingFails, records, tenant, withLog } from "./support.js"

const { server } = servers()
vi.setConfig({ testTimeout: 60_000 })

const folder = mkdtempSync(join(tmpdir(), "memfold-redis-tls-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const brief = { retryFor: "300 millis", timeout: "2 seconds" } as const

it("rediss:// speaks TLS, and takes nobody's certificate that it does not know", async ({ skip }) => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", cert]
    execFileSync("openssl", [...made, ...subject], { stdio: "ignore" })
  } catch {
    skip("the certificate is made with openssl")
  }
  const ca = readFileSync(cert)
  const config = ["requirepass right", "tls-auth-clients no", `tls-cert-file ${cert}`, `tls-key-file ${key}`]
  const one = await server({ config, tls: true, client: { password: "right", tls: { ca } } })
  const url = `rediss://:right@localhost:${one.port}`
  const prefix = tenant()
  await withLog({ url, tls: { ca }, prefix }, (log) =>
    Effect.gen(function* () {
      yield* log.append("s", records(2), { expected: 0, commit: "a" })
      expect((yield* all(log.read("s"))).length).toBe(2)
    }),
  )
  expect((await openingFails({ url, prefix, ...brief })).reason).toBe(
    `rediss://localhost:${one.port}/0 cannot be reached by TLS; check its certificate, or whether it speaks TLS at all`,
  )
})

it("a database keeps its sessions to itself", async () => {
  const { url } = await server()
  const prefix = tenant()
  await withLog({ url: `${url}/3`, prefix }, (log) =>
    log.append("s", records(2), { expected: 0, commit: "a" }),
  )
  expect(await withLog({ url, prefix }, (log) => log.version("s"))).toBe(0)
  expect(await withLog({ url, db: 3, prefix }, (log) => log.version("s"))).toBe(2)
})

it("a master behind sentinels is followed when it changes", async () => {
  const master = await server()
  const replica = await server({
    config: [`replicaof 127.0.0.1 ${master.port}`, "repl-ping-replica-period 1"],
  })
  await eventually("it follows", async () =>
    (await replica.client.info("replication")).includes("link_status:up"),
  )
  const sentinel = await server({
    sentinel: true,
    config: [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      "sentinel down-after-milliseconds main 500",
      "sentinel failover-timeout main 5000",
    ],
  })
  await eventually("the sentinel knows the replica", async () => {
    const list = (await sentinel.client.call("SENTINEL", "REPLICAS", "main")) as ReadonlyArray<unknown>
    return list.length === 1
  })
  const options = {
    sentinel: { name: "main", nodes: [{ host: "127.0.0.1", port: sentinel.port }] },
    prefix: tenant(),
    retryFor: "30 seconds",
  } as const
  await withLog({ ...options, waitReplicas: { count: 1, timeout: "2 seconds" } }, (log) =>
    log.append("s", records(1), { expected: 0, commit: "a" }),
  )
  await withLog(options, (log) =>
    Effect.gen(function* () {
      expect(yield* log.version("s")).toBe(1)
      yield* Effect.promise(master.kill)
      // The sentinel takes its time to find out and to decide; the append waits for it.
      expect(yield* log.append("s", records(1), { expected: 1, commit: "b" })).toMatchObject({ version: 2 })
      expect((yield* all(log.read("s"))).length).toBe(2)
    }),
  )
  expect(await replica.client.info("replication")).toContain("role:master")
})
