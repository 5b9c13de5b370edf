/** The queue itself, over a real Redis. */
import { often } from "@memfold/harness/depth"
import { servers } from "@memfold/harness/redisServers"
import { checkQueue } from "@memfold/harness/queues"
import { make } from "../src/index.js"

const { server } = servers()
checkQueue(
  async () => {
    const { url } = await server()
    return (queue) => make({ url, queue, attempts: 2, backOff: 10, lease: 1_000 })
  },
  often(20, 200),
)
