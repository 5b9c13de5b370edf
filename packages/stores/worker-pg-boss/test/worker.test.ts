/** Web processes that append, and `memfold worker` processes that compact, over a real PostgreSQL. */
import { often } from "@memfold/harness/depth"
import { postgresServers } from "@memfold/harness/postgresServers"
import { checkWorkers } from "@memfold/harness/workers"
import { make } from "../src/index.js"

const { server } = postgresServers()
checkWorkers(
  {
    place: async () => {
      const { url } = await server()
      return { store: url, queue: url }
    },
    server: () => server(),
    open: (url) => make({ url }),
  },
  often(3, 20),
)
