/** A network between clients and a server: it passes on what it is told to, and is gone when the tests of a file are done. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { afterAll } from "vitest"

/** A connection through a relay: closing one end closes the other end, too. */
export interface Link {
  readonly client: Socket
  readonly server: Socket
}

/** Whether what has come is passed on. */
type Pass = (data: Buffer, link: Link) => boolean

export interface Relay {
  readonly port: number
  readonly url: string
  /** The port that new connections go to. */
  target: number
  /** The connections that are open. */
  readonly links: ReadonlySet<Link>
  /** What clients say. */
  up: Pass
  /** What the server says. */
  down: Pass
  readonly close: () => void
}

/** Relays to servers on ports of this machine, for the tests of a file. To be called once, at its top. */
export const relays = (): ((target: number) => Promise<Relay>) => {
  const open = new Set<Relay>()
  afterAll(() => {
    for (const { close } of open) close()
  })
  return async (target) => {
    const links = new Set<Link>()
    const listening = createServer((client) => {
      const link: Link = { client, server: connect(relay.target, "127.0.0.1") }
      const { server } = link
      links.add(link)
      const close = () => {
        links.delete(link)
        client.destroy()
        server.destroy()
      }
      for (const end of [client, server]) end.on("error", close).on("close", close)
      client.on("data", (data) => void (relay.up(data, link) && server.write(data)))
      server.on("data", (data) => void (relay.down(data, link) && client.write(data)))
    })
    await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve))
    const { port } = listening.address() as AddressInfo
    const relay: Relay = {
      port,
      url: `redis://127.0.0.1:${port}`,
      target,
      links,
      up: () => true,
      down: () => true,
      close: () => {
        for (const { client } of links) client.destroy()
        listening.close()
      },
    }
    open.add(relay)
    return relay
  }
}
