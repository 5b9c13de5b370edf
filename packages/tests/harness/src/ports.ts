/** Ports for test servers, which other processes of these tests do not take. */
import { createServer } from "node:net"

/** Below the ports that systems give to outgoing connections. */
const lowest = 10_000
const blockSize = 400
const blocks = 55

/** Listens on a port; answers with what ends that, or with `undefined` where the port is taken. */
const listen = (port: number): Promise<(() => Promise<void>) | undefined> =>
  new Promise((resolve) => {
    const socket = createServer()
    socket.once("error", () => resolve(undefined))
    socket.listen(port, "127.0.0.1", () => {
      socket.unref()
      resolve(() => new Promise((closed) => void socket.close(() => closed())))
    })
  })

/**
 * A block of ports for this process alone: who listens on its first port has the block, until the process ends. So a
 * server that is killed and started again finds its port free.
 */
const claimBlock = async (): Promise<number> => {
  for (let turn = 0; turn < blocks; turn++) {
    const first = lowest + ((process.pid + turn) % blocks) * blockSize
    if ((await listen(first)) !== undefined) return first
  }
  throw new Error(`all ports from ${lowest} to ${lowest + blocks * blockSize - 1} are taken`)
}

let block: Promise<number> | undefined
let last = 0

/** A port of this process where nobody listens. */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= claimBlock())
  for (let turn = 1; turn < blockSize; turn++) {
    last = (last % (blockSize - 1)) + 1
    const port = first + last
    const free = await listen(port)
    if (free !== undefined) {
      await free()
      return port
    }
  }
  throw new Error(`all ports from ${first} to ${first + blockSize - 1} are taken`)
}
