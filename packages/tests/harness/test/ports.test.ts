/** Test servers where another program has taken a port between its choice and the start. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { freePort } from "../src/ports.js"
import { servers } from "../src/redisServers.js"

const { server: other } = servers()

/** Ports that are chosen first, though somebody listens there. */
const taken: Array<number> = []
const { server, cluster } = servers(async () => taken.shift() ?? freePort())

/** Listens as long as the test takes, and never answers. */
const silent = async (): Promise<number> => {
  const listening = createServer().listen(0, "127.0.0.1")
  await once(listening, "listening")
  onTestFinished(() => void listening.close())
  return (listening.address() as AddressInfo).port
}

const pidOf = async ({ client }: Awaited<ReturnType<typeof server>>): Promise<string> =>
  /^process_id:(\d+)/m.exec(await client.info("server"))?.[1] ?? ""

it("a server whose port another server has taken starts on another one", async () => {
  const theirs = await other()
  taken.push(theirs.port, await silent())
  const ours = await server()
  expect(taken).toEqual([])
  expect(ours.port).not.toBe(theirs.port)
  expect(await pidOf(ours)).not.toBe(await pidOf(theirs))
})

it("a sentinel whose port is taken starts on another one", async () => {
  const theirs = await other()
  taken.push(theirs.port)
  const ours = await server({ sentinel: true })
  expect(await ours.client.info("server")).toContain("redis_mode:sentinel")
})

it("a cluster starts where the ports of its nodes, or of their bus, are taken", async () => {
  const theirs = await other()
  const bus = await silent()
  // Of the nodes that start at the same time, the first six choices are ports, and the next are for the bus.
  taken.push(theirs.port, ...(await Promise.all(Array.from({ length: 5 }, freePort))), bus, theirs.port)
  const { nodes } = await cluster()
  expect(taken).toEqual([])
  const used = await Promise.all(
    nodes.map(async ({ port, client }) => [
      port,
      Number(((await client.config("GET", "cluster-port")) as Array<string>)[1]),
    ]),
  )
  expect(used.flat()).not.toContain(theirs.port)
  expect(used.flat()).not.toContain(bus)
  expect(new Set(used.flat()).size).toBe(12)
})

it("a server that is killed starts again on its port", async () => {
  const one = await server()
  await one.client.set("a", "b")
  const before = await pidOf(one)
  await one.kill()
  await one.start()
  expect(await pidOf(one)).not.toBe(before)
})

it("a port is not given twice while it is in use, and belongs to this process", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort))
  expect(new Set(ports).size).toBe(50)
})
