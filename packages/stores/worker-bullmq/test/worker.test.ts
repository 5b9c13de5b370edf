/** Web processes that append, and `memfold worker` processes that compact, over a real Redis. */
import { often } from "@memfold/harness/depth"
import { servers } from "@memfold/harness/redisServers"
import { checkWorkers } from "@memfold/harness/workers"
import { make } from "../src/index.js"

const { server } = servers()
checkWorkers(
  {
    place: async () => {
      const { url } = await server()
      return { store: url, queue: url }
    },
    server: () => server({ config: ["appendonly yes"] }),
    open: (url) => make({ url }),
  },
  often(3, 20),
)
