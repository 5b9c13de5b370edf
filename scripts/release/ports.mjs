/** Ports of this machine. */
import { once } from "node:events"
import { createServer } from "node:net"

/** A free port: this one, if it is. */
export const freePort = async (wanted = 0) => {
  const server = createServer().listen(wanted, "127.0.0.1")
  const listens = await once(server, "listening").then(
    () => true,
    () => false,
  )
  if (!listens) return freePort()
  const { port } = server.address()
  server.close()
  await once(server, "close")
  return port
}
